"""Signing in on the stack of one machine: by a password, or by a link that a command printed."""

from datetime import timedelta
from typing import Final

from archivolt.domain.errors import ConflictError, ForbiddenError, UnauthenticatedError
from archivolt.domain.identity import user_id
from archivolt.domain.limits import (
    MAX_SIGN_INS_PER_ADDRESS,
    MAX_SIGN_INS_PER_NAME,
    SIGN_IN_LINK_SECONDS,
    SIGN_IN_WINDOW_SECONDS,
)
from archivolt.domain.oauth import LocalUser, Person
from archivolt.governance.sign_in import passwords
from archivolt.governance.throttle import Throttle
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TokenVerifier
from archivolt.ports.oauth import BrowserSessionStore, LocalUserStore

LINK_AUDIENCE: Final = "archivolt-sign-in"
"""What the token in a link is for: it opens no door but this one."""


class LocalSignIn:
    """Knows local people.

    Args:
        users: Those with a password.
        marks: Where a link is noted as used.
        links: Verifies the tokens in links.
        throttle: Counts attempts.
        clock: The time.

    """

    def __init__(
        self,
        users: LocalUserStore,
        marks: BrowserSessionStore,
        links: TokenVerifier,
        throttle: Throttle,
        clock: Clock,
    ) -> None:
        self._users = users
        self._marks = marks
        self._links = links
        self._throttle = throttle
        self._clock = clock

    def by_password(self, name: str, password: str, *, address: str) -> Person:
        """Return who has this name and password; each attempt counts, whoever makes it.

        Raises:
            ForbiddenError: `sign_in_failed`.
            RateLimitedError: Too many for this name, or from this network address.

        """
        for key, limit in (
            (f"sign-in-from#{address}", MAX_SIGN_INS_PER_ADDRESS),
            (f"sign-in-as#{name[:200]}", MAX_SIGN_INS_PER_NAME),
        ):
            self._throttle.count(key, limit, SIGN_IN_WINDOW_SECONDS)
        user = self._named(name)
        kept = user.password if user else passwords.NOBODYS
        if not passwords.matches(password, kept) or user is None:
            raise ForbiddenError("sign_in_failed")
        return user.person

    def who(self, link: str) -> Person:
        """Return whom a link would sign in, without using it up.

        Raises:
            ForbiddenError: `link_spent`: it has expired, or is none of ours.

        """
        return self._opened(link)[0]

    def by_link(self, link: str) -> Person:
        """Return whom a link signs in, once.

        Raises:
            ForbiddenError: `link_spent`.

        """
        person, mark = self._opened(link)
        until = self._clock.now() + timedelta(seconds=2 * SIGN_IN_LINK_SECONDS)
        try:
            self._marks.spend(mark, until=until)
        except ConflictError as error:
            raise ForbiddenError("link_spent") from error
        return person

    def _opened(self, link: str) -> tuple[Person, str]:
        try:
            principal = self._links.verify(link)
        except UnauthenticatedError as error:
            raise ForbiddenError("link_spent") from error
        person = Person(tenant=principal.tenant, user=principal.user, role=principal.role)
        return person, principal.token_id

    def _named(self, name: str) -> LocalUser | None:
        try:
            return self._users.find(user_id(name))
        except UnauthenticatedError:
            return None
