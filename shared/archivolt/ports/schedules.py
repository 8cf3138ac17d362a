"""Where schedules are kept, and what fires them."""

from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.schedule import Schedule


class ScheduleStore(Protocol):
    """Keeps schedules of users. Implementations pass `tests/contract`.

    All may raise `UnavailableError`.
    """

    def create(self, schedule: Schedule) -> Schedule:
        """Keep a new one, and return it as it is kept.

        Raises:
            ConflictError: `conflict`: the id is taken.

        """
        ...

    def get(self, tenant: TenantId, user: UserId, schedule_id: str) -> Schedule:
        """Return one, strongly consistent.

        Raises:
            NotFoundError: `schedule_not_found`.

        """
        ...

    def of_user(self, tenant: TenantId, user: UserId) -> list[Schedule]:
        """Return a user's, by their ids."""
        ...

    def save(self, schedule: Schedule) -> Schedule:
        """Keep a changed one, and return it as it is kept.

        Raises:
            ConflictError: `conflict`: it was saved since `schedule` was read, or is gone.

        """
        ...

    def delete(self, schedule: Schedule) -> None:
        """Remove one; repeating is no error."""
        ...


class ScheduleTimer(Protocol):
    """Fires schedules at their times. All may raise `UnavailableError`."""

    def put(self, schedule: Schedule) -> None:
        """Have a schedule fired as it says, or not, where it is not enabled.

        Raises:
            InvalidRequestError: `schedule_expression`: it knows no such timetable.

        """
        ...

    def remove(self, tenant: TenantId, user: UserId, schedule_id: str) -> None:
        """Have one fired no more; one that is not there is no error."""
        ...
