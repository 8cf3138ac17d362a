"""What fires the schedules of a user or a tenant: timers, known by the beginning of their names."""

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.dynamodb.erasures import DynamoErasures, Planned
from archivolt.adapters.scheduler.names import timers_of
from archivolt.adapters.scheduler.timer import SchedulerClient, remove_timer
from archivolt.domain.erasure import Erasure, ErasureScope


class TimersEraser:
    """An `Eraser` of one group of EventBridge Scheduler."""

    store = "timers"

    def __init__(self, client: SchedulerClient, group: str, records: DynamoErasures) -> None:
        self._client = client
        self._group = group
        self._records = records

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Remove one timer of the subject."""
        self._finish_planned(erasure)
        subject = erasure.subject
        if subject.user is None and subject.scope is not ErasureScope.TENANT:
            return None
        names = self._names(timers_of(subject.tenant, subject.user))
        # One that was removed may be listed for a moment still.
        name = next((each for each in sorted(names) if each > cursor), None)
        if name is not None:
            self._records.plan(erasure, self.store, Planned(1, name))
            self._finish_planned(erasure)
        return name

    def _finish_planned(self, erasure: Erasure) -> None:
        planned = self._records.planned(erasure, self.store)
        if planned is not None:
            remove_timer(self._client, self._group, planned.upto)
            self._records.carried_out(erasure, self.store, planned)

    def _names(self, prefix: str) -> list[str]:
        found: list[str] = []
        asked = {"GroupName": self._group, "NamePrefix": prefix}
        while True:
            with translated():
                page = self._client.list_schedules(**asked)
            found += [each["Name"] for each in page["Schedules"]]
            if not page.get("NextToken"):
                return found
            asked["NextToken"] = page["NextToken"]
