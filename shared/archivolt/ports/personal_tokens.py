"""Where personal access tokens are kept, without their secrets."""

from datetime import date
from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.personal_tokens import PersonalToken


class PersonalTokenStore(Protocol):
    """Keeps personal access tokens. Every implementation passes `tests/contract`."""

    def add(self, token: PersonalToken, *, limit: int) -> None:
        """Keep a new token, unless its owner has `limit` tokens; two at once count as two.

        One that has ended by the time the new one was made no longer counts.

        Raises:
            ConflictError: `too_many_tokens`.

        """
        ...

    def find(self, token_id: str) -> PersonalToken | None:
        """Return a token of any tenant by its id; None: there is none (any more)."""
        ...

    def of_user(self, tenant: TenantId, user: UserId) -> list[PersonalToken]:
        """Return a user's tokens, the newest first."""
        ...

    def of_tenant(self, tenant: TenantId) -> list[PersonalToken]:
        """Return the tokens of all users of a tenant, by user, the newest first."""
        ...

    def remove(self, token: PersonalToken) -> None:
        """Forget a token, at once; one that is gone already is no error."""
        ...

    def note_use(self, token: PersonalToken, day: date) -> None:
        """Note the day of a token's use; a token that is gone meanwhile stays so."""
        ...
