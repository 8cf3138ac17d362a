"""People's scheduled runs in the control table.

SCHEDULES#{tenant}#{user}    SCHEDULE#{id}    a schedule with its permissions
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.writes import ABSENT, Delete, Key, Put
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.language import Language
from archivolt.domain.schedule import Firing, Schedule, StandingPermission, Timetable


class DynamoSchedules:
    """A `ScheduleStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def create(self, schedule: Schedule) -> Schedule:
        """Keep a new schedule."""
        return self._put(replace(schedule, revision=1), ABSENT)

    def get(self, tenant: TenantId, user: UserId, schedule_id: str) -> Schedule:
        """Return a schedule."""
        found = is_key_text(schedule_id) and self._table.get(_key(tenant, user, schedule_id))
        if not found:
            raise NotFoundError("schedule_not_found")
        return _schedule(found)

    def of_user(self, tenant: TenantId, user: UserId) -> list[Schedule]:
        """Return a user's schedules by their ids."""
        return [_schedule(item) for item in self._table.items(_key(tenant, user, "").pk)]

    def save(self, schedule: Schedule) -> Schedule:
        """Keep a changed schedule."""
        unchanged = Attr("revision").eq(schedule.revision)
        return self._put(replace(schedule, revision=schedule.revision + 1), unchanged)

    def delete(self, schedule: Schedule) -> None:
        """Remove a schedule."""
        self._table.write(Delete(key=_key(schedule.tenant, schedule.owner, schedule.id)))

    def _put(self, schedule: Schedule, condition: Any) -> Schedule:  # noqa: ANN401  boto3's
        try:
            self._table.write(Put(item=_item(schedule), condition=condition))
        except ConditionFailedError as error:
            raise ConflictError("conflict") from error
        return schedule


def _key(tenant: TenantId, user: UserId, schedule_id: str) -> Key:
    return Key(f"SCHEDULES#{tenant}#{user}", f"SCHEDULE#{schedule_id}")


def _item(schedule: Schedule) -> dict[str, Any]:
    item = {
        **_key(schedule.tenant, schedule.owner, schedule.id)._asdict(),
        "id": schedule.id,
        "tenant": schedule.tenant,
        "owner": schedule.owner,
        "name": schedule.name,
        "asked": json.dumps(schedule.asked),
        "expression": schedule.timetable.expression,
        "zone": schedule.timetable.zone,
        "language": schedule.language.value,
        "created_at": schedule.created_at.isoformat(),
        "changed_at": schedule.changed_at.isoformat(),
        "vaults": list(schedule.vaults),
        "enabled": schedule.enabled,
        "permissions": json.dumps([_permission_json(each) for each in schedule.permissions]),
        "last": json.dumps(_firing_json(schedule.last)) if schedule.last else "",
        "revision": schedule.revision,
    }
    # One that is for a single vault goes with it.
    return item | ({"vault_id": schedule.vaults[0]} if len(schedule.vaults) == 1 else {})


def _schedule(item: StoredItem) -> Schedule:
    return Schedule(
        id=item["id"],
        tenant=TenantId(item["tenant"]),
        owner=UserId(item["owner"]),
        name=item["name"],
        asked=json.loads(item["asked"]),
        timetable=Timetable(expression=item["expression"], zone=item["zone"]),
        language=Language(item["language"]),
        created_at=datetime.fromisoformat(item["created_at"]),
        changed_at=datetime.fromisoformat(item["changed_at"]),
        vaults=tuple(item["vaults"]),
        enabled=item["enabled"],
        permissions=tuple(_permission(each) for each in json.loads(item["permissions"])),
        last=_firing(json.loads(item["last"])) if item["last"] else None,
        revision=int(item["revision"]),
    )


def _permission_json(permission: StandingPermission) -> dict[str, Any]:
    return {
        "id": permission.id,
        "tools": list(permission.tools),
        "vault": permission.vault,
        "folder": permission.folder,
        "given_at": permission.given_at.isoformat(),
        "expires_at": permission.expires_at.isoformat(),
        "most": permission.most,
        "uses": permission.uses,
    }


def _permission(kept: Mapping[str, Any]) -> StandingPermission:
    return StandingPermission(
        id=kept["id"],
        tools=tuple(kept["tools"]),
        vault=kept["vault"],
        folder=kept["folder"],
        given_at=datetime.fromisoformat(kept["given_at"]),
        expires_at=datetime.fromisoformat(kept["expires_at"]),
        most=kept["most"],
        uses=kept["uses"],
    )


def _firing_json(firing: Firing) -> dict[str, Any]:
    return {
        "due": firing.due,
        "at": firing.at.isoformat(),
        "outcome": firing.outcome,
        "run": firing.run,
        "before": firing.before,
        "settled": firing.settled,
    }


def _firing(kept: Mapping[str, Any]) -> Firing:
    return Firing(
        due=kept["due"],
        at=datetime.fromisoformat(kept["at"]),
        outcome=kept["outcome"],
        run=kept["run"],
        before=kept.get("before", ""),
        settled=kept.get("settled", True),
    )
