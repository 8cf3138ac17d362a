"""What an owner decides for a vault, and what agents may do in it then."""

import pytest

from archivolt.domain.vault import VaultRole
from archivolt.tools.registry import Registry
from tests.builders import ALICE, BOB, principal
from tests.confirmed_changes import Hand, changing_tools
from tests.entrypoints.rest_world import RestWorld

VAULT = "/api/v1/vaults/notes"
RENAME = "/api/v1/tools/rename_file"
ARGUMENTS = {"vault": "notes", "path": "a.md", "content": "two"}


class Rest(RestWorld):
    def tools(self) -> Registry:
        return changing_tools(Hand(self.store))


@pytest.fixture
def world() -> Rest:
    world = Rest()
    ref = world.vault("notes")
    world.write(ref, "a.md", "one")
    world.share(ref, principal(BOB), VaultRole.WRITER)
    return world


def test_an_owner_switches_dangerous_tools_off_and_on(world: Rest) -> None:
    proposed = world.post(f"{RENAME}/propose", ARGUMENTS).json["confirmation_token"]

    off = world.send("PATCH", VAULT, {"aiDestructiveTools": False})
    assert (off.status, off.json["aiDestructiveTools"]) == (200, False)
    for step, body in (("propose", ARGUMENTS), ("apply", {"confirmation_token": proposed})):
        answer = world.post(f"{RENAME}/{step}", body)
        assert (answer.status, answer.json["error"]["code"]) == (403, "destructive_tools_off")

    on = world.send("PATCH", VAULT, {"aiDestructiveTools": True})
    assert on.json == {"name": "notes", "role": "owner", "files": 1, "aiDestructiveTools": True}
    assert world.post(f"{RENAME}/apply", {"confirmation_token": proposed}).status == 200


@pytest.mark.parametrize(
    ("user", "status", "code"),
    [
        ("bob", 403, "owner_required"),
        ("mallory", 404, "vault_not_found"),
        ("root", 404, "vault_not_found"),
        ("alices-agent", 403, "person_required"),
        ("", 401, "missing_token"),
    ],
)
def test_only_an_owner_in_person_may(world: Rest, user: str, status: int, code: str) -> None:
    answer = world.send("PATCH", VAULT, {"aiDestructiveTools": False}, user=user)

    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert world.vaults.access(principal(ALICE), "notes").vault.ai_destructive_tools


@pytest.mark.parametrize("body", [{}, {"aiDestructiveTools": "no"}, {"name": "other"}])
def test_a_change_of_anything_else_is_not_valid(world: Rest, body: object) -> None:
    assert world.send("PATCH", VAULT, body).status == 422
