"""Tenants from the command line of the machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from archivolt.domain.tenancy import Tenant, TenantState
from archivolt_local import tenants as command
from archivolt_local.cli import main
from archivolt_local.tenant_records import change
from tests.builders import ACME, GLOBEX
from tests.fakes.clock import START
from tests.fakes.tenancy import InMemoryTenants


@pytest.fixture
def directory() -> InMemoryTenants:
    directory = InMemoryTenants()
    for tenant in (ACME, GLOBEX):
        directory.add(Tenant(id=tenant))
    return directory


def test_tenants_are_listed_suspended_and_resumed(directory: InMemoryTenants) -> None:
    active = [{"id": "acme", "state": "active"}, {"id": "globex", "state": "active"}]
    assert change(directory, ["list"]) == {"tenants": active}

    assert change(directory, ["suspend", "acme"]) == {
        "tenants": [{"id": "acme", "state": "suspended"}]
    }
    suspended = directory.tenant(ACME)
    assert suspended is not None
    assert suspended.state is TenantState.SUSPENDED
    assert change(directory, ["resume", "acme"]) == {"tenants": [{"id": "acme", "state": "active"}]}


def test_what_cannot_be_done_is_said(directory: InMemoryTenants) -> None:
    assert "There is no tenant nobody" in str(change(directory, ["suspend", "nobody"])["problem"])
    directory.set_state(ACME, TenantState.DELETING, START)
    assert "deleted" in str(change(directory, ["resume", "acme"])["problem"])


def test_the_command_asks_the_running_stack(
    directory: InMemoryTenants,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def ask(stack: object, module: str, *arguments: str) -> Any:  # noqa: ANN401  JSON
        assert (stack, module) == ({}, "archivolt_local.tenant_records")
        return change(directory, arguments)

    def running(_: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(command, "ask", ask)
    monkeypatch.setattr(command, "running_stack", running)

    def run(*words: str) -> tuple[int, Sequence[str]]:
        status = main(["tenant", *words, "--data", str(tmp_path)])
        return status, capsys.readouterr().out.splitlines()

    assert run("list") == (0, ["acme  active", "globex  active"])
    assert run("suspend", "globex") == (0, ["globex  suspended"])
    assert run("resume", "nobody")[0] == 1
    assert run("suspend")[0] == 1
