"""Listing and reading files, whatever their names, encodings and sizes."""

import pytest

from archivolt.domain.errors import (
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.limits import (
    MAX_INLINE_CONTENT_BYTES,
    MAX_RAW_RESPONSE_BYTES,
    MAX_READ_BYTES,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultAccess
from tests.builders import ALICE, BOB, principal
from tests.world import World

SECRET = "glpat-" + "a1b2c3d4e5" * 2


class Desk:
    """A vault of Alice that Bob reads."""

    def __init__(self) -> None:
        self.world = World()
        self.ref = self.world.vault("notes")
        self.world.share(self.ref, principal(BOB))
        self.files = self.world.files

    def access(self, user: str = ALICE) -> VaultAccess:
        return self.world.vaults.access(principal(user), "notes")

    def put(self, path: str, data: str | bytes) -> VaultPath:
        content = data.encode() if isinstance(data, str) else data
        self.world.store.create(self.ref, VaultPath(path), content)
        return VaultPath(path)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_directory_shows_what_is_directly_in_it(desk: Desk) -> None:
    for path in ("b.md", "a/deep/x.md", "a/y.md"):
        desk.put(path, "text")

    root = desk.files.list_directory(desk.access(), ROOT)
    inside = desk.files.list_directory(desk.access(), VaultPath("a"))

    assert ([f.path for f in root.files], root.directories) == (["b.md"], ["a"])
    assert ([f.path for f in inside.files], inside.directories) == (["a/y.md"], ["a/deep"])


def test_an_empty_vault_has_a_root_and_nothing_else(desk: Desk) -> None:
    assert desk.files.list_directory(desk.access(), ROOT).files == []
    with pytest.raises(NotFoundError, match="directory_not_found"):
        desk.files.list_directory(desk.access(), VaultPath("a"))


def test_pages_of_a_listing_hold_every_file_once(desk: Desk) -> None:
    paths = [f"d{n % 3}/n{n}.md" for n in range(10)]
    for path in paths:
        desk.put(path, "text")

    seen: list[str] = []
    after: str | None = None
    while True:
        page = desk.files.list_directory(desk.access(), ROOT, recursive=True, limit=3, after=after)
        seen += [file.path for file in page.files]
        after = page.next_after
        if after is None:
            break

    assert seen == sorted(paths)


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
    ],
)
def test_text_is_read_in_the_encoding_it_was_written_in(
    desk: Desk, encoding: str, told: str
) -> None:
    text = "L'été où Noël était à Sète, la forêt brûlait près de l'âtre.\r\n" * 20
    path = desk.put("été.txt", text.encode(encoding))

    part = desk.files.read_text(desk.access(), path)

    assert part.text == text
    assert part.encoding == told


def test_old_text_of_another_alphabet_is_read(desk: Desk) -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20

    assert (
        desk.files.read_text(desk.access(), desk.put("a.txt", text.encode("cp1251"))).text == text
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"%PDF-1.7\n\x01\x02\x03\x04\x05" * 9,
        b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n",
        b"\x00" * 9,
    ],
)
def test_what_is_not_text_says_so(desk: Desk, data: bytes) -> None:
    with pytest.raises(UnsupportedContentError, match="file_not_text"):
        desk.files.read_text(desk.access(), desk.put("image.md", data))


def test_a_note_that_speaks_of_pdf_is_text(desk: Desk) -> None:
    path = desk.put("pdf.md", "A file begins with %PDF-1.4.\n")

    assert desk.files.read_text(desk.access(), path).text == "A file begins with %PDF-1.4.\n"


def test_an_empty_file_is_an_empty_text(desk: Desk) -> None:
    part = desk.files.read_text(desk.access(), desk.put("empty.md", b""))

    assert (part.text, part.total_chars, part.next_offset) == ("", 0, None)


def test_parts_of_a_text_make_the_whole(desk: Desk) -> None:
    text = "".join(f"ligne {n} : été 🌞\n" for n in range(100))
    path = desk.put("long.md", text)

    read, offset = "", 0
    while offset is not None:
        part = desk.files.read_text(desk.access(), path, offset=offset, limit=77)
        read += part.text
        offset = part.next_offset

    assert read == text


def test_one_read_returns_no_more_than_the_quota(desk: Desk) -> None:
    path = desk.put("wide.md", "é" * MAX_READ_BYTES)

    part = desk.files.read_text(desk.access(), path)

    assert len(part.text.encode()) == MAX_READ_BYTES
    assert part.next_offset == len(part.text)


def test_an_offset_past_the_end_reads_nothing(desk: Desk) -> None:
    part = desk.files.read_text(desk.access(), desk.put("a.md", "abc"), offset=10)

    assert (part.text, part.next_offset, part.total_chars) == ("", None, 3)


def test_a_secret_is_hidden_wherever_a_part_begins(desk: Desk) -> None:
    path = desk.put("env.md", f"first\n{SECRET}\nlast")
    shown = "first\n[redacted:gitlab-token]\nlast"

    for offset in range(len(shown)):
        part = desk.files.read_text(desk.access(), path, offset=offset)
        assert part.text == shown[offset:]
        assert part.redactions == 1


def test_a_text_over_five_megabytes_is_refused_with_its_size(desk: Desk) -> None:
    path = desk.put("huge.md", b"a" * (MAX_INLINE_CONTENT_BYTES + 1))

    with pytest.raises(TooLargeError) as caught:
        desk.files.read_text(desk.access(), path)
    assert caught.value.details["size"] == MAX_INLINE_CONTENT_BYTES + 1


def test_an_absent_file_is_not_found(desk: Desk) -> None:
    for read in (desk.files.read_text, desk.files.read_masked_bytes, desk.files.read_bytes):
        with pytest.raises(NotFoundError, match="file_not_found"):
            read(desk.access(), VaultPath("absent.md"))


def test_parts_of_bytes_make_the_whole(desk: Desk) -> None:
    data = bytes(range(256)) * 10
    path = desk.put("data.bin", data)

    read, offset = b"", 0
    while offset is not None:
        part = desk.files.read_masked_bytes(desk.access(), path, offset=offset, limit=100)
        read += part.data
        offset = part.next_offset

    assert read == data


@pytest.mark.parametrize("start", [0, 1, 9_000, 9_005, 9_025])
def test_a_secret_in_bytes_is_masked_wherever_a_part_begins(desk: Desk, start: int) -> None:
    data = b"x" * 8_999 + f"\n{SECRET}\n".encode() + b"y" * 100
    path = desk.put("env.txt", data)

    part = desk.files.read_masked_bytes(desk.access(), path, offset=start)

    assert part.data == data.replace(SECRET.encode(), b"*" * len(SECRET))[start:]


def test_a_persons_own_bytes_are_whole(desk: Desk) -> None:
    path = desk.put("env.txt", SECRET)

    content = desk.files.read_bytes(desk.access(), path)

    assert content.data == SECRET.encode()
    assert content.info.content_type == "text/plain"


def test_bytes_that_no_answer_holds_are_read_in_parts(desk: Desk) -> None:
    path = desk.put("film.mp4", b"\x00" * (MAX_RAW_RESPONSE_BYTES + 1))

    with pytest.raises(TooLargeError, match="file_too_large"):
        desk.files.read_bytes(desk.access(), path)
    part = desk.files.read_bytes(desk.access(), path, offset=MAX_RAW_RESPONSE_BYTES, limit=10)
    assert part.data == b"\x00"
