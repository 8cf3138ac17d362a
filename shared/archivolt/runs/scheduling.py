"""What all changes of schedules have in common: whose hand they take, how they are kept."""

from collections.abc import Callable
from functools import cache
from typing import Final

from pydantic import TypeAdapter

from archivolt.domain.audit import AuditEntry
from archivolt.domain.errors import ConflictError, ForbiddenError, UnavailableError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.schedule import Schedule
from archivolt.domain.tool import Surface
from archivolt.runs.requests import RunRequest
from archivolt.runs.support import RunSupport

ID_DIGITS: Final = 20
"""How long an id is, of a schedule or a permission."""
_ROUNDS: Final = 8


def require_person(principal: Principal) -> None:
    """Refuse programs, whichever door they come through.

    Raises:
        ForbiddenError: `person_required`, `token_read_only`.

    """
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")
    if principal.reach.read_only:
        raise ForbiddenError("token_read_only")


def kept_with(
    on: RunSupport, principal: Principal, schedule_id: str, change: Callable[[Schedule], Schedule]
) -> Schedule:
    """Keep a change of a schedule of the caller's, which a run may use beside it.

    Raises:
        NotFoundError: `schedule_not_found`.
        UnavailableError: It changes all the time.

    """
    for _ in range(_ROUNDS):
        schedule = on.schedules.get(principal.tenant, principal.user, schedule_id)
        try:
            return on.schedules.save(change(schedule))
        except ConflictError as error:
            if error.code != "conflict":
                raise
    raise UnavailableError("unavailable")


def recorded_of(
    on: RunSupport, principal: Principal, what: str, schedule: Schedule, **more: str
) -> None:
    """Record in the audit log what somebody did with a schedule.

    Raises:
        UnavailableError: It cannot be recorded.

    """
    on.audit.append(
        AuditEntry(
            principal=principal,
            action=f"schedule:{what}",
            at=on.clock.now(),
            outcome="ok",
            surface=Surface.IN_APP,
            milliseconds=0,
            details={"schedule": schedule.id, **more},
        )
    )


def asked_of(request: RunRequest) -> dict[str, object]:
    """Return what a run is asked for as JSON."""
    return _requests().dump_python(request, mode="json")


def request_of(schedule: Schedule) -> RunRequest:
    """Return what a schedule asks of a run, but for its vaults and its key."""
    return _requests().validate_python(schedule.asked)


@cache
def _requests() -> TypeAdapter[RunRequest]:
    return TypeAdapter(RunRequest)
