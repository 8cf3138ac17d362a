"""What a run may change while nobody looks on: what a person permitted beforehand, and no more."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import TokenKind
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.run import Run, RunCaps, RunStatus
from archivolt.domain.run_limits import MAX_RUN_MINUTES
from archivolt.domain.schedule import Schedule, StandingPermission
from archivolt.domain.schedule_limits import MAX_PERMISSION_DAYS, MAX_PERMISSIONS
from archivolt.domain.vault import VaultRole
from archivolt.ports.chat_model import ModelTurn
from archivolt.ports.confirmations import ProposalState
from archivolt.runs.covering import PERMITTED_TOOLS
from archivolt.runs.firing import STARTED
from archivolt.runs.permitting import PermissionDraft
from archivolt.vaults.many_files import files_below
from tests.builders import ACME, ALICE, BOB, principal
from tests.fakes.models import calling
from tests.scheduled_world import DONE, READ, Scheduled

WRITE = calling("create_file", "I write.", vault="notes", path="reports/a.md", content="one\n")
EVERY_TOOL = tuple(sorted(PERMITTED_TOOLS))


class Permitted(Scheduled):
    """A scheduled run, with a permission for `reports` unless another is given."""

    def __init__(self, *script: ModelTurn, **given: Any) -> None:  # noqa: ANN401  JSON
        super().__init__(*script, DONE)
        self.write(self.home, "reports/old.md", "An old report.\n")
        self.write(self.home, "other/plan.md", "A plan, see [[old]].\n")
        self.schedule = self.planned()
        self.permission = self.permit(self.schedule, **given)

    def permit(self, schedule: Schedule, **given: Any) -> StandingPermission:  # noqa: ANN401  JSON
        asked: dict[str, Any] = {
            "tools": EVERY_TOOL,
            "vault": "notes",
            "folder": "reports",
            "days": 30,
        }
        draft = PermissionDraft(**(asked | given))
        return self.timetables.permissions.give(principal(ALICE), schedule.id, draft)

    def ran(self) -> Run:
        """Fire, and do all that the run does."""
        assert self.fire(self.schedule) == STARTED
        [run] = self.run_service.page(principal(ALICE), limit=9)[0]
        ended = self.drive(run)
        assert ended.status is RunStatus.COMPLETED
        return ended

    def codes(self) -> list[str]:
        """Return the codes of the errors that the model was told of."""
        run = self.run_service.page(principal(ALICE), limit=9)[0][0]
        result = self.run_service.result(principal(ALICE), run)
        assert result is not None
        return [each.status for each in result.tool_calls]

    def refused(self) -> list[str]:
        return [each.outcome for each in self.audit.entries if each.action == "run:refused"]

    def there(self, path: str) -> bool:
        try:
            self.store.head(self.home, VaultPath(path))
        except NotFoundError:
            return False
        return True

    def files_there(self) -> dict[str, str]:
        """Return the version of every file, by its path."""
        found = files_below(self.store, self.home, ROOT)
        return {info.path: info.etag for info in found}

    def uses(self) -> int:
        return sum(each.uses for each in self.kept(self.schedule).permissions)


def test_a_change_that_is_covered_is_made_once_and_the_log_names_the_permission() -> None:
    on = Permitted(WRITE)

    run = on.ran()

    [entry] = [each for each in on.audit.entries if each.action == "run:permitted"]
    [word] = on.told(run, "approval_decided")
    applied = [each for each in on.audit.entries if each.action == "apply:create_file"]
    assert on.there("reports/a.md")
    assert entry.details["permission"] == on.permission.id
    assert entry.details["schedule"] == on.schedule.id
    assert [each.details["confirmation"] for each in applied] == [entry.details["confirmation"]]
    assert word.data["by"] == f"permission:{on.permission.id}"
    assert (on.uses(), on.codes()) == (1, ["success"])


def test_a_change_that_none_covers_is_refused_to_the_model_and_the_run_goes_on() -> None:
    outside = calling("create_file", "I write.", vault="notes", path="other/a.md", content="one\n")
    on = Permitted(outside, WRITE)

    run = on.ran()

    assert on.refused() == ["no_standing_permission"]
    assert (on.there("other/a.md"), on.there("reports/a.md")) == (False, True)
    assert on.codes() == ["error", "success"]
    assert on.told(run, "approval_required") == []
    proposals = {
        each.action: on.confirmations.get(ACME, each.details["confirmation"])
        for each in on.audit.entries
        if each.action in {"run:refused", "run:permitted"}
    }
    states = {action: kept and kept.state for action, kept in proposals.items()}
    assert states == {
        "run:refused": ProposalState.DECLINED,
        "run:permitted": ProposalState.DONE,
    }


REACHING_OUT = {
    "another folder": calling("create_file", vault="notes", path="other/a.md", content="x"),
    "a folder that begins alike": calling(
        "create_file", vault="notes", path="reports2/a.md", content="x"
    ),
    "the folder itself": calling("delete_directory", vault="notes", path="reports", recursive=True),
    "the top": calling("create_file", vault="notes", path="a.md", content="x"),
    "another case": calling("create_file", vault="notes", path="Reports/a.md", content="x"),
    "a move out": calling(
        "move_path", vault="notes", source_path="reports/lone.md", destination_dir="other"
    ),
    "a move in": calling(
        "move_path", vault="notes", source_path="other/plan.md", destination_dir="reports"
    ),
    "a move of the folder": calling(
        "move_path", vault="notes", source_path="reports", destination_dir="other"
    ),
    "a new name for the folder": calling(
        "rename_directory", vault="notes", path="reports", new_name="elsewhere"
    ),
    "links that follow outside": calling(
        "rename_file", vault="notes", path="reports/old.md", new_name="new.md"
    ),
    "replacing everywhere": calling("replace_in_files", vault="notes", find="plan", replace="x"),
    "replacing in the folder and beside it": calling(
        "replace_in_files", vault="notes", find="old", replace="new"
    ),
    "another vault": calling("create_file", vault="private", path="reports/a.md", content="x"),
}


@pytest.mark.parametrize("call", REACHING_OUT.values(), ids=REACHING_OUT.keys())
def test_what_reaches_out_of_the_folder_is_refused(call: ModelTurn) -> None:
    on = Permitted(call)
    on.vault("private")
    on.write(on.home, "reports/lone.md", "Nobody links here.\n")
    before = on.files_there()

    on.ran()

    assert on.refused() == ["no_standing_permission"]
    assert on.files_there() == before
    assert on.uses() == 0


@pytest.mark.parametrize(
    "path",
    [
        *("reports/../other/a.md", "./reports/a.md", "/reports/a.md", "reports/%2e%2e/a.md"),
        *("reports//a.md", "reports\\..\\a.md", "reports/‥/a.md"),
    ],
)
def test_a_path_that_climbs_is_no_path(path: str) -> None:
    on = Permitted(calling("create_file", vault="notes", path=path, content="x"))
    before = on.files_there()

    on.ran()

    assert on.codes() == ["error"]
    assert on.files_there() == before
    assert on.uses() == 0


WITHIN: dict[str, dict[str, Any]] = {
    "edit_file": {"path": "reports/old.md", "content": "New."},
    "append_to_file": {"path": "reports/old.md", "content": "More."},
    "create_directory": {"path": "reports/2026"},
    "rename_file": {"path": "reports/lone.md", "new_name": "alone.md"},
    "move_path": {"source_path": "reports/lone.md", "destination_dir": "reports/2026"},
    "replace_in_files": {"find": "Nobody", "replace": "Somebody"},
    "delete_file": {"path": "reports/lone.md"},
    "delete_directory": {"path": "reports/many", "recursive": True},
}


@pytest.mark.parametrize("tool", WITHIN)
def test_what_stays_in_the_folder_is_made(tool: str) -> None:
    on = Permitted(READ, calling(tool, vault="notes", **WITHIN[tool]))
    on.write(on.home, "reports/lone.md", "Nobody links here.\n")
    for number in range(60):
        on.write(on.home, f"reports/many/{number}.md", "One of many.\n")
    before = on.files_there()

    on.ran()

    assert on.refused() == []
    assert on.codes() == ["success", "success"]
    assert (on.files_there() != before) is (tool != "create_directory")
    assert on.uses() == 1


def test_a_permission_for_a_whole_vault_covers_all_of_it() -> None:
    rename = calling("rename_file", vault="notes", path="reports/old.md", new_name="new.md")
    on = Permitted(rename, folder="")

    on.ran()

    assert on.refused() == []
    assert "[[new]]" in on.store.read(on.home, VaultPath("other/plan.md")).data.decode()


def test_a_permission_is_for_the_tools_that_it_names() -> None:
    on = Permitted(WRITE, tools=("append_to_file",))

    on.ran()

    assert on.refused() == ["no_standing_permission"]


def test_a_permission_that_expires_during_a_run_is_good_for_nothing_after() -> None:
    second = calling("create_file", vault="notes", path="reports/b.md", content="x")
    on = Permitted(WRITE, second)
    on.schedule = on.planned(caps=RunCaps(minutes=MAX_RUN_MINUTES))
    on.permit(on.schedule, days=1)
    on.fire(on.schedule)
    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    [first] = on.step(run).calls
    on.calls.run_tool(on.ref(run), first["call"])
    on.clock.advance(hours=24)

    assert on.drive(run).status is RunStatus.COMPLETED
    assert (on.there("reports/a.md"), on.there("reports/b.md")) == (True, False)
    assert on.refused() == ["standing_permission_expired"]


def test_a_permission_is_used_so_often_and_no_more() -> None:
    writes = [
        calling("create_file", vault="notes", path=f"reports/{name}.md", content="x")
        for name in "abc"
    ]
    on = Permitted(*writes, most=2)

    on.ran()

    assert on.refused() == ["standing_permission_used_up"]
    assert (on.there("reports/b.md"), on.there("reports/c.md"), on.uses()) == (True, False, 2)


def revoke(on: Permitted) -> None:
    on.timetables.permissions.revoke(principal(ALICE), on.schedule.id, on.permission.id)


def delete(on: Permitted) -> None:
    on.timetables.delete(principal(ALICE), on.schedule.id)


@pytest.mark.parametrize("ended", [revoke, delete])
def test_a_permission_that_was_taken_back_during_a_run_covers_nothing(
    ended: Callable[[Permitted], None],
) -> None:
    on = Permitted(READ, WRITE)
    on.fire(on.schedule)
    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    on.step(run)
    ended(on)

    assert on.drive(run).status is RunStatus.COMPLETED
    assert on.refused() == ["no_standing_permission"]
    assert not on.there("reports/a.md")


def become_reader(on: Permitted) -> None:
    on.directory.set_member(on.home, BOB, VaultRole.OWNER)
    on.directory.set_member(on.home, ALICE, VaultRole.READER)


def leave(on: Permitted) -> None:
    on.directory.set_member(on.home, BOB, VaultRole.OWNER)
    on.directory.remove_member(on.home, ALICE)


@pytest.mark.parametrize("loses", [become_reader, leave])
def test_a_permission_gives_nothing_that_its_giver_lost(loses: Callable[[Permitted], None]) -> None:
    on = Permitted(WRITE)
    loses(on)

    on.ran()

    assert not on.there("reports/a.md")
    assert (on.codes(), on.uses()) == (["error"], 0)


@pytest.mark.parametrize("rule", ["human_confirmation", "human_confirmation_in_product"])
def test_where_a_persons_own_yes_is_asked_for_a_permission_is_none(rule: str) -> None:
    on = Permitted(WRITE)
    kept = on.tenant_settings.load(ACME)
    on.tenant_settings.save(ACME, replace(kept, **{rule: True}))

    on.ran()

    assert on.refused() == ["human_confirmation_required"]
    assert not on.there("reports/a.md")
    assert (on.uses(), on.approvals.waiting(principal(ALICE))) == (0, [])


def test_after_documents_were_read_nobody_asks_the_web() -> None:
    search = calling("web_search", "I ask.", query="blue mat")
    on = Permitted(READ, search, folder="")

    on.ran()

    assert on.refused() == ["no_standing_permission"]
    assert on.codes() == ["success", "error"]


def test_broken_code_is_never_written_where_nobody_sees_it() -> None:
    broken = calling("create_file", vault="notes", path="reports/a.py", content="def f(:\n")
    again = calling("create_file", vault="notes", path="reports/b.py", content="def g(:\n")
    more = calling("create_file", vault="notes", path="reports/c.py", content="def h(:\n")
    on = Permitted(broken, again, READ, more)

    on.ran()

    assert on.codes() == ["error", "error", "success", "error"]
    assert not any(on.there(f"reports/{name}.py") for name in "abc")


def test_a_worker_that_dies_at_any_moment_writes_once_and_never_more_often_than_permitted() -> None:
    moments = 0
    for moment in range(0, 200, 3):
        on = Permitted(WRITE)
        on.fire(on.schedule)
        [run] = on.run_service.page(principal(ALICE), limit=9)[0]
        [call] = on.step(run).calls
        on.line.strike_after(moment)
        try:
            on.calls.run_tool(on.ref(run), call["call"])
        except BaseException:  # noqa: BLE001  the worker died
            moments += 1
        on.line.calm()
        on.clock.advance(minutes=10)
        assert on.drive(run).status is RunStatus.COMPLETED
        versions = list(on.store.versions(on.home, VaultPath("reports/a.md")))
        assert (len(versions), on.codes()) == (1, ["success"])
        assert 1 <= on.uses() <= 2
        if moments <= moment // 3:
            break
    assert moments > 3


class _Broken:
    """A change that was permitted, and whose worker could not begin to make it."""

    def __init__(self, call: ModelTurn, **given: Any) -> None:  # noqa: ANN401  JSON
        self.on = Permitted(call, **given)
        self.on.schedule = self.on.planned(caps=RunCaps(minutes=MAX_RUN_MINUTES))
        self.on.permission = self.on.permit(self.on.schedule, **given)
        self.on.write(self.on.home, "reports/lone.md", "Nobody links here.\n")
        self.on.fire(self.on.schedule)
        [self.run] = self.on.run_service.page(principal(ALICE), limit=9)[0]
        [self.call] = self.on.step(self.run).calls
        self.on.line.take_down("take")
        with pytest.raises(UnavailableError):
            self.on.calls.run_tool(self.on.ref(self.run), self.call["call"])
        self.on.line.calm()

    def again(self) -> None:
        """Try again, and do all that is left."""
        assert self.on.drive(self.run).status is RunStatus.COMPLETED


def expire(on: Permitted) -> None:
    on.clock.advance(hours=24)


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (revoke, "no_standing_permission"),
        (delete, "no_standing_permission"),
        (expire, "standing_permission_expired"),
    ],
)
def test_a_change_that_was_not_begun_is_not_made_when_nothing_permits_it_any_more(
    happens: Callable[[Permitted], None], code: str
) -> None:
    broken = _Broken(WRITE, days=1)
    happens(broken.on)

    broken.again()

    assert broken.on.refused() == [code]
    assert not broken.on.there("reports/a.md")


def test_a_change_that_was_not_begun_is_looked_at_anew_for_what_it_touches_by_then() -> None:
    move = calling(
        "move_path", vault="notes", source_path="reports/lone.md", destination_dir="reports/2026"
    )
    broken = _Broken(move)
    broken.on.write(broken.on.home, "other/later.md", "See [[reports/lone]].\n")
    before = broken.on.files_there()

    broken.again()

    assert broken.on.refused() == ["no_standing_permission"]
    assert broken.on.files_there() == before


def test_a_change_that_was_not_begun_and_cannot_be_proposed_any_more_waits_for_nobody() -> None:
    broken = _Broken(WRITE)
    broken.on.write(broken.on.home, "reports/a.md", "Somebody else's.\n")

    broken.on.calls.run_tool(broken.on.ref(broken.run), broken.call["call"])

    assert broken.on.step(broken.run).what != "approval"
    assert broken.on.codes() == ["error"]


def test_a_change_that_was_not_begun_is_made_by_the_same_use_when_it_is_permitted_still() -> None:
    broken = _Broken(WRITE, most=1)

    broken.again()

    assert (broken.on.there("reports/a.md"), broken.on.refused()) == (True, [])
    assert broken.on.kept(broken.on.schedule).permissions[0].uses == 1
    [word] = broken.on.told(broken.run, "approval_decided")[1:]
    assert word.data["approval_id"].endswith(".2")


@pytest.mark.parametrize(
    ("given", "error", "code"),
    [
        ({"tools": ("web_search",)}, InvalidRequestError, "permission_tool"),
        ({"tools": ("start_run",)}, InvalidRequestError, "permission_tool"),
        ({"tools": ("read_file",)}, InvalidRequestError, "permission_tool"),
        ({"vault": "absent"}, NotFoundError, "vault_not_found"),
        ({"folder": "../other"}, InvalidRequestError, "invalid_path"),
        ({"folder": "reports/../.."}, InvalidRequestError, "invalid_path"),
    ],
)
def test_what_cannot_be_permitted_is_refused(
    given: dict[str, Any], error: type[ArchivoltError], code: str
) -> None:
    on = Permitted()

    with pytest.raises(error, match=code):
        on.permit(on.schedule, **given)
    assert len(on.kept(on.schedule).permissions) == 1


def test_nobody_permits_what_they_could_not_do_themselves() -> None:
    on = Permitted()
    on.directory.set_destructive_tools(on.home, allowed=False)
    with pytest.raises(ForbiddenError, match="destructive_tools_off"):
        on.permit(on.schedule, tools=("delete_file",))
    become_reader(on)
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        on.permit(on.schedule, tools=("create_file",))


@pytest.mark.parametrize("kind", [TokenKind.PERSONAL, TokenKind.MCP, TokenKind.SCHEDULED])
def test_a_program_permits_nothing(kind: TokenKind) -> None:
    on = Permitted()
    program = replace(principal(ALICE), kind=kind)
    draft = PermissionDraft(tools=("create_file",), vault="notes", folder="", days=1)

    with pytest.raises(ForbiddenError, match="person_required"):
        on.timetables.permissions.give(program, on.schedule.id, draft)


def test_nobody_permits_on_anothers_schedule() -> None:
    on = Permitted()
    on.directory.set_member(on.home, BOB, VaultRole.WRITER)
    draft = PermissionDraft(tools=("create_file",), vault="notes", folder="", days=1)

    with pytest.raises(NotFoundError, match="schedule_not_found"):
        on.timetables.permissions.give(principal(BOB), on.schedule.id, draft)
    with pytest.raises(NotFoundError, match="schedule_not_found"):
        on.timetables.permissions.revoke(principal(BOB), on.schedule.id, on.permission.id)


def test_a_schedule_has_so_many_permissions_and_no_more() -> None:
    on = Permitted(days=MAX_PERMISSION_DAYS)
    for _ in range(MAX_PERMISSIONS - 1):
        on.permit(on.schedule)

    with pytest.raises(ConflictError, match="permissions_too_many"):
        on.permit(on.schedule)
    with pytest.raises(NotFoundError, match="permission_not_found"):
        on.timetables.permissions.revoke(principal(ALICE), on.schedule.id, "absent")
