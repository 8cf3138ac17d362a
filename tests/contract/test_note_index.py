"""What every index of notes promises."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.adapters.sqlite.note_index import SqliteNoteIndex
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.ingestion import Generation
from archivolt.domain.note_links import link_key, links_in
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ingestion.documents import whole_text
from archivolt.ports.ingestion import Extraction
from archivolt.ports.notes import (
    Between,
    Note,
    NoteFilter,
    NoteIndex,
    RecentBy,
    ScanSort,
    TagCount,
    TextScan,
)
from archivolt.ports.retrieval import DocumentUpdate, IndexedNote, Rewritten, TextIndex
from tests.builders import GLOBEX, vault_ref
from tests.fakes.clock import START, FrozenClock
from tests.fakes.notes import InMemoryNotes
from tests.fakes.shards import InMemoryShards
from tests.fakes.text_index import InMemoryTextIndex

VAULT = vault_ref()
OTHER_VAULT = vault_ref("v2")
OTHER_TENANT = vault_ref(tenant=GLOBEX)
ODD_PATHS = ["[[.md", "%.md", "à+b (1).md", "🦊/été 100%.md", "_.md", "d/" + "é" * 126 + ".md"]


@dataclass(frozen=True)
class Written:
    """An index, and how notes get into it and out of it."""

    index: NoteIndex
    put: Callable[[Note, str | None], None]
    remove: Callable[[VaultRef, VaultPath], None]
    writer: TextIndex

    def write(
        self,
        path: str,
        text: str | None = "",
        *,
        vault: VaultRef = VAULT,
        day: int = 0,
        created: int = 0,
        size: int | None = None,
        tags: tuple[str, ...] = (),
        generation: str = "0000000000000001-a",
    ) -> Note:
        """Keep a note that was changed on a day after the start and return it."""
        note = Note(
            vault=vault,
            path=VaultPath(path),
            generation=Generation(generation),
            size=len((text or "").encode()) if size is None else size,
            created=START + timedelta(days=created),
            modified=START + timedelta(days=day),
            title=f"Title of {path}",
            tags=tags,
        )
        self.put(note, text)
        return note

    def found(self, pattern: str, *vaults: VaultRef, **scan: Any) -> list[str]:  # noqa: ANN401
        """Return the paths that a scan finds, in order."""
        asked = TextScan(pattern=pattern, **scan)
        page = self.index.scan(vaults or [VAULT], asked, limit=100)
        return [hit.note.path for hit in page.hits]


def in_memory() -> Written:
    notes = InMemoryNotes()
    return Written(notes, notes.put, notes.remove, InMemoryTextIndex(notes))


def in_sqlite(folder: Path) -> Written:
    shards = InMemoryShards()
    reader = ShardReader(shards, ShardCache(shards, folder / "shards", max_bytes=10**8))
    writer = SqliteTextIndex(shards, reader)

    def put(note: Note, text: str | None) -> None:
        masked = None if text is None else whole_text(Extraction(markdown=text))
        kept = IndexedNote(
            size=note.size,
            created=note.created,
            modified=note.modified,
            title=note.title,
            tags=note.tags,
            links=links_in(masked or ""),
            text=masked,
        )
        update = DocumentUpdate(path=note.path, generation=note.generation, note=kept)
        writer.apply(note.vault, [update])

    def remove(vault: VaultRef, path: VaultPath) -> None:
        gone = DocumentUpdate(path=path, generation=Generation("9"), removed=True)
        writer.apply(vault, [gone])

    return Written(SqliteNoteIndex(reader, Re2Patterns, FrozenClock()), put, remove, writer)


@pytest.fixture(params=["fake", "sqlite"])
def notes(request: pytest.FixtureRequest, tmp_path: Path) -> Written:
    return in_memory() if request.param == "fake" else in_sqlite(tmp_path)


class TestNotes:
    def test_a_note_is_known_by_its_path_with_all_that_was_said_of_it(self, notes: Written) -> None:
        note = notes.write("a.md", "text", day=3, created=1, tags=("x", "y/z"))
        notes.write("b.md")

        assert notes.index.notes(VAULT, [note.path, VaultPath("none.md")]) == {"a.md": note}
        assert notes.index.notes(OTHER_VAULT, [note.path]) == {}
        assert notes.index.notes(OTHER_TENANT, [note.path]) == {}

    def test_a_document_without_text_is_a_note_too(self, notes: Written) -> None:
        note = notes.write("photo.png", None, size=9)

        assert notes.index.notes(VAULT, [note.path]) == {"photo.png": note}
        assert notes.index.text(VAULT, note.path) is None
        assert notes.found("") == ["photo.png"]

    def test_a_newer_generation_takes_the_place_of_a_note(self, notes: Written) -> None:
        notes.write("a.md", "apples [[x]]", tags=("old",))
        newer = notes.write("a.md", "pears", tags=("new",), generation="0000000000000002-b")

        assert notes.index.notes(VAULT, [newer.path]) == {"a.md": newer}
        assert notes.found("apples") == []
        assert notes.found("pears") == ["a.md"]
        assert set(notes.index.tags([VAULT])) == {"new"}
        assert notes.index.links_from(VAULT, None) == []

    def test_a_note_that_is_written_again_as_it_was_says_what_its_file_says_of_time(
        self, notes: Written
    ) -> None:
        one, other = notes.write("a.md", "llamas"), notes.write("b.md", "llamas")
        born, later = START + timedelta(days=8), START + timedelta(days=9)
        again = Rewritten(generation=one.generation, created=born, modified=later)
        of_another = replace(again, generation=Generation("0"))
        notes.writer.touch(
            VAULT, {one.path: again, other.path: of_another, VaultPath("c.md"): again}
        )
        assert notes.index.notes(VAULT, [one.path, other.path, VaultPath("c.md")]) == {
            one.path: replace(one, created=born, modified=later),
            other.path: other,
        }
        for by in RecentBy:
            newest = notes.index.recent([VAULT], by=by, limit=1)
            assert [note.path for note in newest] == ["a.md"]
        # What changed in one of the two is written too.
        notes.writer.touch(VAULT, {one.path: replace(again, created=later)})
        assert notes.index.notes(VAULT, [one.path])[one.path].created == later

    def test_a_removed_note_is_nowhere(self, notes: Written) -> None:
        notes.write("a.md", "apples [[b]] #fruit", tags=("fruit",))
        notes.remove(VAULT, VaultPath("a.md"))

        assert notes.index.notes(VAULT, [VaultPath("a.md")]) == {}
        assert notes.index.text(VAULT, VaultPath("a.md")) is None
        assert notes.index.tags([VAULT]) == {}
        assert notes.index.recent([VAULT], by=RecentBy.MODIFIED, limit=9) == []
        assert notes.index.find_paths([VAULT], ["a"], limit=9) == []
        assert notes.index.named(VAULT, ["a"]) == []
        assert notes.index.links_to(VAULT, ["b"]) == []
        assert notes.found("") == []

    def test_a_text_is_kept_whole_in_one_form(self, notes: Written) -> None:
        notes.write("a.md", unicodedata.normalize("NFD", "été\r\n日本") + "x" * 100_000)

        text = notes.index.text(VAULT, VaultPath("a.md"))
        assert text == "été\n日本" + "x" * 100_000

    def test_several_texts_are_read_at_once(self, notes: Written) -> None:
        for path in ("a.md", "d/b.md"):
            notes.write(path, f"text of {path}")
        notes.write("photo.png", None)
        asked = [VaultPath(path) for path in ("a.md", "d/b.md", "photo.png", "none.md")]

        assert notes.index.texts(VAULT, asked) == {
            "a.md": "text of a.md",
            "d/b.md": "text of d/b.md",
        }
        assert notes.index.texts(OTHER_VAULT, asked) == {}

    def test_secrets_are_neither_kept_nor_found(self, notes: Written) -> None:
        secret = "hf_" + "aB3" * 12
        notes.write("a.md", f"first\nkey {secret} here\nlast")

        text = notes.index.text(VAULT, VaultPath("a.md"))
        assert text == f"first\nkey {'*' * len(secret)} here\nlast"
        assert notes.found("hf_") == []
        assert notes.found("hf_a.*", regex=True) == []
        assert notes.found("last") == ["a.md"]


class TestTags:
    def test_documents_are_counted_with_and_without_nested_tags(self, notes: Written) -> None:
        notes.write("a.md", tags=("project/a", "project/b"))
        notes.write("b.md", tags=("project", "project/a/x"))
        notes.write("c.md", tags=("été",), vault=OTHER_VAULT)

        assert notes.index.tags([VAULT]) == {
            "project": TagCount(own=1, nested=2),
            "project/a": TagCount(own=1, nested=2),
            "project/a/x": TagCount(own=1, nested=1),
            "project/b": TagCount(own=1, nested=1),
        }
        both = notes.index.tags([VAULT, OTHER_VAULT])
        assert both["été"] == TagCount(own=1, nested=1)
        assert notes.index.tags([]) == {}

    def test_a_tag_of_two_vaults_is_counted_in_both(self, notes: Written) -> None:
        notes.write("a.md", tags=("x",))
        notes.write("a.md", tags=("x/y",), vault=OTHER_VAULT)

        assert notes.index.tags([VAULT, OTHER_VAULT])["x"] == TagCount(own=1, nested=2)

    def test_counts_follow_every_change(self, notes: Written) -> None:
        notes.write("a.md", "[[b]]", tags=("x",))
        assert notes.index.tags([VAULT])["x"].own == 1
        assert list(notes.index.most_linked(VAULT, limit=9).keys) == ["a", "b"]

        notes.write("c.md", "[[b]]", tags=("x",))
        assert notes.index.tags([VAULT])["x"].own == 2
        assert list(notes.index.most_linked(VAULT, limit=9).keys) == ["b", "a", "c"]

        notes.remove(VAULT, VaultPath("a.md"))
        assert notes.index.tags([VAULT])["x"].own == 1


class TestRecent:
    def test_the_newest_come_first_by_either_moment(self, notes: Written) -> None:
        notes.write("old.md", day=1, created=9)
        notes.write("new.md", day=3, created=2)
        notes.write("mid.png", None, day=2, created=3, vault=OTHER_VAULT)

        def paths(by: RecentBy, limit: int = 9) -> list[str]:
            found = notes.index.recent([VAULT, OTHER_VAULT], by=by, limit=limit)
            return [note.path for note in found]

        assert paths(RecentBy.MODIFIED) == ["new.md", "mid.png", "old.md"]
        assert paths(RecentBy.CREATED) == ["old.md", "mid.png", "new.md"]
        assert paths(RecentBy.MODIFIED, limit=2) == ["new.md", "mid.png"]

    def test_of_the_same_moment_all_are_listed_once(self, notes: Written) -> None:
        for number in range(40):
            notes.write(f"{number}.md", day=1)

        found = [
            [note.path for note in notes.index.recent([VAULT], by=RecentBy.CREATED, limit=limit)]
            for limit in (7, 14, 40)
        ]
        assert len(set(found[2])) == 40
        assert found[2][:14] == found[1]
        assert found[1][:7] == found[0]


class TestPaths:
    def found(self, notes: Written, *words: str, limit: int = 99) -> list[str]:
        found = notes.index.find_paths([VAULT], words, limit=limit)
        return [note.path for note in found]

    def test_every_word_is_in_the_path_case_and_accents_folded(self, notes: Written) -> None:
        notes.write("Réunions/2026/Compte-rendu.md")
        notes.write("réunions/budget.md")
        notes.write("Собрания/Отчёт.md")
        notes.write("会議/議事録.md")
        notes.write("elsewhere.md", vault=OTHER_VAULT)

        assert self.found(notes, "reunions", "RENDU") == ["Réunions/2026/Compte-rendu.md"]
        assert sorted(self.found(notes, "reunion")) == [
            "Réunions/2026/Compte-rendu.md",
            "réunions/budget.md",
        ]
        assert self.found(notes, unicodedata.normalize("NFD", "réunions/b")) == [
            "réunions/budget.md"
        ]
        assert self.found(notes, "отчет") == ["Собрания/Отчёт.md"]
        assert self.found(notes, "事録") == ["会議/議事録.md"]
        assert self.found(notes, "elsewhere") == []

    def test_names_come_before_directories(self, notes: Written) -> None:
        for path in ["plan/notes/a.md", "x/planning.md", "x/plan.md", "b/my plan.md"]:
            notes.write(path)

        assert self.found(notes, "plan")[:2] == ["x/plan.md", "x/planning.md"]
        assert self.found(notes, "plan", limit=1) == ["x/plan.md"]

    def test_without_words_any_documents_are_found(self, notes: Written) -> None:
        notes.write("a.md")
        notes.write("b.png", None)

        assert sorted(self.found(notes)) == ["a.md", "b.png"]

    @pytest.mark.parametrize("path", ODD_PATHS)
    def test_an_odd_name_is_found_by_itself_and_by_its_parts(
        self, notes: Written, path: str
    ) -> None:
        notes.write(path)
        notes.write("other.txt")

        assert self.found(notes, path) == [path]
        assert self.found(notes, path[-5:-3]) == [path]
        assert notes.index.named(VAULT, [link_key(path)]) == [path]
        assert notes.found("", include_paths=(path,)) == [path]
        assert notes.found("", exclude_paths=(path,)) == ["other.txt"]


class TestLinks:
    def test_files_are_found_by_the_key_of_a_link(self, notes: Written) -> None:
        for path in ["Été.md", "b/été.md", "été.png", "d/x.md"]:
            notes.write(path)

        key = link_key(unicodedata.normalize("NFD", "ÉTÉ"))
        assert sorted(notes.index.named(VAULT, [key, "none"])) == ["b/été.md", "Été.md"]
        assert notes.index.named(VAULT, [link_key("x/été.png")]) == ["été.png"]
        assert notes.index.named(OTHER_VAULT, [key]) == []

    def test_links_are_found_by_where_they_lead_and_where_they_stand(self, notes: Written) -> None:
        notes.write("a.md", "to [[B|the b]] and ![[p.png]]\n[c](dir/c.md#Top)")
        notes.write("c.md", "back to [[b#part]]")
        notes.write("a.md", "[[b]]", vault=OTHER_VAULT)

        to_b = notes.index.links_to(VAULT, ["b"])
        assert sorted((path, link.target, link.heading) for path, link in to_b) == [
            ("a.md", "B", ""),
            ("c.md", "b", "part"),
        ]
        of_a = notes.index.links_from(VAULT, [VaultPath("a.md"), VaultPath("none.md")])
        assert [(path, link.target) for path, link in of_a] == [
            ("a.md", "B"),
            ("a.md", "p.png"),
            ("a.md", "dir/c.md"),
        ]
        text = notes.index.text(VAULT, VaultPath("a.md")) or ""
        assert next(text[link.start : link.end] for _, link in of_a) == "[[B|the b]]"
        assert len(notes.index.links_from(VAULT, None)) == 4
        assert notes.index.links_from(VAULT, []) == []

    def test_keys_are_ranked_by_the_links_to_and_from_their_files(self, notes: Written) -> None:
        notes.write("d/Hub.md", "[[a]]")
        notes.write("a.md", "[[hub]] [[hub|again]] [[missing]] [[#own]]")
        notes.write("b.md", "[[Hub]]")
        notes.write("alone.md", "[[#own]]")
        notes.write("x.md", "[[a]]", vault=OTHER_VAULT)

        most = notes.index.most_linked(VAULT, limit=3)

        assert list(most.keys) == ["a", "hub", "b"]
        assert most.total == 4
        assert list(notes.index.most_linked(VAULT, limit=9).keys) == ["a", "hub", "b", "missing"]


class TestScan:
    def test_a_text_is_found_where_it_stands(self, notes: Written) -> None:
        note = notes.write("a.md", "first\nan apple, an Apple\r\nlast apple")

        page = notes.index.scan([VAULT], TextScan(pattern="apple"), limit=9)

        (hit,) = page.hits
        assert (hit.note, hit.occurrences, page.more, page.complete) == (note, 3, False, True)
        assert [(m.line, m.text, m.text[m.start : m.end]) for m in hit.matches] == [
            (2, "an apple, an Apple", "apple"),
            (2, "an apple, an Apple", "Apple"),
            (3, "last apple", "apple"),
        ]

    @pytest.mark.parametrize(
        ("text", "pattern", "shown"),
        [
            ("On peut Créer ici", "creer", "Créer"),
            ("On peut creer ici", "CRÉER", "creer"),
            (unicodedata.normalize("NFD", "un été"), "été", "été"),
            ("un été", unicodedata.normalize("NFD", "été"), "été"),
            ("Œuvre complète", "oeuvre c", "Œuvre c"),
            ("Отчёт за год", "отчет", "Отчёт"),
            ("東京都の会議", "京都", "京都"),
            ("서울 회의", "서울", "서울"),
            ("a 🦊 b", "🦊", "🦊"),
            ("C:\\Temp (x86) [1]", "\\temp (X86) [", "\\Temp (x86) ["),
            ("l\u2019été", "l'ete", "l\u2019été"),
        ],
    )
    def test_case_accents_and_forms_fold_and_places_are_those_of_the_text(
        self, notes: Written, text: str, pattern: str, shown: str
    ) -> None:
        notes.write("a.md", text)

        (hit,) = notes.index.scan([VAULT], TextScan(pattern=pattern), limit=9).hits
        (match,) = hit.matches
        assert unicodedata.normalize("NFC", match.text[match.start : match.end]) == shown

    def test_case_and_accents_can_count(self, notes: Written) -> None:
        notes.write("a.md", "Créer")
        notes.write("b.md", "creer")

        assert notes.found("Créer", case_sensitive=True) == ["a.md"]
        assert notes.found("creer", case_sensitive=True) == ["b.md"]
        composed = unicodedata.normalize("NFD", "Créer")
        assert notes.found(composed, case_sensitive=True) == ["a.md"]

    def test_whole_words_are_found_alone(self, notes: Written) -> None:
        notes.write("a.md", "le chat dort")
        notes.write("b.md", "un chaton, un achat, chat_noir")
        notes.write("c.md", "été d'été")

        assert notes.found("chat", whole_word=True) == ["a.md"]
        assert notes.found("ete", whole_word=True) == ["c.md"]
        assert notes.found("cha.", whole_word=True, regex=True) == ["a.md"]

    def test_a_regular_expression_is_one_only_when_asked(self, notes: Written) -> None:
        notes.write("a.md", "a.c costs 12,50 €")
        notes.write("b.md", "abc")

        assert notes.found("a.c") == ["a.md"]
        assert notes.found("a.c", regex=True, sort=ScanSort.PATH) == ["a.md", "b.md"]
        assert notes.found(r"\d+,\d\d €$", regex=True) == ["a.md"]
        assert notes.found("^abc$", regex=True) == ["b.md"]

    @pytest.mark.parametrize("pattern", ["a(", "[", "*a", r"(a)\1", "(?=a)b", "(?<!a)b"])
    def test_what_is_no_linear_regular_expression_is_refused(
        self, notes: Written, pattern: str
    ) -> None:
        notes.write("a.md", "text")

        with pytest.raises(InvalidRequestError) as caught:
            notes.found(pattern, regex=True)
        assert caught.value.code == "invalid_pattern"

    def test_a_match_is_within_one_line(self, notes: Written) -> None:
        notes.write("a.md", "one\ntwo")

        assert notes.found("one.*two", regex=True) == []
        assert notes.found("^two", regex=True) == ["a.md"]

    def test_a_word_at_the_end_of_a_megabyte_is_found(self, notes: Written) -> None:
        notes.write("a.md", "filler words\n" * 80_000 + "needle")

        page = notes.index.scan([VAULT], TextScan(pattern="needle"), limit=9)

        assert page.hits[0].matches[0].line == 80_001

    def test_documents_are_filtered_by_tag_path_dates_and_size(self, notes: Written) -> None:
        notes.write("a/x.md", "t", tags=("project/alpha",), day=1, created=1, size=10)
        notes.write("a/Été.md", "t", tags=("projects",), day=2, created=2, size=20)
        notes.write("b/y.txt", "t", day=3, created=3, size=30)

        def at(day: int) -> float:
            moment: datetime = START + timedelta(days=day)
            return moment.timestamp()

        def found(**scan: Any) -> list[str]:  # noqa: ANN401
            return notes.found("t", sort=ScanSort.PATH, **scan)

        assert found(tag="#Project") == ["a/x.md"]
        assert found(tag="project/alpha") == ["a/x.md"]
        assert found(tag="alpha") == []
        assert found(include_paths=("**/*.md",)) == ["a/x.md", "a/Été.md"]
        assert found(include_paths=("a/ete*",)) == ["a/Été.md"]
        assert found(include_paths=("a/?.md", "b/**")) == ["a/x.md", "b/y.txt"]
        assert found(include_paths=("*.txt",)) == []
        assert found(include_paths=("**",), exclude_paths=("a/**",)) == ["b/y.txt"]
        assert found(modified=Between(least=at(2))) == ["a/Été.md", "b/y.txt"]
        assert found(created=Between(most=at(1))) == ["a/x.md"]
        assert found(size=Between(least=20, most=20)) == ["a/Été.md"]
        assert notes.found("", tag="project") == ["a/x.md"]

    def test_what_is_found_is_sorted_either_way(self, notes: Written) -> None:
        notes.write("a.md", "t t", day=1, created=3, size=20)
        notes.write("b.md", "t t t", day=3, created=1, size=10)
        notes.write("c.md", "t", day=2, created=2, size=30)

        def order(sort: ScanSort, *, descending: bool | None = None) -> str:
            found = notes.found("t", sort=sort, descending=descending)
            return "".join(path[0] for path in found)

        assert order(ScanSort.RELEVANCE) == "bac"
        assert order(ScanSort.PATH) == "abc"
        assert order(ScanSort.PATH, descending=True) == "cba"
        assert order(ScanSort.MODIFIED) == "bca"
        assert order(ScanSort.CREATED) == "acb"
        assert order(ScanSort.CREATED, descending=False) == "bca"
        assert order(ScanSort.SIZE) == "cab"
        assert order(ScanSort.SIZE, descending=False) == "bac"

    def test_vaults_are_searched_together_and_no_others(self, notes: Written) -> None:
        notes.write("a.md", "apple")
        notes.write("b.md", "apple apple", vault=OTHER_VAULT)
        notes.write("c.md", "apple", vault=OTHER_TENANT)

        assert notes.found("apple", VAULT, OTHER_VAULT) == ["b.md", "a.md"]
        assert notes.found("apple", OTHER_VAULT) == ["b.md"]

    def test_pages_join_without_gap_or_double(self, notes: Written) -> None:
        for number in range(45):
            notes.write(f"{number % 7}/{number}.md", "apple " * (number % 4 + 1), day=number % 5)

        for sort in ScanSort:
            scan = TextScan(pattern="apple", sort=sort)
            pages = [
                notes.index.scan([VAULT], scan, limit=10, offset=at) for at in range(0, 50, 10)
            ]
            paths = [hit.note.path for page in pages for hit in page.hits]
            assert len(set(paths)) == len(paths) == 45
            assert [page.more for page in pages] == [True, True, True, True, False]
            assert paths == notes.found("apple", sort=sort)


def test_a_filter_by_tag_ending_and_time_gives_the_paths_of_each_vault(notes: Written) -> None:
    notes.write("a/Plan.PDF", tags=("zoo/cold",), day=1)
    notes.write("plan.pdf.md", tags=("zoo",), day=2)
    notes.write("[[%_.md", tags=("zoological",), day=3)
    notes.write("b.md", vault=OTHER_VAULT, day=1)
    notes.write("c.md", vault=OTHER_TENANT, day=1)

    def passing(**wanted: Any) -> dict[str, list[str]]:  # noqa: ANN401
        found = notes.index.passing([VAULT, OTHER_VAULT], NoteFilter(**wanted))
        return {vault.id: sorted(paths) for vault, paths in found.items()}

    day = START.timestamp() + 86_400
    assert passing(endings=("pdf",)) == {"v1": ["a/Plan.PDF"], "v2": []}
    assert passing(endings=("md", "pdf"))["v1"] == ["[[%_.md", "a/Plan.PDF", "plan.pdf.md"]
    assert passing(tag="#Zoo") == {"v1": ["a/Plan.PDF", "plan.pdf.md"], "v2": []}
    assert passing(modified=Between(most=day)) == {"v1": ["a/Plan.PDF"], "v2": ["b.md"]}
    assert passing(modified=Between(least=day + 1), tag="zoo")["v1"] == ["plan.pdf.md"]
    assert passing(endings=("d",)) == {"v1": [], "v2": []}
