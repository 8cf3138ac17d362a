"""Permissions that a person gives a schedule's runs beforehand, and takes back.

One is given by a person's own sign-in, for what they could do themselves at that moment; whether
they still can is asked again at each change.
"""

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta

from archivolt.domain.errors import ConflictError, InvalidRequestError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.paths import resolve_directory
from archivolt.domain.schedule import Schedule, StandingPermission
from archivolt.domain.schedule_limits import MAX_PERMISSIONS
from archivolt.domain.tool import Surface
from archivolt.runs.covering import PERMITTED_TOOLS
from archivolt.runs.scheduling import ID_DIGITS, kept_with, recorded_of, require_person
from archivolt.runs.support import RunSupport
from archivolt.tools.permission import require_right


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionDraft:
    """A permission as a person gives it; `vault` by name, for so many days."""

    tools: tuple[str, ...]
    vault: str
    folder: str
    days: int
    most: int | None = None


class Permissions:
    """The permissions of schedules, as their owners give them."""

    def __init__(self, on: RunSupport) -> None:
        self._on = on

    def give(
        self, principal: Principal, schedule_id: str, draft: PermissionDraft
    ) -> StandingPermission:
        """Give a permission that stands until it expires.

        Raises:
            NotFoundError: `schedule_not_found`, `vault_not_found`.
            ForbiddenError: `person_required`, `vault_read_only`, `destructive_tools_off`.
            InvalidRequestError: `permission_tool`, `invalid_path`.
            ConflictError: `permissions_too_many`.

        """
        require_person(principal)
        permission = self._permission(principal, draft)

        def with_it(schedule: Schedule) -> Schedule:
            if len(schedule.permissions) >= MAX_PERMISSIONS:
                raise ConflictError("permissions_too_many", limit=MAX_PERMISSIONS)
            return replace(schedule, permissions=(*schedule.permissions, permission))

        # First: nothing is changed by a permission that nobody could look up.
        schedule = self._on.schedules.get(principal.tenant, principal.user, schedule_id)
        recorded_of(self._on, principal, "permit", schedule, permission=permission.id)
        kept_with(self._on, principal, schedule_id, with_it)
        return permission

    def revoke(self, principal: Principal, schedule_id: str, permission_id: str) -> None:
        """Take a permission back: it is good for no change from now on.

        Raises:
            NotFoundError: `schedule_not_found`, `permission_not_found`.

        """
        require_person(principal)

        def without(schedule: Schedule) -> Schedule:
            left = tuple(each for each in schedule.permissions if each.id != permission_id)
            if len(left) == len(schedule.permissions):
                raise NotFoundError("permission_not_found")
            return replace(schedule, permissions=left)

        schedule = kept_with(self._on, principal, schedule_id, without)
        recorded_of(self._on, principal, "revoke", schedule, permission=permission_id)

    def _permission(self, principal: Principal, draft: PermissionDraft) -> StandingPermission:
        access = self._on.vaults.access(principal, draft.vault)
        risks = {spec.name: spec.risk for spec in self._on.tools.specs(Surface.IN_APP)}
        for tool in draft.tools:
            if tool not in PERMITTED_TOOLS or tool not in risks:
                raise InvalidRequestError("permission_tool", tool=tool)
            require_right(access, risks[tool])
        now = self._on.clock.now()
        return StandingPermission(
            id=uuid.uuid4().hex[:ID_DIGITS],
            tools=tuple(dict.fromkeys(draft.tools)),
            vault=access.vault.ref.id,
            folder=resolve_directory(draft.folder),
            given_at=now,
            expires_at=now + timedelta(days=draft.days),
            most=draft.most,
        )
