"""Why a connection broke off, as far as that is known."""

import asyncio
from typing import Final

from archivolt.adapters.mcp.failures import LinkLostError, by_status, lost_by
from archivolt.adapters.mcp.transports import LastStatus, Request
from archivolt.domain.mcp_accounts import AccountNeededError

# How long a call that was cut off waits to hear why.
_REASON_SECONDS: Final = 1.0


class Fault:
    """The fault of one connection; `noted` is what its own server did, if it did.

    Args:
        server: Whose connection it is.
        status: What it was answered last.

    """

    def __init__(self, server: str, status: LastStatus) -> None:
        self.noted = ""
        self._server = server
        self._status = status

    @property
    def known(self) -> str:
        """The reason, where it needs no guess."""
        return self.noted or ("mcp_too_much" if self._status.budget.is_spent else "")

    def note(self, reason: str) -> None:
        """Take notice of a reason; the first one counts."""
        self.noted = self.noted or reason

    def tell(self) -> None:
        """Raise what was noted, if anything was.

        Raises:
            LinkLostError: For that reason.

        """
        if self.noted:
            raise LinkLostError(self.noted)

    async def found(
        self, error: BaseException, request: Request, living: asyncio.Task[None]
    ) -> LinkLostError | AccountNeededError:
        """Return why a request failed: the connection's own task may know better than it.

        Only a request that was alone is known not to have been let in: another one may be done.
        """
        is_clear = self.known or (request.alone and by_status(self._status.value))
        if not is_clear:
            await asyncio.wait([living], timeout=_REASON_SECONDS)
        if living.done() and not living.cancelled():
            error = living.exception() or error
        return self.why(error, is_known=request.alone)

    def why(
        self, error: BaseException, *, is_known: bool = True
    ) -> LinkLostError | AccountNeededError:
        """Return what an error means; `is_known`: the last status is that of what failed."""
        if self.known:
            return LinkLostError(self.known)
        lost = lost_by(error, self._status.value, self._status.challenge)
        lost.is_guess = not is_known
        return (lost.asked(self._server) if is_known else None) or lost
