"""Every error the product raises on purpose.

    ArchivoltError
    ├── InvalidRequestError          400  the caller can fix the request and retry
    ├── UnauthenticatedError         401  no token, or one that does not verify
    ├── ForbiddenError               403  known caller, not allowed
    ├── NotFoundError                404  absent, or somebody else's: the two look the same
    ├── ConflictError                409  the world changed, or the name is taken
    │   └── ConfirmationRequiredError     a person has to confirm first
    ├── TooLargeError                413  over a stated limit
    ├── UnsupportedContentError      415  a kind of content the operation cannot take
    ├── RateLimitedError             429  too many calls in the window
    └── UnavailableError             503  a collaborator is down or overloaded; retry later

An error carries a stable `code` and the values its message needs; the sentence itself is in
`archivolt.domain.messages`, in French and English (decision 8). How a kind is told to the world
(HTTP status, JSON-RPC code) is each entry point's business.
"""

from archivolt.domain.messages import Language, message_for

Detail = str | int | float | bool | None | list[str]


class ArchivoltError(Exception):
    """Something the caller should know about, under a stable code.

    Args:
        code: A key of `archivolt.domain.messages.MESSAGES`.
        details: Values for the message; they are shown to the caller, so never secrets.

    """

    def __init__(self, code: str, **details: Detail) -> None:
        self.code = code
        self.details: dict[str, Detail] = {name: _sendable(v) for name, v in details.items()}
        super().__init__(f"{code}: {self.message(Language.EN)}")

    def message(self, language: Language) -> str:
        """Return the sentence for a person, in their language."""
        return message_for(self.code, language, self.details)


def _sendable(value: Detail) -> Detail:
    """Return a value that any encoder takes: half a surrogate pair becomes `?`."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class InvalidRequestError(ArchivoltError):
    """The request cannot be understood or breaks a rule; a corrected one may work."""


class UnauthenticatedError(ArchivoltError):
    """The caller is not known."""


class ForbiddenError(ArchivoltError):
    """The caller is known and may not do this."""


class NotFoundError(ArchivoltError):
    """It does not exist, or not for this caller."""


class ConflictError(ArchivoltError):
    """The state is not what the caller believed."""


class ConfirmationRequiredError(ConflictError):
    """A write or dangerous tool was called without a confirmation (O62)."""


class TooLargeError(ArchivoltError):
    """Over one of the limits of `archivolt.domain.limits`."""


class UnsupportedContentError(ArchivoltError):
    """Content of a kind the operation cannot take."""


class RateLimitedError(ArchivoltError):
    """Too many calls; `details["retry_after"]` is in seconds."""


class BudgetExceededError(ArchivoltError):
    """A budget has no room for a call; `details` tell what is left and when it renews (S16).

    `momentary`: it has room but for what is set aside for calls under way, which give most back.
    """

    momentary = False


class UnavailableError(ArchivoltError):
    """A collaborator is down, or time ran out; a retry may work, and goes on from there."""
