"""`run_check`: what a caller is told of code, from a vault or given."""

import pytest

from archivolt.domain.errors import InvalidRequestError, NotFoundError
from tests.world import World


@pytest.fixture
def world() -> World:
    world = World()
    notes = world.vault("notes")
    world.write(notes, "good.py", "x = 1\n")
    world.write(notes, "broken.py", "x = 1\ndef f(:\n")
    return world


def test_a_file_of_a_vault_is_checked(world: World) -> None:
    good = world.call("run_check", {"vault": "notes", "path": "good.py"})
    broken = world.call("run_check", {"vault": "notes", "path": "broken.py"})

    assert good == {"path": "good.py", "language": "python", "ok": True, "errors": [], "total": 0}
    assert (broken["ok"], broken["total"]) == (False, 1)
    assert broken["errors"] == [{"line": 2, "column": 7, "message": "invalid syntax"}]


def test_given_content_is_checked_in_place_of_a_file(world: World) -> None:
    given = world.call("run_check", {"path": "data.json", "content": "{"})

    assert (given["language"], given["ok"], given["total"]) == ("json", False, 1)


def test_the_secrets_of_a_file_do_not_change_what_is_found(world: World) -> None:
    key = "AKIA" + "Q3EGYT5ZVWXN2K7M"
    world.write(world.vault("keys"), "a.json", f'{{"key": "{key}" 1}}')

    checked = world.call("run_check", {"vault": "keys", "path": "a.json"})

    assert checked["errors"][0]["column"] == len(f'{{"key": "{key}" 1')
    assert key not in str(checked)


def test_what_cannot_be_checked_is_not_called_good(world: World) -> None:
    checked = world.call("run_check", {"path": "a.rb", "content": "puts 1"})

    assert (checked["ok"], checked["language"]) == (None, None)
    assert checked["note"].startswith("Not checked: only Python")


@pytest.mark.parametrize(
    "path",
    ["tsconfigs/base.json", "web/tsconfig.build.json", ".vscode/settings.json", "a/deno.json"],
)
def test_json_that_may_have_comments_is_not_called_broken(world: World, path: str) -> None:
    checked = world.call("run_check", {"path": path, "content": "{ // why\n}"})

    assert (checked["ok"], checked["errors"]) == (None, [])


def test_a_file_needs_its_vault(world: World) -> None:
    with pytest.raises(InvalidRequestError, match="vault"):
        world.call("run_check", {"path": "good.py"})


def test_a_foreign_vault_is_not_found(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.call("run_check", {"vault": "others", "path": "good.py"})
