"""Where people's own skills are kept (O74)."""

from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.skill import Skill


class SkillStore(Protocol):
    """Keeps skills, each within its tenant and for its user. Passes `tests/contract`.

    All may raise `UnavailableError`.
    """

    def save(self, tenant: TenantId, user: UserId, skill: Skill) -> None:
        """Keep a skill; one of the same id is replaced."""
        ...

    def of_user(self, tenant: TenantId, user: UserId) -> list[Skill]:
        """Return a user's skills by their ids."""
        ...

    def delete(self, tenant: TenantId, user: UserId, skill_id: str) -> bool:
        """Remove a skill; False if there was none."""
        ...
