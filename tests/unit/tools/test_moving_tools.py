"""rename_file, rename_directory and move_path, from proposal to effect."""

from collections.abc import Mapping
from typing import Any

import pytest

from archivolt.domain.confirmation import Change
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRef, VaultRole
from tests.builders import BOB, principal
from tests.world import World

ODD_NAMES = ["[[.md", "%.md", "à+b (1).md", "😀.md", "x" * 252 + ".md", "#1.md", "a`b$.md"]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def vault(world: World) -> VaultRef:
    ref = world.vault("notes")
    world.write(ref, "plans/a.md", "see [[b]] and [x](../n.md)")
    world.write(ref, "plans/b.md", "[[a#Part|A]]")
    world.write(ref, "n.md", "[[plans/a]] ![[b]]")
    return ref


def texts(world: World, vault: VaultRef) -> dict[str, str]:
    page = world.store.list(vault, ROOT, recursive=True, limit=100)
    return {info.path: world.store.read(vault, info.path).data.decode() for info in page.files}


def test_a_file_is_renamed_and_links_follow(world: World, vault: VaultRef) -> None:
    arguments = {"vault": "notes", "path": "plans/a.md", "new_name": "c"}
    moved = world.change("rename_file", arguments)

    assert moved == {
        "vault": "notes",
        "path": "plans/a.md",
        "new_path": "plans/c.md",
        "uri": "vault://notes/plans/c.md",
        "files": 1,
        "relinked": 2,
        "unlinked": [],
        "kept": [],
    }
    assert texts(world, vault) == {
        "plans/c.md": "see [[b]] and [x](../n.md)",
        "plans/b.md": "[[c#Part|A]]",
        "n.md": "[[plans/c]] ![[b]]",
    }


def test_a_directory_is_renamed_and_links_follow(world: World, vault: VaultRef) -> None:
    moved = world.change(
        "rename_directory", {"vault": "notes", "path": "plans/", "new_name": "ideas"}
    )

    assert (moved["new_path"], moved["files"], moved["relinked"]) == ("ideas", 2, 1)
    assert texts(world, vault)["n.md"] == "[[ideas/a]] ![[b]]"


@pytest.mark.parametrize(
    ("arguments", "new_path"),
    [
        ({"source_path": "plans/a.md", "destination_dir": ""}, "a.md"),
        ({"source_path": "plans/a.md", "destination_dir": "/"}, "a.md"),
        ({"source_path": "n.md", "destination_dir": "new/deep/"}, "new/deep/n.md"),
        ({"source_path": "plans/", "destination_dir": "old"}, "old/plans"),
    ],
)
def test_what_is_moved_keeps_its_name(
    world: World, vault: VaultRef, arguments: Mapping[str, Any], new_path: str
) -> None:
    moved = world.change("move_path", {"vault": "notes", **arguments})

    assert moved["new_path"] == new_path
    assert any(path.startswith(new_path) for path in texts(world, vault))


def test_the_proposal_shows_what_will_happen_and_does_nothing(
    world: World, vault: VaultRef
) -> None:
    before = texts(world, vault)
    proposed = world.propose(
        "move_path", {"vault": "notes", "source_path": "plans/a.md", "destination_dir": "x"}
    )

    assert [(one["path"], one["change"]) for one in proposed.preview["affected"]] == [
        ("n.md", Change.RELINK),
        ("plans/a.md", Change.MOVE),
    ]
    assert "+[[x/a]] ![[b]]" in proposed.preview["diff"]
    assert texts(world, vault) == before


def test_the_same_confirmation_again_has_the_same_answer_and_no_further_effect(
    world: World, vault: VaultRef
) -> None:
    proposed = world.propose(
        "rename_file", {"vault": "notes", "path": "plans/a.md", "new_name": "c.md"}
    )
    first = world.apply(proposed)
    world.store.create(vault, VaultPath("plans/a.md"), b"a new one")

    assert world.apply(proposed) == first
    assert texts(world, vault)["plans/a.md"] == "a new one"


def test_a_file_that_was_edited_since_the_proposal_stays(world: World, vault: VaultRef) -> None:
    proposed = world.propose(
        "rename_file", {"vault": "notes", "path": "plans/a.md", "new_name": "c.md"}
    )
    there = world.store.list(vault, ROOT, recursive=True, limit=9)
    info = next(info for info in there.files if info.path == "plans/a.md")
    world.store.replace(vault, info.path, b"edited", expected=info.etag)

    with pytest.raises(ConflictError, match="conflict"):
        world.apply(proposed)
    assert "plans/c.md" not in texts(world, vault)


def test_a_proposal_is_based_on_the_version_that_was_read(world: World, vault: VaultRef) -> None:
    arguments = {"vault": "notes", "path": "plans/a.md", "new_name": "c.md"}
    etag = world.call("read_file", {"vault": "notes", "path": "plans/a.md"})["etag"]

    world.propose("rename_file", arguments | {"etag": etag})
    with pytest.raises(ConflictError, match="conflict"):
        world.propose("rename_file", arguments | {"etag": "another"})
    assert texts(world, vault).keys() == {"plans/a.md", "plans/b.md", "n.md"}


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("rename_file", {"path": "../a.md", "new_name": "b"}, InvalidRequestError),
        ("rename_file", {"path": "n.md", "new_name": "x/../b.md"}, InvalidRequestError),
        ("rename_file", {"path": "n.md", "new_name": ".."}, InvalidRequestError),
        ("rename_file", {"path": "vault://notes/n.md", "new_name": "b"}, InvalidRequestError),
        ("rename_file", {"path": "gone.md", "new_name": "b"}, NotFoundError),
        ("rename_directory", {"path": "", "new_name": "b"}, InvalidRequestError),
        ("rename_directory", {"path": "plans/..", "new_name": "b"}, InvalidRequestError),
        ("move_path", {"source_path": "/", "destination_dir": "b"}, InvalidRequestError),
        ("move_path", {"source_path": "n.md", "destination_dir": "%2e%2e"}, InvalidRequestError),
        ("move_path", {"source_path": "plans", "destination_dir": "plans"}, InvalidRequestError),
        ("move_path", {"source_path": "n.md", "destination_dir": ""}, ConflictError),
    ],
)
def test_what_cannot_be_done_is_refused_at_the_proposal(
    world: World,
    vault: VaultRef,
    tool: str,
    arguments: Mapping[str, Any],
    error: type[ArchivoltError],
) -> None:
    before = texts(world, vault)

    with pytest.raises(error):
        world.propose(tool, {"vault": "notes", **arguments})
    assert texts(world, vault) == before


def test_readers_and_strangers_move_nothing(world: World, vault: VaultRef) -> None:
    arguments = {"vault": "notes", "path": "n.md", "new_name": "m.md"}
    with pytest.raises(NotFoundError, match="vault_not_found"):
        world.propose("rename_file", arguments, by=principal(BOB))
    world.share(vault, principal(BOB), VaultRole.READER)

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        world.propose("rename_file", arguments, by=principal(BOB))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_goes_through_the_tools_and_back(world: World, name: str) -> None:
    ref = world.vault("odd")
    world.write(ref, "a.md", "self [[a]]")
    world.write(ref, "n.md", "[[a|x]] [y](a.md)")

    world.change("rename_file", {"vault": "odd", "path": "a.md", "new_name": name})
    renamed = texts(world, ref)
    world.change("move_path", {"vault": "odd", "source_path": name, "destination_dir": "d"})

    assert renamed.keys() == {name, "n.md"}
    assert texts(world, ref).keys() == {f"d/{name}", "n.md"}
