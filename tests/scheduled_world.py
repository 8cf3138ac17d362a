"""The world of runs, with somebody's timetable in it."""

from typing import Any, Final

from archivolt.domain.language import Language
from archivolt.domain.schedule import FiringRef, Schedule, Timetable
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.firing import Firings
from archivolt.runs.requests import RunRequest
from archivolt.runs.timetables import ScheduleDraft, Timetables
from tests.builders import ACME, ALICE, principal
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld

DUE: Final = "2026-09-02T08:30:00Z"
LATER: Final = "2026-09-03T08:30:00Z"
DAILY: Final = Timetable(expression="rate(1 day)", zone="Europe/Paris")
READ: Final = calling("read_file", "I look.", vault="notes", path="key.md")
DONE: Final = ModelTurn(text="Under the mat.")


class Scheduled(RunWorld):
    """The world of runs, with somebody's timetable in it."""

    def __init__(self, *script: ModelTurn) -> None:
        super().__init__(RepeatableModel(*(script or (READ, DONE))))
        self.home = self.vault("notes")
        self.write(self.home, "key.md", "The spare key is under the blue mat.")
        self.timetables = Timetables(self.run_support, self.timer)
        self.chat_enabled = True

    def planned(self, goal: str = "Where is the key?", **asked: Any) -> Schedule:  # noqa: ANN401  JSON
        return self.timetables.create(principal(ALICE), draft(goal, **asked), Language.FR)

    def fire(self, schedule: Schedule, due: str = DUE) -> str:
        ref = FiringRef(tenant=ACME, user=ALICE, schedule=schedule.id, due=due)
        standing, chat = self.admission.require, self.chat_enabled
        return Firings(self.run_support, self.timer, standing, chat=chat).fire(ref)

    def kept(self, schedule: Schedule) -> Schedule:
        return self.timetables.read(principal(ALICE), schedule.id)

    def outcomes(self) -> list[tuple[str, str]]:
        told = [each for each in self.audit.entries if each.action.startswith("schedule:")]
        return [(each.action.removeprefix("schedule:"), each.outcome) for each in told]


def draft(
    goal: str = "Where is the key?",
    *,
    timetable: Timetable = DAILY,
    name: str = "Daily",
    **asked: Any,  # noqa: ANN401  JSON
) -> ScheduleDraft:
    return ScheduleDraft(name=name, request=RunRequest(goal=goal, **asked), timetable=timetable)
