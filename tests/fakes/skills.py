"""Skills in a dictionary."""

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.skill import Skill


class InMemorySkills:
    """A `SkillStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, UserId, str], Skill] = {}

    def save(self, tenant: TenantId, user: UserId, skill: Skill) -> None:
        self._kept[tenant, user, skill.id] = skill

    def of_user(self, tenant: TenantId, user: UserId) -> list[Skill]:
        mine = {key[2]: skill for key, skill in self._kept.items() if key[:2] == (tenant, user)}
        return [mine[name] for name in sorted(mine)]

    def delete(self, tenant: TenantId, user: UserId, skill_id: str) -> bool:
        return self._kept.pop((tenant, user, skill_id), None) is not None
