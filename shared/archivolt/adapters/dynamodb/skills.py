"""People's own skills in the control table.

SKILLS#{tenant}#{user}    SKILL#{id}    a skill
"""

from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.writes import PRESENT, Delete, Key, Put
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.skill import Skill


class DynamoSkills:
    """A `SkillStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def save(self, tenant: TenantId, user: UserId, skill: Skill) -> None:
        """Keep a skill."""
        item = {
            **_key(tenant, user, skill.id)._asdict(),
            "id": skill.id,
            "title": skill.title,
            "icon": skill.icon,
            "description": skill.description,
            "prompt": skill.prompt,
            "keywords": list(skill.keywords),
        }
        self._table.write(Put(item=item))

    def of_user(self, tenant: TenantId, user: UserId) -> list[Skill]:
        """Return a user's skills by their ids."""
        return [_skill(item) for item in self._table.items(_key(tenant, user, "").pk)]

    def delete(self, tenant: TenantId, user: UserId, skill_id: str) -> bool:
        """Remove a skill."""
        if not is_key_text(skill_id):
            return False
        try:
            self._table.write(Delete(key=_key(tenant, user, skill_id), condition=PRESENT))
        except ConditionFailedError:
            return False
        return True


def _key(tenant: TenantId, user: UserId, skill_id: str) -> Key:
    return Key(f"SKILLS#{tenant}#{user}", f"SKILL#{skill_id}")


def _skill(item: StoredItem) -> Skill:
    return Skill(
        id=item["id"],
        title=item["title"],
        icon=item["icon"],
        description=item["description"],
        prompt=item["prompt"],
        keywords=tuple(item["keywords"]),
    )
