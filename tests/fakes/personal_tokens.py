"""Personal access tokens in a dictionary."""

import threading
from dataclasses import replace
from datetime import date

from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.personal_tokens import PersonalToken


class InMemoryPersonalTokens:
    """A `PersonalTokenStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, PersonalToken] = {}
        self.uses_noted = 0

    def add(self, token: PersonalToken, *, limit: int) -> None:
        with self._lock:
            own = self._of(token.tenant, token.user)
            if sum(each.expires_at > token.created_at for each in own) >= limit:
                raise ConflictError("too_many_tokens", limit=limit)
            self._tokens[token.id] = token

    def find(self, token_id: str) -> PersonalToken | None:
        with self._lock:
            return self._tokens.get(token_id)

    def of_user(self, tenant: TenantId, user: UserId) -> list[PersonalToken]:
        with self._lock:
            return self._of(tenant, user)

    def of_tenant(self, tenant: TenantId) -> list[PersonalToken]:
        with self._lock:
            return self._of(tenant, None)

    def remove(self, token: PersonalToken) -> None:
        with self._lock:
            self._tokens.pop(token.id, None)

    def note_use(self, token: PersonalToken, day: date) -> None:
        with self._lock:
            if token.id in self._tokens:
                self.uses_noted += 1
                self._tokens[token.id] = replace(self._tokens[token.id], last_used=day)

    def _of(self, tenant: TenantId, user: UserId | None) -> list[PersonalToken]:
        found = [
            token
            for token in self._tokens.values()
            if token.tenant == tenant and user in {None, token.user}
        ]
        newest_first = sorted(found, key=lambda one: one.created_at, reverse=True)
        return sorted(newest_first, key=lambda one: one.user)
