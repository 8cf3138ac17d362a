"""Renewing the tokens of an account: by one at a time, wherever the others run.

A refresh token is mostly good once: two that renew with the same one would end the account. Who
renews claims it for a while; the others look until its tokens are new.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import UnavailableError
from archivolt.domain.federation_limits import (
    MCP_LEAST_SECONDS,
    MCP_RENEW_LEAST_SECONDS,
    MCP_RENEW_LOOKS,
    MCP_RENEW_PAUSE_SECONDS,
    MCP_RENEW_SECONDS,
    OAUTH_SECONDS,
)
from archivolt.domain.mcp_accounts import (
    McpAccount,
    McpTokens,
    OAuthRefusedError,
    OAuthWay,
    TokenAnswer,
    tokens_field,
)
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox
from archivolt.ports.mcp_accounts import AuthorizationServers, McpAccountStore

# What ends an account: its token, or the client that it was given to, is no good (RFC 6749 §5.2,
# and GitHub's word for it). Any other refusal may pass.
_ENDED: Final = frozenset(
    {"invalid_grant", "invalid_client", "unauthorized_client", "bad_refresh_token"}
)


class TokenRenewal:
    """Opens and renews the tokens of accounts.

    Args:
        store: Keeps accounts.
        secrets: Seals their tokens.
        servers: Give new tokens.
        clock: The time.
        pause: Waits so many seconds for somebody who renews the same tokens.

    """

    def __init__(
        self,
        store: Callable[[], McpAccountStore],
        secrets: Callable[[], SecretBox],
        servers: Callable[[], AuthorizationServers],
        clock: Clock,
        pause: Callable[[float], object],
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._servers = servers
        self._clock = clock
        self._pause = pause

    def tokens(self, account: McpAccount) -> McpTokens:
        """Return the tokens of an account that has some.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        field = tokens_field(account.user, account.server)
        opened = self._secrets().open(account.sealed, tenant=account.tenant, field=field)
        return McpTokens.of_text(opened)

    def renewed(self, account: McpAccount, deadline: Deadline) -> McpAccount | None:
        """Return an account with newer tokens than it had; None if the person has to sign in.

        Who connected anew meanwhile goes on with that account, at the same address.

        Raises:
            UnavailableError: `mcp_server_unavailable`: new ones cannot be had just now, or in time.

        """
        current = account
        for _ in range(MCP_RENEW_LOOKS):
            if not current.sealed or not current.renewable:
                return self._lost(current)
            is_in_time = deadline.left() >= MCP_RENEW_LEAST_SECONDS
            now = self._clock.now()
            until = now + timedelta(seconds=MCP_RENEW_SECONDS)
            if is_in_time and self._store().claim(current, now=now, until=until):
                return self._renew(replace(current, claimed_until=until), deadline)
            found = self._store().find(current.tenant, current.user, current.server)
            if found is None or found.place != account.place:
                return None
            if (found.id, found.edition) != (current.id, current.edition) and found.sealed:
                return found
            if not is_in_time:
                break
            current = found
            self._pause(MCP_RENEW_PAUSE_SECONDS)
        raise UnavailableError(
            "mcp_server_unavailable", server=account.server, reason="mcp_slow", status=0
        )

    def end(self, account: McpAccount, deadline: Deadline, *, by: McpAccount | None = None) -> None:
        """Have the tokens of an account ended that is not kept, where that can be done.

        Not where one that is kept, `by`, is let in as the same client: to some who let people in
        (Auth0, Google), all that a person let a client do is one, and ends together.
        """
        if not account.sealed:
            return
        try:
            tokens = self.tokens(account)
            if by is None or not _is_same_client(tokens.way, self.tokens(by).way):
                soon = deadline.sooner(OAUTH_SECONDS)
                self._servers().revoke(tokens.way, tokens.refresh or tokens.access, soon)
        except UnavailableError as error:
            # They are forgotten here all the same.
            logger.warning("tokens of an account are not revoked", extra=failure(error))

    def _renew(self, account: McpAccount, deadline: Deadline) -> McpAccount | None:
        try:
            tokens = self.tokens(account)
            # Over before the claim is: else another would use the same refresh token.
            claimed = deadline.sooner(MCP_RENEW_SECONDS - MCP_LEAST_SECONDS)
            answer = self._servers().renew(tokens.way, tokens.refresh, claimed)
        except OAuthRefusedError as error:
            if error.error in _ENDED:
                return self._lost(account)
            self._release(account)
            raise UnavailableError(
                "mcp_server_unavailable", server=account.server, reason=error.error, status=0
            ) from error
        except UnavailableError:
            self._release(account)
            raise
        after = with_answer(account, tokens, answer, self._secrets(), self._clock.now())
        if self._store().renew(account, after):
            return after
        # It was disconnected, connected anew or renewed meanwhile: nobody knows of these tokens.
        kept = self._kept(account)
        self.end(after, deadline, by=kept)
        return kept if kept and kept.place == account.place else None

    def _release(self, account: McpAccount) -> None:
        self._store().renew(account, replace(account, claimed_until=None))

    def _lost(self, account: McpAccount) -> McpAccount | None:
        """Let go of tokens that are no good; return what is kept in their place by now."""
        if account.sealed and self._store().renew(account, account.lost()):
            return None
        kept = self._kept(account)
        return kept if kept and kept.place == account.place else None

    def _kept(self, account: McpAccount) -> McpAccount | None:
        """Return the person's account as it is kept now, if it has tokens."""
        kept = self._store().find(account.tenant, account.user, account.server)
        return kept if kept and kept.sealed else None


def _is_same_client(way: OAuthWay, other: OAuthWay) -> bool:
    return (way.token_endpoint, way.client.id) == (other.token_endpoint, other.client.id)


def with_answer(
    account: McpAccount,
    tokens: McpTokens,
    answer: TokenAnswer,
    secrets: SecretBox,
    now: datetime,
) -> McpAccount:
    """Return an account with the tokens that were given out; a refresh token stays without one."""
    kept = McpTokens(way=tokens.way, access=answer.access, refresh=answer.refresh or tokens.refresh)
    field = tokens_field(account.user, account.server)
    lasts = None if answer.seconds is None else timedelta(seconds=answer.seconds)
    return replace(
        account,
        sealed=secrets.seal(kept.as_text(), tenant=account.tenant, field=field),
        expires_at=None if lasts is None else now + lasts,
        renewable=bool(kept.refresh),
        scope=answer.scope or account.scope,
        edition=account.edition + 1,
        claimed_until=None,
    )
