"""Creating, editing and extending files: nothing is lost, and nothing happens twice."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.partial_reads import etag_of_part
from archivolt.domain.paths import VaultPath
from archivolt.domain.redaction import redact
from tests.builders import BOB
from tests.unit.vaults.desk import Desk

SECRET = "hunter2!" + "xyz"
A = VaultPath("a.md")
LONG = "".join(f"Line {n} of a long note, with words enough.\n" for n in range(400))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(ArchivoltError) as caught:
        call()
    return caught.value.code


def test_a_new_file_is_written_once(desk: Desk) -> None:
    preview = desk.mutations.preview_create(desk.access(), VaultPath("new/été.md"), "# Été\n")
    info = desk.mutations.create(
        desk.access(), VaultPath("new/été.md"), "# Été\n", desk.confirmed(pins=preview.pins)
    )

    assert preview.pins == {"new/été.md": ""}
    assert "+# Été" in preview.diff
    assert desk.contents("new/été.md") == ["# Été\n"]
    assert (info.content_type, info.etag) == ("text/markdown", desk.etag("new/été.md"))


def test_a_file_that_exists_is_not_created_again(desk: Desk) -> None:
    desk.put("a.md", "first")

    assert code_of(lambda: desk.mutations.preview_create(desk.access(), A, "x")) == "file_exists"
    with pytest.raises(ConflictError, match="file_exists"):
        desk.mutations.create(desk.access(), A, "x", desk.confirmed(pins={A: ""}))
    assert desk.contents(A) == ["first"]


@pytest.mark.parametrize("taken", ["a", "a/b.md/c.md", "a/b.md/c/d.md", "empty"])
def test_no_name_is_both_a_file_and_a_directory(desk: Desk, taken: str) -> None:
    desk.put("a/b.md", "text")
    desk.mutations.create_directory(desk.access(), VaultPath("empty"))

    for call in (desk.mutations.preview_create, desk.mutations.create):
        rest = () if call == desk.mutations.preview_create else (desk.confirmed(),)
        with pytest.raises(ConflictError, match="path_taken"):
            call(desk.access(), VaultPath(taken), "text", *rest)  # type: ignore[operator]


def test_a_directory_is_made_and_seen(desk: Desk) -> None:
    desk.put("a/b.md", "text")
    new = VaultPath("a/empty")

    assert desk.mutations.preview_directory(desk.access(), new).affected[0].path == "a/empty/"
    desk.mutations.create_directory(desk.access(), new)
    desk.mutations.create_directory(desk.access(), new)

    listed = desk.world.files.list_directory(desk.access(), VaultPath("a"))
    assert listed.directories == [new]
    assert desk.world.files.list_directory(desk.access(), new).files == []
    taken = VaultPath("a/b.md")
    for path, code in [(new, "directory_exists"), (taken, "path_taken")]:
        assert code_of(lambda p=path: desk.mutations.preview_directory(desk.access(), p)) == code
    with pytest.raises(ConflictError, match="path_taken"):
        desk.mutations.create_directory(desk.access(), taken)


def test_an_edit_replaces_the_text_and_leaves_the_old_one_behind(desk: Desk) -> None:
    desk.put("a.md", "one\ntwo\n")
    preview = desk.mutations.preview_edit(desk.access(), A, "one\n2\n")

    desk.mutations.edit(desk.access(), A, "one\n2\n", desk.confirmed(pins=preview.pins))

    assert "-two\n+2\n" in preview.diff
    assert desk.contents(A) == ["one\ntwo\n", "one\n2\n"]


def test_an_edit_of_a_version_that_is_gone_is_a_conflict_that_shows_the_difference(
    desk: Desk,
) -> None:
    desk.put("a.md", "one\n")
    confirmed = desk.confirmed("a.md")
    desk.put("a.md", f"another\npassword: {SECRET}\n")

    with pytest.raises(ConflictError, match="conflict") as caught:
        desk.mutations.edit(desk.access(), A, "mine\n", confirmed)

    details = caught.value.details
    assert details["etag"] == desk.etag("a.md")
    assert "-another" in str(details["diff"])
    assert "+mine" in str(details["diff"])
    assert SECRET not in str(details)
    assert desk.contents(A) == ["one\n", f"another\npassword: {SECRET}\n"]


def test_an_etag_that_is_not_current_is_a_conflict_when_proposed(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    old = desk.etag("a.md")
    desk.put("a.md", "two\n")

    for preview in (desk.mutations.preview_edit, desk.mutations.preview_append):
        with pytest.raises(ConflictError) as caught:
            preview(desk.access(), A, "three\n", etag=old)
        assert caught.value.details["etag"] == desk.etag("a.md")
        assert preview(desk.access(), A, "three\n", etag=f'"{desk.etag("a.md")}"')


def test_a_writer_who_is_faster_loses_nothing(desk: Desk) -> None:
    desk.put("a.md", "start\n")
    confirmed = [desk.confirmed("a.md") for _ in range(8)]
    outcomes: list[str] = []

    def edit(number: int) -> None:
        try:
            desk.mutations.edit(desk.access(), A, f"{number}\n", confirmed[number])
            outcomes.append("done")
        except ConflictError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=edit, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["conflict"] * 7 + ["done"]
    assert len(desk.contents(A)) == 2


def test_secrets_that_an_edit_only_names_stay(desk: Desk) -> None:
    old = f"# Title\r\npassword: {SECRET}\r\n"
    desk.put("a.md", b"\xef\xbb\xbf" + old.encode())
    seen = redact(old).text.replace("# Title", "# Neuf").replace("\r\n", "\n")

    preview = desk.mutations.preview_edit(desk.access(), A, seen)
    desk.mutations.edit(desk.access(), A, seen, desk.confirmed(pins=preview.pins))

    assert SECRET not in preview.diff
    assert desk.files.read(desk.ref, A).data == (
        b"\xef\xbb\xbf" + old.replace("# Title", "# Neuf").encode()
    )


@pytest.mark.parametrize("content", ["token: [redacted:jwt]\n", "The word: [redacted:secret]\n"])
def test_a_placeholder_for_no_secret_writes_nothing(desk: Desk, content: str) -> None:
    desk.put("a.md", f"password: {SECRET}\n")

    for preview in (desk.mutations.preview_edit, desk.mutations.preview_append):
        with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
            preview(desk.access(), A, content)
    with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
        desk.mutations.edit(desk.access(), A, content, desk.confirmed("a.md"))
    assert len(desk.contents(A)) == 1


def test_an_edit_that_changes_nothing_writes_nothing(desk: Desk) -> None:
    desk.put("a.md", "text\n")
    preview = desk.mutations.preview_edit(desk.access(), A, "text\n")

    desk.mutations.edit(desk.access(), A, "text\n", desk.confirmed(pins=preview.pins))

    assert preview.summary.en.endswith("Nothing changes.")
    assert len(desk.contents(A)) == 1


PIECES = [
    f"password: {SECRET}",
    "api_key = " + "a1b2c3d4" * 4,
    "été",
    "a",
    "\n",
    "\r\n",
    "\ufeff",
    "",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=9),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_writing_back_what_was_read_leaves_every_byte(pieces: list[str], encoding: str) -> None:
    desk = Desk()
    data = "".join(pieces).encode(encoding, "ignore")
    desk.put("a.md", data)
    shown = desk.world.files.read_text(desk.access(), A).text

    preview = desk.mutations.preview_edit(desk.access(), A, shown)
    desk.mutations.edit(desk.access(), A, shown, desk.confirmed(pins=preview.pins))

    assert desk.files.read(desk.ref, A).data == data


def test_a_change_of_a_secret_alone_is_told_and_not_shown(desk: Desk) -> None:
    desk.put("a.md", f"password: {SECRET}\n")

    preview = desk.mutations.preview_edit(desk.access(), A, "password: " + "other9!word" + "\n")

    assert preview.diff == ""
    assert "Only secrets" in preview.summary.en


@pytest.mark.parametrize(
    "content",
    [
        LONG[:8_000],
        LONG[:8_000].replace("Line 3 ", "Row 3 "),
        LONG[: LONG.index("Line 150")] + "... the rest stays ...\n",
        LONG[: LONG.index("Line 150")] + "[…]\n",
        LONG + "Cut to fit: call again with offset = 7,000 to read on.",
        LONG + "Coupé pour tenir : rappelez avec offset = 7000 pour lire la suite.",
    ],
)
def test_a_text_that_has_only_the_first_part_of_its_file_is_refused(
    desk: Desk, content: str
) -> None:
    desk.put("a.md", LONG)
    etag = desk.etag("a.md")

    with pytest.raises(InvalidRequestError, match="edit_of_partial_read"):
        desk.mutations.preview_edit(desk.access(), A, content)
    with pytest.raises(InvalidRequestError, match="edit_of_partial_read"):
        desk.mutations.preview_edit(desk.access(), A, content, etag=etag_of_part(etag))
    assert desk.mutations.preview_edit(desk.access(), A, content, etag=etag)


@pytest.mark.parametrize(
    "content",
    ["", "A new text.\n", LONG.replace("Line 7 ", "Row 7 "), LONG + "More.\n", "Zero\n" + LONG],
)
def test_an_edit_that_knows_the_end_is_accepted(desk: Desk, content: str) -> None:
    desk.put("a.md", LONG)

    assert desk.mutations.preview_edit(desk.access(), A, content)


def test_a_short_file_may_lose_its_end(desk: Desk) -> None:
    desk.put("a.md", "one\ntwo\nthree\n")

    assert desk.mutations.preview_edit(desk.access(), A, "one\n")


def test_a_pin_from_a_part_of_a_file_writes_nothing(desk: Desk) -> None:
    desk.put("a.md", LONG)
    confirmed = desk.confirmed(pins={A: etag_of_part(desk.etag("a.md"))})

    with pytest.raises(InvalidRequestError, match="edit_of_partial_read"):
        desk.mutations.edit(desk.access(), A, LONG + "More.\n", confirmed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"one\n", b"one\ntwo\n"),
        (b"one", b"one\ntwo\n"),
        (b"", b"two\n"),
        (b"one\r\nand", b"one\r\nand\r\ntwo\r\n"),
        ("été\n".encode("utf-16"), "été\n".encode("utf-16") + "two\n".encode("utf-16-le")),
        (b"cass\xe9 \xc3\xa9t\xc3\xa9 " * 9, b"cass\xe9 \xc3\xa9t\xc3\xa9 " * 9 + b"\ntwo\n"),
    ],
)
def test_what_is_appended_stands_on_a_line_of_its_own(desk: Desk, old: bytes, new: bytes) -> None:
    desk.put("a.md", old)
    preview = desk.mutations.preview_append(desk.access(), A, "two\n")

    desk.mutations.append(desk.access(), A, "two\n", desk.confirmed(pins=preview.pins))

    assert "+two" in preview.diff
    assert desk.files.read(desk.ref, A).data == new


def test_an_append_goes_to_the_end_of_what_the_file_is_by_now(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    confirmed = desk.confirmed("a.md")
    desk.put("a.md", "one\nother\n")

    desk.mutations.append(desk.access(), A, "two\n", confirmed)
    desk.mutations.append(desk.access(), A, "two\n", confirmed)

    assert desk.contents(A) == ["one\n", "one\nother\n", "one\nother\ntwo\n"]


def test_appends_at_the_same_time_are_all_there(desk: Desk) -> None:
    desk.put("a.md", "start\n")
    confirmed = [desk.confirmed("a.md") for _ in range(6)]

    def append(number: int) -> None:
        desk.mutations.append(desk.access(), A, f"{number}\n", confirmed[number])

    threads = [threading.Thread(target=append, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted((desk.text("a.md") or "").split()) == [*"012345", "start"]


def test_an_append_may_name_a_secret_of_the_file(desk: Desk) -> None:
    desk.put("a.md", f"password: {SECRET}")

    desk.mutations.append(desk.access(), A, "password: [redacted:secret]", desk.confirmed("a.md"))

    assert desk.text("a.md") == f"password: {SECRET}\npassword: {SECRET}"


def test_a_file_that_is_gone_is_not_found(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    confirmed = desk.confirmed("a.md")
    desk.files.delete(desk.ref, A, expected=desk.etag("a.md"))

    for change in (desk.mutations.edit, desk.mutations.append):
        with pytest.raises(NotFoundError, match="file_not_found"):
            change(desk.access(), A, "two\n", confirmed)


def test_what_is_no_text_or_too_long_is_refused(desk: Desk) -> None:
    desk.put("a.md", b"\x00\x01")
    for change in (desk.mutations.edit, desk.mutations.append):
        with pytest.raises(UnsupportedContentError, match="file_not_text"):
            change(desk.access(), A, "x", desk.confirmed("a.md"))
    desk.put("a.md", "x" * MAX_INLINE_CONTENT_BYTES)
    for change in (desk.mutations.edit, desk.mutations.append):
        with pytest.raises(TooLargeError, match="content_too_large"):
            change(desk.access(), A, "é" * MAX_INLINE_CONTENT_BYTES, desk.confirmed("a.md"))
        with pytest.raises(InvalidRequestError, match="invalid_request"):
            change(desk.access(), A, "\ud800", desk.confirmed("a.md"))
    with pytest.raises(TooLargeError, match="content_too_large"):
        desk.mutations.create(
            desk.access(), VaultPath("b.md"), "x" * (MAX_INLINE_CONTENT_BYTES + 1), desk.confirmed()
        )


def test_a_reader_changes_nothing(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    confirmed, access = desk.confirmed("a.md"), desk.access(BOB)

    calls: list[Callable[[], object]] = [
        lambda: desk.mutations.preview_create(access, VaultPath("b.md"), "x"),
        lambda: desk.mutations.create(access, VaultPath("b.md"), "x", confirmed),
        lambda: desk.mutations.preview_directory(access, VaultPath("b")),
        lambda: desk.mutations.create_directory(access, VaultPath("b")),
        lambda: desk.mutations.preview_edit(access, A, "x"),
        lambda: desk.mutations.edit(access, A, "x", confirmed),
        lambda: desk.mutations.preview_append(access, A, "x"),
        lambda: desk.mutations.append(access, A, "x", confirmed),
    ]
    for call in calls:
        with pytest.raises(ForbiddenError, match="vault_read_only"):
            call()


def test_a_creation_that_died_is_finished_once(desk: Desk) -> None:
    def create(confirmed: Confirmed) -> None:
        desk.mutations.create(desk.access(), A, "text\n", confirmed)

    died = desk.survive(create, desk.confirmed(pins={A: ""}))

    assert died > 4
    assert desk.contents(A) == ["text\n"]


def test_an_edit_that_died_is_finished_once(desk: Desk) -> None:
    desk.put("a.md", "one\n")

    died = desk.survive(
        lambda confirmed: desk.mutations.edit(desk.access(), A, "two\n", confirmed),
        desk.confirmed("a.md"),
    )

    assert died > 2
    assert desk.contents(A) == ["one\n", "two\n"]


def test_an_append_that_died_is_finished_once(desk: Desk) -> None:
    desk.put("a.md", "one\n")

    died = desk.survive(
        lambda confirmed: desk.mutations.append(desk.access(), A, "two\n", confirmed),
        desk.confirmed("a.md"),
    )

    assert died > 4
    assert desk.contents(A) == ["one\n", "one\ntwo\n"]


def test_a_change_that_is_done_is_known_below_later_ones(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    edit, append = desk.confirmed("a.md"), desk.confirmed("a.md")
    new = desk.confirmed(pins={"b.md": ""})
    desk.mutations.edit(desk.access(), A, "two\n", edit)
    desk.mutations.append(desk.access(), A, "more\n", append)
    desk.mutations.create(desk.access(), VaultPath("b.md"), "x", new)
    desk.put("a.md", "other\n")
    desk.put("b.md", "other\n")

    desk.mutations.edit(desk.access(), A, "two\n", edit)
    desk.mutations.append(desk.access(), A, "more\n", append)
    desk.mutations.create(desk.access(), VaultPath("b.md"), "x", new)

    assert desk.contents(A) == ["one\n", "two\n", "two\nmore\n", "other\n"]
    assert desk.contents("b.md") == ["x", "other\n"]


def test_a_resumed_change_knows_that_it_was_done_and_undone(desk: Desk) -> None:
    desk.put("a.md", "one\n")
    edit, append = desk.confirmed("a.md"), desk.confirmed("a.md")
    desk.mutations.edit(desk.access(), A, "two\n", edit)
    desk.put("a.md", "one\n")
    desk.mutations.append(desk.access(), A, "more\n", append)
    desk.put("a.md", "one\n")
    before = desk.contents("a.md")

    desk.mutations.edit(desk.access(), A, "two\n", replace(edit, resumed=True))
    desk.mutations.append(desk.access(), A, "more\n", replace(append, resumed=True))

    assert desk.contents("a.md") == before


def test_a_resumed_creation_leaves_alone_what_was_deleted_since(desk: Desk) -> None:
    confirmed = desk.confirmed(pins={"a.md": ""})
    made = desk.mutations.create(desk.access(), A, "one\n", confirmed)
    desk.files.delete(desk.ref, A, expected=made.etag)

    again = desk.mutations.create(desk.access(), A, "one\n", replace(confirmed, resumed=True))

    assert again.version == made.version
    assert desk.contents("a.md") == ["one\n", None]
