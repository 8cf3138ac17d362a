"""Renaming and moving: what is refused, what moves, whose links follow, who may interfere."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from archivolt.domain.confirmation import Change, Confirmed
from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRole, WriteMarks
from archivolt.ports.operations import Operation
from archivolt.vaults.move_requests import (
    MoveRequest,
    move_into,
    rename_of_directory,
    rename_of_file,
)
from tests.fakes.clock import START
from tests.move_world import MovingVault


def rename(path: str, name: str) -> MoveRequest:
    return rename_of_file(VaultPath(path), name)


def rename_directory(path: str, name: str) -> MoveRequest:
    return rename_of_directory(VaultPath(path), name)


def into(source: str, directory: str) -> MoveRequest:
    return move_into(VaultPath(source), VaultPath(directory))


def test_a_renamed_file_has_the_new_name_only_and_links_follow() -> None:
    vault = MovingVault({"d/a.md": "[[n]]", "n.md": "[[a|x]] ![[a#h]] [y](d/a.md)"})

    result = vault.move(rename("d/a.md", "b.md"))

    assert vault.texts() == {"d/b.md": "[[n]]", "n.md": "[[b|x]] ![[b#h]] [y](d/b.md)"}
    assert (result.move.target, result.files, result.relinked, result.kept) == ("d/b.md", 1, 1, [])


def test_a_moved_file_keeps_when_it_was_made_and_its_versions_stay() -> None:
    vault = MovingVault({"a.md": "text", "i.png": b"\x89PNG"})

    vault.move(into("a.md", "d"))
    vault.move(into("i.png", "d"), by="op-2")

    moved = [vault.store.head(vault.ref, VaultPath(path)) for path in ("d/a.md", "d/i.png")]
    assert [info.created for info in moved] == [START, START]
    assert [info.operation for info in moved] == ["op-1", "op-2"]
    assert len(vault.store.versions(vault.ref, VaultPath("a.md"))) == 2


@pytest.mark.parametrize(
    ("path", "name", "target"),
    [
        ("a.md", "b", "b.md"),
        ("a.md", "b.md", "b.md"),
        ("a.md", "b.txt", "b.txt"),
        ("a.md", "v1.2", "v1.2.md"),
        ("a.md", "A.md", "A.md"),
        ("a.xyz", "b", "b.xyz"),
        ("LICENSE", "COPYING", "COPYING"),
        ("a.md", "[[.md", "[[.md"),
        ("d/e\u0301.md", "e\u0301te\u0301", "d/été.md"),
    ],
)
def test_a_new_name_without_a_known_extension_keeps_the_old_one(
    path: str, name: str, target: str
) -> None:
    assert rename(path, name).target == target


@pytest.mark.parametrize("name", ["", "x/y", "..", "a\\b", "a\0", " a", "x" * 256])
def test_a_new_name_is_a_name(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_path"):
        rename("a.md", name)
    with pytest.raises(InvalidRequestError, match="invalid_path"):
        rename_directory("d", name)


def test_a_change_of_case_is_a_renaming() -> None:
    vault = MovingVault({"d/a.md": "x", "n.md": "[[d/a]]"})

    vault.move(rename("d/a.md", "A.md"))
    vault.index()
    vault.move(rename_directory("d", "D"), by="op-2")

    assert vault.texts() == {"D/A.md": "x", "n.md": "[[D/A]]"}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (rename("a.md", "b.md"), "file_exists"),
        (rename("a.md", "a.md"), "file_exists"),
        (rename("e", "d"), "path_taken"),
        (into("a.md", "d"), "file_exists"),
        (into("a.md", "b.md"), "path_taken"),
        (into("d", "b.md"), "path_taken"),
        (rename_directory("d", "f"), "directory_exists"),
        (rename_directory("d", "d"), "directory_exists"),
        (rename_directory("d", "b.md"), "path_taken"),
        (into("d", ""), "directory_exists"),
    ],
)
def test_a_place_that_is_taken_is_refused(request_: MoveRequest, code: str) -> None:
    files = {"a.md": "x", "b.md": "y", "d/a.md": "z", "f/g.md": "", "e": ""}
    vault = MovingVault(files)

    with pytest.raises(ConflictError, match=code):
        vault.preview(request_)
    with pytest.raises(ConflictError, match=code):
        vault.service.run(vault.access(), request_, Confirmed(operation="op"))
    assert vault.texts() == files


def test_a_directory_does_not_move_into_itself() -> None:
    vault = MovingVault({"d/e/a.md": "x"})

    with pytest.raises(InvalidRequestError, match="move_into_itself"):
        vault.preview(into("d", "d"))
    with pytest.raises(InvalidRequestError, match="move_into_itself"):
        vault.preview(into("d", "d/e"))


def test_what_is_not_there_does_not_move() -> None:
    vault = MovingVault({"d/a.md": "x"})

    for request in (rename("b.md", "c.md"), rename("d", "c.md"), into("b.md", "d")):
        with pytest.raises(NotFoundError, match="file_not_found"):
            vault.preview(request)
    for request in (rename_directory("x", "y"), rename_directory("d/a.md", "y")):
        with pytest.raises(NotFoundError, match="directory_not_found"):
            vault.preview(request)


def test_a_reader_moves_nothing() -> None:
    vault = MovingVault({"a.md": "x"})
    reader = vault.access(VaultRole.READER)

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        vault.service.preview(reader, rename("a.md", "b.md"))
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        vault.service.run(reader, rename("a.md", "b.md"), Confirmed(operation="op"))


def test_a_directory_moves_with_all_that_is_in_it_and_empty_directories_too() -> None:
    files = {f"d/{n % 7}/n{n}.md": f"[[n{n + 1}]] [x](n{n + 7}.md)" for n in range(150)}
    vault = MovingVault({**files, "n.md": "[[d/3/n3]] [[n4]]"}, threads=8)
    for empty in ("d/empty/deep", "d/3"):
        vault.store.make_directory(vault.ref, VaultPath(empty))

    result = vault.move(into("d", "archive"))

    moved = {f"archive/{path}": text for path, text in files.items()}
    assert vault.texts() == {**moved, "n.md": "[[archive/d/3/n3]] [[n4]]"}
    assert (result.files, result.relinked) == (150, 1)
    assert not vault.store.list(vault.ref, VaultPath("d"), recursive=False, limit=9).exists
    there = vault.store.list(vault.ref, VaultPath("archive/d/empty"), recursive=False, limit=9)
    assert there.directories == ["archive/d/empty/deep"]


def test_an_empty_directory_moves() -> None:
    vault = MovingVault({})
    vault.store.make_directory(vault.ref, VaultPath("d"))

    vault.move(rename_directory("d", "e"))

    assert vault.store.list(vault.ref, ROOT, recursive=False, limit=9).directories == ["e"]


def test_the_preview_changes_nothing_and_shows_what_goes_where_and_whose_links_follow() -> None:
    secret = "glpat-" + "a1b2c3d4e5" * 2
    files = {"d/a.md": "[x](../n.md)", "n.md": f"{secret}\n[[d/a]]", "o.md": "[[a]]"}
    vault = MovingVault(files)

    preview = vault.preview(rename_directory("d", "e"))

    assert [(one.change, one.path, one.new_path) for one in preview.affected] == [
        (Change.MOVE, "d/", "e/"),
        (Change.RELINK, "n.md", ""),
        (Change.MOVE, "d/a.md", "e/a.md"),
    ]
    assert preview.affected_total == 3
    assert "-[[d/a]]" in preview.diff
    assert "+[[e/a]]" in preview.diff
    assert secret not in preview.diff
    assert preview.summary.en == (
        "Move the directory d to e (files: 1); links follow in other notes: 1."
    )
    assert vault.texts() == files


def test_a_file_that_changed_since_it_was_confirmed_does_not_move() -> None:
    vault = MovingVault({"a.md": "x"})
    pins = vault.preview(rename("a.md", "b.md")).pins
    vault.write("a.md", "newer")

    with pytest.raises(ConflictError, match="conflict") as refused:
        vault.service.run(
            vault.access(), rename("a.md", "b.md"), Confirmed(operation="op", pins=pins)
        )

    assert refused.value.details["etag"] == vault.etags()["a.md"]
    assert vault.texts() == {"a.md": "newer"}


def test_a_tree_that_changed_since_it_was_confirmed_does_not_move() -> None:
    vault = MovingVault({"d/a.md": "x"})
    confirmed = Confirmed(operation="op", pins=vault.preview(rename_directory("d", "e")).pins)
    vault.write("d/b.md", "new")

    with pytest.raises(ConflictError, match="conflict"):
        vault.service.run(vault.access(), rename_directory("d", "e"), confirmed)
    assert vault.etags().keys() == {"d/a.md", "d/b.md"}


def test_no_byte_of_a_note_changes_but_its_links() -> None:
    before = {
        "crlf.md": b"a\r\n[[a]]\r\n",
        "bom.md": b"\xef\xbb\xbf---\r\nup: '[[a]]'\r\n---\r\n[[a]]",
        "utf16.md": "é [[a]]".encode("utf-16"),
        "cp1252.md": "é [[a]]".encode("cp1252"),
        "damaged.md": "é è ê ë à ç ù ï ô û é è ê ë [[a]] ".encode() + b"\xff [[a]]",
    }
    vault = MovingVault({**before, "a.md": "x"})
    (note,) = vault.notes.notes(vault.ref, [VaultPath("utf16.md")]).values()
    vault.notes.put(note, "[[a]]")

    vault.move(rename("a.md", "é.md"))

    def followed(path: str) -> bytes:
        codec = {"utf16.md": "utf-16-le", "cp1252.md": "cp1252"}.get(path, "utf-8")
        return before[path].replace("[[a]]".encode(codec), "[[é]]".encode(codec))

    assert {path: vault.read(path) for path in before} == {path: followed(path) for path in before}


def test_links_that_the_encoding_of_a_note_cannot_hold_are_reported() -> None:
    vault = MovingVault({"n.md": "é [[a]]".encode("cp1252"), "a.md": "x"})

    result = vault.move(rename("a.md", "日本.md"))

    assert (result.relinked, result.unlinked) == (0, ["n.md"])
    assert vault.read("n.md") == "é [[a]]".encode("cp1252")


def test_text_is_read_fresh_where_the_index_is_behind() -> None:
    vault = MovingVault({"a.md": "[[a]]", "n.md": "[[a]]"})
    vault.write("n.md", "new words, [[a]] and [[a]]")
    vault.write("a.md", "self [[a]] twice [[a]]")

    vault.move(rename("a.md", "b.md"))

    assert vault.texts() == {
        "b.md": "self [[b]] twice [[b]]",
        "n.md": "new words, [[b]] and [[b]]",
    }


def test_links_that_the_index_does_not_know_yet_follow_too() -> None:
    vault = MovingVault({"a.md": "x", "gone.md": "[[a]]"})
    vault.write("new.md", "[[a]]")
    vault.delete("gone.md")

    first = vault.move(rename("a.md", "b.md"))
    vault.move(rename("b.md", "c.md"), by="op-2")
    vault.move(into("c.md", "d"), by="op-3")

    assert first.relinked == 1
    assert vault.texts() == {"d/c.md": "x", "new.md": "[[c]]"}


def test_in_a_vault_too_large_to_be_listed_the_index_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("archivolt.vaults.present_notes._MAX_PAGES", 0)
    vault = MovingVault({"d/a.md": "[x](b.md)", "d/b.md": "", "n.md": "[[a]]", "b/c.md": ""})

    vault.move(rename("d/a.md", "c.md"))

    assert vault.texts()["n.md"] == "[[d/c]]"


def test_a_move_of_other_places_is_not_held_up_and_one_of_the_same_tree_is() -> None:
    vault = MovingVault({"d/a.md": "x", "d/b.md": "y", "e/c.md": "z"})
    vault.line.take_down("delete")
    with pytest.raises(UnavailableError):
        vault.move(rename_directory("d", "f"))
    vault.line.calm()

    for request in (rename("d/a.md", "q.md"), into("e/c.md", "f"), into("d", "e")):
        with pytest.raises(ConflictError, match="operation_running"):
            vault.move(request, by="op-2")
    vault.move(rename("e/c.md", "q.md"), by="op-2")
    vault.move(rename_directory("d", "f"), resumed=True)
    vault.index()
    vault.move(into("f", "g"), by="op-3")

    assert vault.etags().keys() == {"g/f/a.md", "g/f/b.md", "e/q.md"}


def test_a_move_that_nobody_came_back_for_is_finished_before_another_of_its_places() -> None:
    vault = MovingVault({"d/a.md": "x", "n.md": "[[d/a]]"})
    vault.line.take_down("delete")
    with pytest.raises(UnavailableError):
        vault.move(rename_directory("d", "f"))
    vault.line.calm()
    vault.clock.advance(minutes=11)

    vault.move(rename_directory("f", "g"), by="op-2")

    assert vault.texts() == {"g/a.md": "x", "n.md": "[[g/a]]"}
    assert vault.operations.unfinished() == []


def test_a_move_that_notes_itself_while_another_is_at_work_gives_way() -> None:
    vault = MovingVault({"d/a.md": "x", "d/b.md": "y"})
    start = vault.operations.start

    def start_after_another(operation: Operation, manifest: Sequence[tuple[str, str]]) -> Operation:
        start(replace(operation, id="op-other"), manifest)
        return start(operation, manifest)

    vault.operations.start = start_after_another
    with pytest.raises(ConflictError, match="operation_running"):
        vault.move(rename_directory("d", "f"))

    assert vault.etags().keys() == {"d/a.md", "d/b.md"}
    assert [one.id for one in vault.operations.unfinished()] == ["op-other"]


def test_a_large_tree_moves_in_several_calls_and_tells_how_far_it_is() -> None:
    vault = MovingVault({f"d/{n}.md": "[[n1]]" for n in range(200)})
    vault.store.before("copy", lambda: vault.clock.advance(seconds=0.5), always=True)
    with pytest.raises(UnavailableError, match="operation_unfinished") as unfinished:
        vault.move(rename_directory("d", "e"))

    assert unfinished.value.details == {"done": 32, "total": 200}
    (operation,) = vault.operations.unfinished()
    assert (operation.done, operation.total) == (64, 400)
    vault.store.before("copy", lambda: None)
    result = vault.move(rename_directory("d", "e"), resumed=True)
    assert (result.files, len(vault.etags()), vault.operations.unfinished()) == (200, 200, [])
    assert all(path.startswith("e/") for path in vault.etags())


def test_the_same_move_again_tells_the_same_and_does_nothing() -> None:
    vault = MovingVault({"a.md": "x", "n.md": "[[a]]"})
    first = vault.move(rename("a.md", "b.md"))
    vault.index()
    versions = len(vault.store.versions(vault.ref, VaultPath("n.md")))

    again = vault.move(rename("a.md", "b.md"), resumed=True)

    assert again == first
    assert len(vault.store.versions(vault.ref, VaultPath("n.md"))) == versions


def test_an_edit_between_copy_and_deletion_moves_too() -> None:
    vault = MovingVault({"d/a.md": "x [[n]] [y](../n.md)", "n.md": "", "i.bin": b"\0old"})
    vault.store.before("delete", lambda: vault.write("d/a.md", "edited [y](../n.md)"))
    vault.move(into("d/a.md", ""))
    vault.store.before("delete", lambda: vault.write("i.bin", b"\0new"))
    vault.move(into("i.bin", "e"), by="op-2")

    assert vault.texts() == {"a.md": "edited [y](n.md)", "n.md": "", "e/i.bin": "\0new"}


def test_an_edit_between_reading_and_copying_moves_too() -> None:
    vault = MovingVault({"a.md": "x", "i.bin": b"\0old"})
    vault.store.before("copy", lambda: vault.write("a.md", "edited"))
    vault.move(into("a.md", "e"))
    vault.store.before("copy", lambda: vault.write("i.bin", b"\0new"))
    vault.move(into("i.bin", "e"), by="op-2")

    assert vault.texts() == {"e/a.md": "edited", "e/i.bin": "\0new"}


def test_a_linking_note_edited_meanwhile_keeps_the_edit() -> None:
    vault = MovingVault({"a.md": "x", "n.md": "[[a]]"})
    vault.store.before("replace", lambda: vault.write("n.md", "edited [[a]]"))

    vault.move(rename("a.md", "b.md"))

    assert vault.texts() == {"b.md": "x", "n.md": "edited [[b]]"}


def test_a_file_that_takes_the_new_place_meanwhile_stays_and_so_does_the_old_one() -> None:
    vault = MovingVault({"a.md": "x", "n.md": "[[a]]"})
    vault.store.before("copy", lambda: vault.write("b.md", "other"))

    with pytest.raises(ConflictError, match="file_exists"):
        vault.move(rename("a.md", "b.md"))

    assert vault.texts() == {"a.md": "x", "b.md": "other", "n.md": "[[a]]"}


def test_files_that_appear_in_a_moving_directory_stay_and_are_reported() -> None:
    vault = MovingVault({"d/a.md": "x"})
    vault.store.before("delete", lambda: vault.write("d/new.md", "new"))

    result = vault.move(rename_directory("d", "e"))

    assert vault.texts() == {"e/a.md": "x", "d/new.md": "new"}
    assert (result.files, result.kept) == (1, ["d/new.md"])


def test_where_both_places_change_meanwhile_both_stay() -> None:
    vault = MovingVault({"d/a.md": "x", "d/b.md": "y"})

    def edit_both() -> None:
        vault.write("d/a.md", "old place")
        vault.write("e/a.md", "new place")

    vault.store.before("delete", edit_both)
    result = vault.move(rename_directory("d", "e"))

    assert vault.texts() == {"d/a.md": "old place", "e/a.md": "new place", "e/b.md": "y"}
    assert (result.files, result.kept) == (1, ["d/a.md"])


def test_a_file_deleted_meanwhile_does_not_come_back() -> None:
    vault = MovingVault({"d/a.md": "x", "d/b.md": "y"})
    vault.store.before("copy", lambda: vault.delete("d/a.md"))

    vault.move(rename_directory("d", "e"))

    assert vault.texts() == {"e/b.md": "y"}


def test_a_version_that_another_operation_wrote_is_not_taken_for_ours() -> None:
    vault = MovingVault({"a.md": "x", "n.md": "[[a]]"})
    marks = WriteMarks(operation="op-0")
    vault.store.replace(
        vault.ref, VaultPath("n.md"), b"[[a]] 2", expected=vault.etags()["n.md"], marks=marks
    )

    vault.move(rename("a.md", "b.md"))

    assert vault.texts()["n.md"] == "[[b]] 2"


def test_what_took_the_place_of_a_confirmed_file_does_not_move_instead() -> None:
    vault = MovingVault({"a": "x", "b.md": "y"})
    confirmed = Confirmed(operation="op", pins=vault.preview(into("a", "d")).pins)
    vault.delete("a")
    vault.write("a/new.md", "z")

    with pytest.raises(ConflictError, match="conflict"):
        vault.service.run(vault.access(), into("a", "d"), confirmed)
    assert vault.texts() == {"a/new.md": "z", "b.md": "y"}
