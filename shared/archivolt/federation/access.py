"""Who somebody is to a server of others: by a key of their tenant's, or by an account of their own.

A call that is not let in was not made: it is made once more with newer tokens, where there are any,
and else ends in where the person signs in. Nobody waits for them to.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ArchivoltError, ConflictError, UnavailableError
from archivolt.domain.federation import McpServer, McpTarget
from archivolt.domain.federation_limits import (
    MCP_CALL_SECONDS,
    MCP_LEAST_SECONDS,
    MCP_RENEW_AHEAD_SECONDS,
)
from archivolt.domain.identity import Principal
from archivolt.domain.mcp_accounts import AccountNeededError, McpAccount
from archivolt.federation.renewal import TokenRenewal
from archivolt.federation.targets import address_of, place_of, target_of, with_token
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox
from archivolt.ports.mcp_accounts import McpAccountStore

_ResultT = TypeVar("_ResultT")
_Work = Callable[[McpTarget], _ResultT]
_PAGES = "/oauth/mcp/"
# Headers that say who somebody is; beside others people still sign in.
_KEY: Final = re.compile(r"(?i)auth|key|token|secret|password")


class SignInPages:
    """Where people sign in to servers of others; `public_url` is "" where nobody can."""

    def __init__(self, public_url: str) -> None:
        self._public_url = public_url

    def __bool__(self) -> bool:
        """Whether people can sign in at all."""
        return bool(self._public_url)

    def page(self, server_id: str) -> str:
        """Return the address of the page for a person."""
        return f"{self._public_url}{_PAGES}{server_id}"

    def callback(self, server: McpServer) -> str:
        """Return where a browser comes back to: of each server an address of its own (RFC 9700)."""
        return f"{self._public_url}{_PAGES}callback/{place_of(server)}"

    def document(self, server: McpServer) -> str:
        """Return where we describe ourselves, "" where nobody could read it."""
        place = f"{self._public_url}{_PAGES}client/{place_of(server)}"
        return place if place.startswith("https://") else ""


class McpAccess:
    """Finds the way to a server for a person.

    Args:
        store: Keeps people's accounts.
        secrets: Opens what is sealed.
        renewal: Renews tokens.
        clock: The time.
        pages: Where people sign in.

    """

    def __init__(
        self,
        store: Callable[[], McpAccountStore],
        secrets: Callable[[], SecretBox],
        renewal: TokenRenewal,
        clock: Clock,
        pages: SignInPages,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._renewal = renewal
        self._clock = clock
        self._pages = pages

    def using(
        self,
        principal: Principal,
        server: McpServer,
        work: _Work[_ResultT],
        *,
        seconds: float = MCP_CALL_SECONDS,
    ) -> _ResultT:
        """Do something on the way to a server, and return what it came to.

        All of it is over in `seconds`: what is left of them goes with the target. `work` comes to
        None where it did nothing.

        Raises:
            ConflictError: `mcp_sign_in_needed`, `mcp_sign_in_unavailable`: the server asks for the
                person's own account, and nothing was done.
            UnavailableError: `mcp_server_unavailable`, `secret_unreadable`.
            ArchivoltError: What `work` raises.

        """
        deadline = Deadline(self._clock.now, seconds)
        account = self._account(principal, server, deadline)
        try:
            return self._done(principal, server, account, work, deadline)
        except AccountNeededError as error:
            account = self._let_in_anew(server, account, error, deadline)
        try:
            return self._done(principal, server, account, work, deadline)
        except AccountNeededError as error:
            self._note_lack(account, error)
            if not error.lacks_scope:
                # A token that is new is refused: no newer one will do.
                self._store().refuse(account, refused=True)
            raise self._asked_of(server) from error

    def _done(
        self,
        principal: Principal,
        server: McpServer,
        account: McpAccount | None,
        work: _Work[_ResultT],
        deadline: Deadline,
    ) -> _ResultT:
        target = self._target(principal, server, account)
        left = deadline.left()
        if left < MCP_LEAST_SECONDS:
            raise UnavailableError(
                "mcp_server_unavailable", server=server.id, reason="mcp_slow", status=0
            )
        result = work(replace(target, seconds=left))
        if account is not None and account.refused and result is not None:
            self._note_let_in(account)
        return result

    def _note_let_in(self, account: McpAccount) -> None:
        try:
            self._store().refuse(account, refused=False)
        except UnavailableError as error:
            # The call is made all the same, and the next one notes it.
            logger.warning("that an account is let in is not kept", extra=failure(error))

    def _account(
        self, principal: Principal, server: McpServer, deadline: Deadline
    ) -> McpAccount | None:
        """Return the person's account with tokens that are good for a call, None for none.

        One that is good for a moment more has that where no newer one can be had.
        """
        if not address_of(server):
            return None
        account = self._store().find(principal.tenant, principal.user, server.id)
        if account is None or account.place != place_of(server):
            return None
        if not account.sealed:
            raise self._asked_of(server)
        soon = self._clock.now() + timedelta(seconds=MCP_RENEW_AHEAD_SECONDS)
        if not account.renewable or account.expires_at is None or account.expires_at > soon:
            return account
        try:
            renewed = self._renewal.renewed(account, deadline)
        except UnavailableError:
            if account.expires_at <= self._clock.now():
                raise
            return account
        if renewed is None:
            raise self._asked_of(server)
        return renewed

    def _let_in_anew(
        self,
        server: McpServer,
        account: McpAccount | None,
        error: AccountNeededError,
        deadline: Deadline,
    ) -> McpAccount:
        """Return an account with other tokens than those that were refused.

        Raises:
            ConflictError: The person has to sign in.
            UnavailableError: What was refused is a key of the tenant's, or no time is left.

        """
        if account is None:
            raise self._refused(server) from error
        self._note_lack(account, error)
        is_over = error.lacks_scope or account.refused
        renewed = None if is_over else self._renewal.renewed(account, deadline)
        if renewed is None:
            raise self._asked_of(server) from error
        return renewed

    def _note_lack(self, account: McpAccount, error: AccountNeededError) -> None:
        if error.lacks_scope and error.scope:
            # Somebody may be renewing its tokens: what they write is theirs.
            self._store().want(account, error.scope)

    def _refused(self, server: McpServer) -> ArchivoltError:
        if any(_KEY.search(name) for name in (*server.sealed, *server.plain)):
            return UnavailableError(
                "mcp_server_unavailable", server=server.id, reason="mcp_key_refused", status=0
            )
        return self._asked_of(server)

    def _asked_of(self, server: McpServer) -> ConflictError:
        if not self._pages:
            return ConflictError("mcp_sign_in_unavailable", server=server.id)
        return AccountNeededError(server.id, address=self._pages.page(server.id))

    def _target(
        self, principal: Principal, server: McpServer, account: McpAccount | None
    ) -> McpTarget:
        target = target_of(server, principal.tenant, self._secrets())
        if account is None:
            return target
        return with_token(target, self._renewal.tokens(account).access, account.id)
