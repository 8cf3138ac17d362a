"""Having the indexes of a running stack made anew, by its command."""

import subprocess

import pytest

from archivolt_local.deployed import deployed_settings
from archivolt_local.environment import for_children
from tests.e2e.stack import Stack, wait_until

pytestmark = pytest.mark.one_python


def test_the_command_makes_the_index_of_a_vault_anew(stack: Stack) -> None:
    name = "reindexed"
    with stack.client() as http:
        assert http.post("/api/v1/vaults", json={"name": name}).status_code == 201
        note = {"path": "a.md", "content": "# Marmots\n\nMarmots whistle.\n"}
        assert http.post(f"/api/v1/file/{name}", json=note).status_code == 201
        wait_until(lambda: stack.vault_status(name)["states"] == {"indexed": 1}, every=0.2)
        before = stack.vault_status(name)["last_sync"]

        command = stack.command("reindex", "--vault", name, "--tenant", "local")
        done = subprocess.run(command, env=for_children(), capture_output=True, check=True)
        assert done.stdout.decode().splitlines() == [f"local/{name}: started"]

        def is_done() -> bool:
            seen = http.get(f"/api/v1/vault/{name}/index").json()
            return seen["rebuild"] is None and seen["last_sync"] not in {None, before}

        wait_until(is_done, 120, every=0.5)
        wait_until(lambda: stack.vault_status(name)["states"] == {"indexed": 1}, every=0.2)
    assert [hit["path"] for hit in stack.search("marmots", vault=name)] == ["a.md"]


def test_the_outputs_of_a_deployed_stack_say_where_it_is(stack: Stack) -> None:
    settings = deployed_settings(stack.aws.cloudformation, "archivolt")

    assert settings.control_table == "archivolt-control"
    assert settings.catalogue_table == "archivolt-catalogue"
    assert settings.sync_queue_url.endswith("/archivolt-sync")
