"""The tools that change and restore files, from proposal to effect."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.tools.catalogue import native_tools
from tests.builders import BOB, principal
from tests.unit.test_paths import ATTACKS, ODD_NAMES
from tests.unit.tools.test_catalogue import read_on
from tests.world import World

BOB_ = principal(BOB)
SECRET = "hunter2!" + "xyz"
NOTES = {"vault": "notes"}
CHANGES: dict[str, dict[str, Any]] = {
    "create_file": {"content": "x"},
    "create_directory": {},
    "edit_file": {"content": "x"},
    "append_to_file": {"content": "x"},
    "restore_backup": {"version": "version-1"},
    "delete_file": {},
    "delete_directory": {},
}
DANGEROUS = {"delete_file", "delete_directory", "replace_in_files"}


@pytest.fixture
def world() -> World:
    """Alice owns `notes`."""
    world = World()
    world.vault("notes")
    return world


def vault_of(world: World) -> VaultRef:
    return world.vaults.access(principal(), "notes").vault.ref


def read(world: World, path: str) -> dict[str, Any]:
    return world.call("read_file", {**NOTES, "path": path})


def change(world: World, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    """Propose and apply, and hold the result to its schema."""
    value = world.change(tool, {**NOTES, **arguments})
    Draft202012Validator(dict(native_tools().get(tool).spec.result)).validate(value)  # pyright: ignore[reportUnknownMemberType]
    return value


def test_a_note_lives_from_its_creation_to_its_return(world: World) -> None:
    change(world, "create_directory", path="ideas/")
    created = change(world, "create_file", path="ideas/a.md", content="one\n")
    edited = change(world, "edit_file", path="ideas/a.md", content="two\n", etag=created["etag"])
    change(world, "append_to_file", path="ideas/a.md", content="three")
    world.clock.advance(minutes=1)
    change(world, "delete_file", path="ideas/a.md")
    with pytest.raises(NotFoundError):
        read(world, "ideas/a.md")

    backups = world.call("list_backups", {**NOTES, "path": "ideas/a.md"})["backups"]
    diff = world.call(
        "diff_backup",
        {**NOTES, "path": "ideas/a.md", "version": created["version"]},
    )
    restored = change(world, "restore_backup", path="ideas/a.md", version=edited["version"])

    assert [(b["size"], b["current"], b["deleted"]) for b in backups] == [
        (0, True, True),
        (9, False, False),
        (4, False, False),
        (4, False, False),
    ]
    assert "-one\n" in diff["diff"]
    assert read(world, "ideas/a.md")["content"] == "two\n"
    assert restored["etag"] == edited["etag"] == read(world, "ideas/a.md")["etag"]


def test_a_directory_goes_with_its_files(world: World) -> None:
    for name in "ab":
        world.write(vault_of(world), f"d/{name}.md", "text")

    with pytest.raises(ConflictError, match="directory_not_empty"):
        world.propose("delete_directory", {**NOTES, "path": "d"})
    proposed = world.propose("delete_directory", {**NOTES, "path": "d", "recursive": True})
    gone = world.apply(proposed)

    assert proposed.preview["affected_total"] == 2
    assert (gone["deleted"], gone["kept"]) == (2, 0)
    with pytest.raises(NotFoundError, match="directory_not_found"):
        world.call("list_directory", {**NOTES, "path": "d"})


@pytest.mark.parametrize("language", Language)
def test_a_preview_shows_the_change_without_secrets(world: World, language: Language) -> None:
    world.write(vault_of(world), "a.md", f"one\npassword: {SECRET}\n")
    new = read(world, "a.md")["content"].replace("one", "two")

    proposed = world.propose(
        "edit_file", {**NOTES, "path": "a.md", "content": new}, language=language
    )
    world.apply(proposed)

    assert "-one\n+two\n" in proposed.preview["diff"]
    assert SECRET not in json.dumps(proposed.preview)
    assert world.store.read(vault_of(world), VaultPath("a.md")).data == (
        f"two\npassword: {SECRET}\n".encode()
    )


def test_a_conflict_tells_the_difference_without_secrets(world: World) -> None:
    ref, path = vault_of(world), VaultPath("a.md")
    info = world.write(ref, "a.md", "one\n")
    proposed = world.propose("edit_file", {**NOTES, "path": "a.md", "content": "two\n"})
    newer = world.store.replace(
        ref, path, f"new\npassword: {SECRET}\n".encode(), expected=info.etag
    )

    for _ in range(2):
        with pytest.raises(ConflictError, match="conflict") as caught:
            world.apply(proposed)
        assert caught.value.details["etag"] == newer.etag
        assert "-new\n" in str(caught.value.details["diff"])
        assert SECRET not in str(caught.value.details)


@pytest.mark.parametrize("limit", [None, 100])
def test_a_part_of_a_file_serves_for_no_edit(world: World, limit: int | None) -> None:
    text = "".join(f"line {n} of a long note\n" for n in range(1_000))
    world.write(vault_of(world), "a.md", text)
    at = {**NOTES, "path": "a.md"}
    part = world.call("read_file", {**at, "limit": limit})
    rest = world.call("read_file", {**at, "offset": len(text) - 9})

    for etag in (part["etag"], rest["etag"], None):
        arguments = {**at, "content": part["content"], "etag": etag}
        with pytest.raises(InvalidRequestError, match="edit_of_partial_read") as caught:
            world.propose("edit_file", arguments)
        assert "a.md" in caught.value.message(Language.FR)
    assert part["etag"] == rest["etag"]
    assert world.call("list_all_files", NOTES)["files"][0]["etag"] not in {part["etag"], ""}


def test_a_part_of_the_bytes_says_so_too(world: World) -> None:
    world.write(vault_of(world), "a.bin", b"\x00" * 20_000)
    world.write(vault_of(world), "b.bin", b"\x00" * 20)
    etags = {file["path"]: file["etag"] for file in world.call("list_all_files", NOTES)["files"]}

    cut = world.call("read_file_raw", {**NOTES, "path": "a.bin"})
    whole = world.call("read_file_raw", {**NOTES, "path": "b.bin"})

    assert cut["etag"] != etags["a.bin"]
    assert whole["etag"] == etags["b.bin"]


def test_an_etag_of_a_part_serves_where_nothing_is_replaced(world: World) -> None:
    world.write(vault_of(world), "a.md", "text of a note\n")
    etag = world.call("read_file", {**NOTES, "path": "a.md", "limit": 3})["etag"]

    change(world, "append_to_file", path="a.md", content="more", etag=etag)
    with pytest.raises(ConflictError, match="conflict"):
        world.propose("delete_file", {**NOTES, "path": "a.md", "etag": etag})
    etag = world.call("read_file", {**NOTES, "path": "a.md", "limit": 3})["etag"]
    change(world, "delete_file", path="a.md", etag=etag)


def test_words_are_replaced_in_many_files(world: World) -> None:
    for name in "ab":
        world.write(vault_of(world), f"{name}.md", f"Le dossier {name} à créer\n")
    world.write(vault_of(world), "image.png", b"\x00creer")
    asked = {**NOTES, "find": "creer", "replace": "faire", "include_paths": "*.md"}

    proposed = world.propose("replace_in_files", asked)
    dry = change(world, "replace_in_files", **{**asked, "dry_run": True})
    assert read(world, "a.md")["content"] == "Le dossier a à créer\n"
    done = world.apply(proposed)

    assert proposed.preview["affected_total"] == 2
    assert "+Le dossier a à faire\n" in dry["files"][0]["diff"]
    assert (dry["occurrences"], done["occurrences"], done["files_total"]) == (2, 2, 2)
    assert read(world, "b.md")["content"] == "Le dossier b à faire\n"


def test_a_file_that_cannot_be_replaced_in_tells_why(world: World) -> None:
    world.write(vault_of(world), "a.md", "one\n")
    proposed = world.propose("replace_in_files", {**NOTES, "find": "one", "replace": "1"})
    world.store.delete(vault_of(world), VaultPath("a.md"), expected=read(world, "a.md")["etag"])

    done = world.apply(proposed, language=Language.FR)

    assert done["skipped"] == [
        {
            "path": "a.md",
            "reason": "changed_since",
            "explanation": "modifié depuis la confirmation",
        }
    ]


def test_a_long_diff_is_read_on_to_its_end(world: World) -> None:
    text = "".join(f"line {n} of a long note\n" for n in range(2_000))
    created = change(world, "create_file", path="a.md", content=text)
    change(world, "edit_file", path="a.md", content="short\n", etag=created["etag"])

    at = {**NOTES, "path": "a.md", "version": created["version"]}
    parts = [part["diff"] for part in read_on(world, "diff_backup", at, "next_offset", "offset")]

    lines = "".join(parts).splitlines()
    assert len(lines) == 2 + 1 + 2_001
    assert lines[-1] == "+short"


def test_all_backups_are_listed_in_parts(world: World) -> None:
    change(world, "create_file", path="a.md", content="0\n")
    for number in range(60):
        change(world, "append_to_file", path="a.md", content=f"{number}\n")

    at = {**NOTES, "path": "a.md"}
    parts = list(read_on(world, "list_backups", at, "next_offset", "offset"))
    versions = [backup["version"] for part in parts for backup in part["backups"]]

    assert len(parts) > 1
    assert len(versions) == len(set(versions)) == 61
    assert len(world.call("list_backups", {**at, "limit": 7})["backups"]) == 7


@pytest.mark.parametrize("tool", [*CHANGES, "list_backups", "diff_backup"])
@pytest.mark.parametrize("path", ATTACKS)
def test_a_path_out_of_the_vault_is_refused(world: World, tool: str, path: str) -> None:
    arguments = {**NOTES, "path": path, "version": "version-1", **CHANGES.get(tool, {})}
    if tool not in {"diff_backup", "restore_backup"}:
        del arguments["version"]
    if path == "a/" and tool in {"create_directory", "delete_directory"}:
        path = arguments["path"] = "a//"  # the name of a directory may end with one slash
    call = world.propose if tool in CHANGES else world.call

    with pytest.raises(InvalidRequestError):
        call(tool, arguments)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_name_goes_through_every_change(world: World, name: str) -> None:
    created = change(world, "create_file", path=name, content="one\n")
    path = created["path"]
    change(world, "append_to_file", path=name, content="two\n")
    change(world, "replace_in_files", find="x", replace="y", include_paths=[path])
    change(world, "edit_file", path=name, content="three\n")
    change(world, "delete_file", path=name)
    change(world, "restore_backup", path=name, version=created["version"])

    assert world.call("list_backups", {**NOTES, "path": name})["backups"][-1]["size"] == 4
    assert read(world, name)["content"] == "one\n"


@pytest.mark.parametrize("tool", [*CHANGES, "replace_in_files"])
def test_only_who_may_write_changes_anything(world: World, tool: str) -> None:
    arguments = {**NOTES, "path": "a.md", **CHANGES.get(tool, {})}
    if tool == "replace_in_files":
        arguments = {**NOTES, "find": "x", "replace": "y"}
    with pytest.raises(NotFoundError, match="vault_not_found"):
        world.propose(tool, arguments, by=BOB_)

    world.share(vault_of(world), BOB_)
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        world.propose(tool, arguments, by=BOB_)

    world.share(vault_of(world), BOB_, VaultRole.WRITER)
    world.directory.set_destructive_tools(vault_of(world), allowed=False)
    if tool in DANGEROUS:
        with pytest.raises(ForbiddenError, match="destructive_tools_off"):
            world.propose(tool, arguments, by=BOB_)


def test_a_change_is_refused_while_it_is_only_a_call(world: World) -> None:
    with pytest.raises(ConflictError, match="confirmation_required"):
        world.call("create_file", {**NOTES, "path": "a.md", "content": "x"})


def test_a_long_list_of_replacements_fits_into_a_result(world: World) -> None:
    for number in range(300):
        world.write(vault_of(world), f"{number}.md", "one\n")

    result = world.change("replace_in_files", {**NOTES, "find": "one", "replace": "1"})

    assert len(json.dumps(result, ensure_ascii=False)) <= MAX_TOOL_RESULT_CHARS
    assert (result["files_total"], result["occurrences"]) == (300, 300)
    assert len(result["files"]) < 300
    assert result["note"]
