"""Noticing who is heard of for the first time: a `TokenVerifier` around another (R24)."""

from collections.abc import Callable
from typing import Final

from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.observability import failure, logger
from archivolt.ports.governance import TokenVerifier

_REMEMBERED: Final = 10_000


class FirstRequests:
    """A `TokenVerifier` that greets each user whose token it verifies, once in its life.

    Args:
        verifier: Says whom a token speaks for.
        greet: Is told of a user; whether others greeted them before, it knows itself.

    """

    def __init__(self, verifier: TokenVerifier, greet: Callable[[Principal], None]) -> None:
        self._verifier = verifier
        self._greet = greet
        self._greeted = set[tuple[TenantId, UserId]]()

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for, once they are greeted."""
        principal = self._verifier.verify(token)
        self.meet(principal)
        return principal

    def has_met(self, principal: Principal) -> bool:
        """Tell whether nothing is to be made up for with a user."""
        return (principal.tenant, principal.user) in self._greeted

    def meet(self, principal: Principal) -> None:
        """Greet a user unless that was done; one that fails is made up for at the next request."""
        who = (principal.tenant, principal.user)
        if who not in self._greeted:
            try:
                self._greet(principal)
            except Exception as error:  # noqa: BLE001  nobody is turned away for want of a greeting
                logger.warning("a user could not be greeted", extra=failure(error))
            else:
                if len(self._greeted) >= _REMEMBERED:
                    self._greeted.clear()
                self._greeted.add(who)
