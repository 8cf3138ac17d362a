"""Runs as tools of MCP: proposed and started once, and told of to their owner alone."""

from typing import Any

import pytest

from archivolt.domain.errors import ArchivoltError, NotFoundError
from archivolt.domain.identity import Principal, TokenKind, TokenReach
from archivolt.domain.messages import Language
from archivolt.domain.tool import Surface
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.tools import run_tools
from archivolt.tools.catalogue import native_tools
from archivolt.tools.pipeline import Proposed
from archivolt.tools.registry import Registry
from tests.builders import ALICE, BOB, principal
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld

CHANGE = calling("create_file", "I write.", vault="notes", path="a.md", content="one\n")
DONE = ModelTurn(text="Done.")
AGENT = principal(ALICE, kind=TokenKind.MCP)


class Programs(RunWorld):
    """The world of runs, with its tools."""

    def __init__(self, *script: ModelTurn) -> None:
        super().__init__(RepeatableModel(*script))
        self.vault("notes")

    def tools(self) -> Registry:
        return Registry([*native_tools(), *run_tools(lambda: self.run_service)])

    def propose_run(self, by: Principal = AGENT, **arguments: Any) -> Proposed:  # noqa: ANN401  JSON
        return self.pipeline.propose(
            by, "start_run", arguments, surface=Surface.MCP, language=Language.EN
        )

    def apply_run(self, proposed: Proposed, by: Principal = AGENT) -> dict[str, Any]:
        return self.pipeline.apply(
            by, "start_run", proposed.token, surface=Surface.MCP, language=Language.EN
        ).value

    def status(self, run_id: str, by: Principal = AGENT) -> dict[str, Any]:
        return self.pipeline.call(
            by, "run_status", {"run": run_id}, surface=Surface.MCP, language=Language.EN
        ).value


def test_a_program_starts_a_run_in_two_steps_and_asks_how_it_is_doing() -> None:
    on = Programs(CHANGE, DONE)
    proposed = on.propose_run(goal="Write a note.")
    untouched = list(on.engine.started)

    told = [on.apply_run(proposed) for _ in range(2)]
    [run], _ = on.agent_runs.of_user(AGENT.tenant, ALICE, limit=9)
    on.drive(run)
    waiting = on.status(run.id)

    assert untouched == []
    assert "Write a note." in proposed.preview["summary"]
    assert told[0] == told[1]
    assert (told[0]["run"], told[0]["status"]) == (run.id, "queued")
    assert on.engine.started == [(run.id, 1)]
    assert (waiting["status"], [each["tool"] for each in waiting["waiting"]]) == (
        "awaiting_approval",
        ["create_file"],
    )


def test_what_a_run_answered_is_told_when_it_is_over() -> None:
    on = Programs(DONE)
    run_id = on.apply_run(on.propose_run(goal="Say it."))["run"]
    on.drive(on.agent_runs.get(AGENT.tenant, run_id))

    told = on.status(run_id)

    assert (told["status"], told["reason"], told["result"]) == ("completed", "answered", "Done.")


def test_a_run_of_another_does_not_exist_for_a_program() -> None:
    on = Programs(DONE)
    run_id = on.apply_run(on.propose_run(goal="Say it."))["run"]

    with pytest.raises(NotFoundError, match="run_not_found"):
        on.status(run_id, principal(BOB, kind=TokenKind.MCP))


def test_a_token_of_one_vault_is_told_of_runs_that_reach_that_vault_alone() -> None:
    on = Programs(DONE)
    wide = on.apply_run(on.propose_run(goal="Say it."))["run"]
    narrow = on.apply_run(on.propose_run(goal="Say it.", vaults=["notes"]))["run"]
    notes = on.vaults.access(AGENT, "notes").vault.ref.id
    held = Principal(
        tenant=AGENT.tenant,
        user=AGENT.user,
        role=AGENT.role,
        token_id="held",
        kind=TokenKind.PERSONAL,
        reach=TokenReach(vaults=frozenset({notes})),
    )

    assert on.status(narrow, held)["run"] == narrow
    with pytest.raises(NotFoundError, match="run_not_found"):
        on.status(wide, held)


def test_a_vault_that_is_not_theirs_is_not_proposed() -> None:
    with pytest.raises(ArchivoltError, match="vault_not_found"):
        Programs(DONE).propose_run(goal="Say it.", vaults=["absent"])


def test_runs_start_no_runs() -> None:
    on = Programs(DONE)

    assert "start_run" not in {spec.name for spec in on.tools().specs(Surface.IN_APP)}
