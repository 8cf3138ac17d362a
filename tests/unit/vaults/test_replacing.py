"""Replacing in many files: fresh text, only as confirmed, and no secret within reach."""

import threading

import pytest

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.domain import limits
from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    TooLargeError,
    UnavailableError,
)
from archivolt.domain.ingestion import Generation
from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.paths import VaultPath
from archivolt.domain.redaction import mask_text
from archivolt.ports.notes import Note
from archivolt.vaults import replacing
from archivolt.vaults.replaced_text import Replacing
from archivolt.vaults.replacing import ReplacingService
from tests.builders import BOB
from tests.fakes.clock import START
from tests.fakes.files import InMemoryFiles
from tests.fakes.notes import InMemoryNotes
from tests.unit.vaults.desk import Desk

SECRET = "hunter2!" + "xyz"


class Shop(Desk):
    """A desk whose files are indexed."""

    def __init__(self) -> None:
        super().__init__()
        self.notes = InMemoryNotes()
        self.replacing = self.service(self.store)

    def service(self, store: InMemoryFiles) -> ReplacingService:
        """Return the service over other files."""
        return ReplacingService(
            store, self.notes, self.world.catalogue, Re2Patterns(), self.world.clock
        )

    def add(self, path: str, data: str | bytes, indexed: str | None = None) -> None:
        """Write a file and index it; `indexed` is its extracted text where that is another."""
        place = self.put(path, data)
        note = Note(
            vault=self.ref,
            path=place,
            generation=Generation("g"),
            size=len(data),
            created=START,
            modified=START,
        )
        self.notes.put(note, mask_text(indexed or (data if isinstance(data, str) else "")))

    def replace(self, asked: Replacing) -> dict[str, int]:
        """Propose and apply; return the replacements by path."""
        preview = self.replacing.preview(self.access(), asked)
        done = self.replacing.replace(self.access(), asked, self.confirmed(pins=preview.pins))
        return {file.path: file.occurrences for file in done.files}


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_every_occurrence_in_every_file_is_replaced(shop: Shop) -> None:
    shop.add("a.md", "one two One\n")
    shop.add("b/c.md", "no ONE\r\n")
    shop.add("d.md", "nothing\n")
    asked = Replacing(find="one", replace="1")

    dry = shop.replacing.dry_run(shop.access(), asked)
    done = shop.replace(asked)

    assert {file.path: file.occurrences for file in dry.files} == done == {"a.md": 2, "b/c.md": 1}
    assert "-one two One\n+1 two 1\n" in dry.files[0].diff
    assert shop.contents("a.md") == ["one two One\n", "1 two 1\n"]
    assert shop.text("b/c.md") == "no 1\r\n"
    assert shop.contents("d.md") == ["nothing\n"]


@pytest.mark.parametrize(
    ("asked", "after"),
    [
        (Replacing(find="creer", replace="faire"), "faire, faire; faireez\n"),
        (Replacing(find="créer", replace="faire", case_sensitive=True), "Creer, faire; faireez\n"),
        (
            Replacing(find="creer", replace="faire", whole_word=True),
            "faire, faire; créerez\n",
        ),
        (Replacing(find="creer", replace="faire", replace_all=False), "faire, créer; créerez\n"),
        (Replacing(find="cre+r(ez)?", replace="<$0>", regex=True), "<Creer>, <créer>; <créerez>\n"),
        (Replacing(find=".", replace="$1"), "Creer, créer; créerez\n"),
    ],
)
def test_the_options_mean_what_they_say(shop: Shop, asked: Replacing, after: str) -> None:
    shop.add("a.md", "Creer, créer; créerez\n")

    shop.replace(asked)

    assert shop.text("a.md") == after


def test_the_preview_says_what_is_replaced_by_what_and_how_often(shop: Shop) -> None:
    shop.add("a.md", "one two One\n")
    shop.add("b.md", f"one\npassword: {SECRET}\n")

    told = shop.replacing.preview(shop.access(), Replacing(find="one", replace="1")).summary
    assert told.en == "Replace “one” with “1” (occurrences: 3, files: 2)."
    assert told.fr == "Remplacer « one » par « 1 » (occurrences : 3, fichiers : 2)."

    nothing = shop.replacing.preview(shop.access(), Replacing(find="absent", replace="1")).summary
    assert "nothing is replaced" in nothing.en


def test_the_preview_names_no_secret_and_no_long_text_whole(shop: Shop) -> None:
    shop.add("a.md", "one\n")
    asked = Replacing(find="one", replace=f"{'x ' * 30}password: {SECRET}")

    told = shop.replacing.preview(shop.access(), asked).summary
    assert SECRET[:4] not in told.en
    assert "…” (occurrences: 1" in told.en


def test_paths_narrow_it(shop: Shop) -> None:
    for path in ("a.md", "b.txt", "drafts/c.md"):
        shop.add(path, "one\n")
    asked = Replacing(find="one", replace="1", include_paths=("*.md",), exclude_paths=("drafts/",))

    assert shop.replace(asked) == {"a.md": 1}


def test_a_pattern_or_a_replacement_that_cannot_be_is_refused(shop: Shop) -> None:
    shop.add("a.md", "one\n")

    for asked in (
        Replacing(find="(", replace="", regex=True),
        Replacing(find="(?=a)", replace="", regex=True),
        Replacing(find="(o)", replace="$2", regex=True),
    ):
        with pytest.raises(InvalidRequestError, match="invalid_pattern"):
            shop.replacing.preview(shop.access(), asked)
    with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
        shop.replacing.preview(shop.access(), Replacing(find="one", replace="[redacted:secret]"))
    assert shop.contents("a.md") == ["one\n"]


@pytest.mark.parametrize(
    ("find", "regex"),
    [("hunter", False), ("h[a-z]+2", True), ("password: h", False), ("**", False), ("*", False)],
)
def test_no_pattern_finds_a_secret_nor_takes_a_piece_of_one_away(
    shop: Shop, find: str, *, regex: bool
) -> None:
    text = f"password: {SECRET}\n"
    shop.add("a.md", text)

    assert shop.replace(Replacing(find=find, replace="x", regex=regex)) == {}
    assert shop.contents("a.md") == [text]


@pytest.mark.parametrize("find", ["password: ", "word: "])
def test_no_secret_loses_what_hides_it(shop: Shop, find: str) -> None:
    shop.add("a.md", f"password: {SECRET}\n")

    found = shop.replacing.dry_run(shop.access(), Replacing(find=find, replace=""))

    assert [(skip.path, skip.reason) for skip in found.skipped] == [("a.md", "secret_would_show")]
    assert list(found.files) == []


def test_no_diff_shows_a_secret(shop: Shop) -> None:
    shop.add("a.md", f"one password: {SECRET}\n")

    preview = shop.replacing.preview(shop.access(), Replacing(find="one", replace="two"))

    assert "+two password: [redacted:" in preview.diff


def test_the_text_is_read_fresh_and_the_form_of_the_file_is_kept(shop: Shop) -> None:
    shop.add("a.md", "one\n")
    shop.put("a.md", b"\xef\xbb\xbfno\r\n\xc3\xa9t\xc3\xa9 one\n")
    shop.add("gone.md", "one\n")
    shop.files.delete(shop.ref, VaultPath("gone.md"), expected=shop.etag("gone.md"))
    shop.add("other.md", "one\n")
    shop.put("other.md", "two\n")

    assert shop.replace(Replacing(find="one", replace="1\n")) == {"a.md": 1}
    assert shop.files.read(shop.ref, VaultPath("a.md")).data == (
        b"\xef\xbb\xbfno\r\n\xc3\xa9t\xc3\xa9 1\n\n"
    )


def test_what_cannot_be_changed_is_told_with_the_reason(
    shop: Shop,
) -> None:
    shop.add("a.pdf", b"%PDF\x00\x01", indexed="one in a document")
    shop.add("large.md", "one" + "x" * MAX_INLINE_CONTENT_BYTES)
    shop.add("ok.md", "one\n")

    found = shop.replacing.dry_run(shop.access(), Replacing(find="one", replace="1"))

    assert [file.path for file in found.files] == ["ok.md"]
    assert [(skip.path, skip.reason) for skip in found.skipped] == [
        ("a.pdf", "not_a_text"),
        ("large.md", "too_large_to_change"),
    ]


def test_a_file_that_changed_since_stays_and_the_others_do_not(shop: Shop) -> None:
    shop.add("a.md", "one\n")
    shop.add("b.md", "one\n")
    shop.add("c.md", "one\n")
    shop.add("d.md", "one\n")
    asked = Replacing(find="one", replace="1")
    preview = shop.replacing.preview(shop.access(), asked)
    shop.put("a.md", "one and more\n")
    shop.files.delete(shop.ref, VaultPath("c.md"), expected=shop.etag("c.md"))
    shop.put("d.md", "x" * (MAX_INLINE_CONTENT_BYTES + 1))

    done = shop.replacing.replace(shop.access(), asked, shop.confirmed(pins=preview.pins))

    assert [file.path for file in done.files] == ["b.md"]
    assert [(skip.path, skip.reason) for skip in done.skipped] == [
        ("a.md", "changed_since"),
        ("c.md", "changed_since"),
        ("d.md", "changed_since"),
    ]
    assert shop.text("a.md") == "one and more\n"


def test_a_replacement_that_died_is_finished_once_and_told_as_a_whole(shop: Shop) -> None:
    for number in range(3):
        shop.add(f"{number}.md", "one one\n")
    asked = Replacing(find="one", replace="one one")
    preview = shop.replacing.preview(shop.access(), asked)
    confirmed = shop.confirmed(pins=preview.pins)

    def replace(again: Confirmed) -> None:
        shop.replacing.replace(shop.access(), asked, again)

    died = shop.survive(replace, confirmed)
    shop.put("0.md", "later\n")
    told = shop.replacing.replace(shop.access(), asked, confirmed)

    assert died > 3
    assert [(file.path, file.occurrences) for file in told.files] == [
        ("0.md", 2),
        ("1.md", 2),
        ("2.md", 2),
    ]
    for number in range(1, 3):
        assert shop.contents(f"{number}.md") == ["one one\n", "one one one one\n"]
    assert shop.contents("0.md") == ["one one\n", "one one one one\n", "later\n"]


def test_two_replacements_at_once_lose_nothing(shop: Shop) -> None:
    for number in range(20):
        shop.add(f"{number}.md", "one two\n")
    both = [Replacing(find="one", replace="1"), Replacing(find="two", replace="2")]
    confirmed = [
        shop.confirmed(pins=shop.replacing.preview(shop.access(), asked).pins) for asked in both
    ]
    threads = [
        threading.Thread(target=shop.replacing.replace, args=(shop.access(), asked, given))
        for asked, given in zip(both, confirmed, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(shop.text(f"{n}.md") in {"1 two\n", "one 2\n"} for n in range(20))
    assert all(len(shop.contents(f"{n}.md")) == 2 for n in range(20))


class SlowFiles(InMemoryFiles):
    """Files of which each new version takes a second."""

    def replace(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
        self._clock.advance(seconds=1)  # type: ignore[attr-defined]
        return super().replace(*args, **kwargs)  # type: ignore[arg-type]


def test_many_files_are_done_in_several_calls(shop: Shop) -> None:
    shop.files = SlowFiles(shop.world.clock)
    service = shop.service(shop.files)
    for number in range(100):
        shop.add(f"{number}.md", "one\n")
    asked = Replacing(find="one", replace="1")
    confirmed = shop.confirmed(pins=service.preview(shop.access(), asked).pins)

    with pytest.raises(UnavailableError, match="operation_unfinished") as caught:
        service.replace(shop.access(), asked, confirmed)
    done = service.replace(shop.access(), asked, confirmed)

    assert (caught.value.details["done"], caught.value.details["total"]) == (64, 100)
    assert sum(file.occurrences for file in done.files) == 100
    assert all(shop.contents(f"{n}.md") == ["one\n", "1\n"] for n in range(100))


@pytest.mark.parametrize(("limit", "most"), [("MAX_REPLACED_FILES", 2), ("MAX_REPLACED_BYTES", 9)])
def test_too_much_for_one_change_is_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    for number in range(3):
        shop.add(f"{number}.md", "one\n")
    monkeypatch.setattr(replacing, limit, most)

    with pytest.raises(TooLargeError, match="too_many_files") as caught:
        shop.replacing.preview(shop.access(), Replacing(find="one", replace="1"))
    assert caught.value.details["limit"] == 2
    assert most < limits.MAX_REPLACED_FILES


def test_a_reader_replaces_nothing(shop: Shop) -> None:
    shop.add("a.md", "one\n")
    asked = Replacing(find="one", replace="1")

    for call in (
        lambda: shop.replacing.preview(shop.access(BOB), asked),
        lambda: shop.replacing.dry_run(shop.access(BOB), asked),
        lambda: shop.replacing.replace(shop.access(BOB), asked, shop.confirmed("a.md")),
    ):
        with pytest.raises(ForbiddenError, match="vault_read_only"):
            call()


def test_a_text_that_would_fill_the_memory_is_left_as_it_is(shop: Shop) -> None:
    shop.add("a.md", "e\n" * 100_000)

    found = shop.replacing.dry_run(
        shop.access(), Replacing(find="e", replace="$0" * 9_000, regex=True)
    )

    assert found.files == []
    assert [(skip.path, skip.reason) for skip in found.skipped] == [("a.md", "too_large_to_change")]
