"""Full-text search: documents, excerpts, and what must not be found."""

import pytest

from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.limits import FULLTEXT_EXCERPT_CHARS
from archivolt.domain.paths import VaultPath
from archivolt.retrieval.analysis import query_terms
from archivolt.vaults.excerpts import excerpt_of
from archivolt.vaults.search import TextHits
from tests.builders import ALICE, BOB, principal
from tests.world import World


class Library:
    """A vault of Alice."""

    def __init__(self) -> None:
        self.world = World()
        self.ref = self.world.vault("notes")

    def search(self, q: str, *, limit: int = 20, offset: int = 0) -> TextHits:
        vaults = self.world.vaults.accessible(principal(ALICE))
        return self.world.text_search.search(vaults, q, limit=limit, offset=offset)

    def paths(self, q: str) -> list[str]:
        return [hit.path for hit in self.search(q).hits]


@pytest.fixture
def library() -> Library:
    return Library()


def marked(text: str, q: str) -> str:
    """Return the excerpt with brackets around what is highlighted."""
    excerpt = excerpt_of(text, query_terms(q))
    shown = excerpt.text
    for start, end in reversed(excerpt.highlights):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    return shown


def test_the_document_with_the_words_comes_first_with_score_one(library: Library) -> None:
    library.world.write(library.ref, "a.md", "apples and pears")
    library.world.write(library.ref, "b.md", "apples, apples, nothing but apples")
    library.world.write(library.ref, "c.md", "plums")

    hits = library.search("apples pears").hits

    assert [hit.path for hit in hits] == ["a.md", "b.md"]
    assert hits[0].score == 1
    assert 0 < hits[1].score < 1


def test_accents_and_word_forms_do_not_matter(library: Library) -> None:
    library.world.write(library.ref, "a.md", "Les forêts créées en été")

    assert library.paths("foret") == ["a.md"]
    assert library.paths("cre\u0301e\u0301e") == ["a.md"]


def test_a_hit_says_where_to_read_it(library: Library) -> None:
    library.world.write(library.ref, "Été/à+b (1).md", "pommes", page=3)

    (hit,) = library.search("pommes").hits

    assert (hit.vault, hit.path, hit.page) == ("notes", "Été/à+b (1).md", 3)
    assert hit.uri == "vault://notes/%C3%89t%C3%A9/%C3%A0%2Bb%20%281%29.md"
    assert (hit.title, hit.heading) == ("à+b (1).md", "Top")


def test_pages_of_hits_hold_every_document_once(library: Library) -> None:
    for number in range(7):
        library.world.write(library.ref, f"{number}.md", "apples " * (number + 1) + "pear " * 9)

    first = library.search("apples", limit=3)
    second = library.search("apples", limit=3, offset=3)
    third = library.search("apples", limit=3, offset=6)

    assert [page.next_offset for page in (first, second, third)] == [3, 6, None]
    paths = [hit.path for page in (first, second, third) for hit in page.hits]
    assert sorted(paths) == [f"{number}.md" for number in range(7)]


def test_a_passage_of_an_older_generation_is_not_found(library: Library) -> None:
    world = library.world
    world.write(library.ref, "a.md", "apples")
    entry = world.catalogue.get(library.ref, VaultPath("a.md"))
    newer = CatalogueEntry(
        vault=library.ref,
        path=VaultPath("a.md"),
        state=IndexState.PENDING,
        updated_at=world.clock.now(),
        generation=Generation("zzzz"),
    )
    assert world.catalogue.advance(newer, previous=entry)

    assert library.paths("apples") == []


def test_a_deleted_document_is_not_found(library: Library) -> None:
    world = library.world
    world.write(library.ref, "a.md", "apples")
    entry = world.catalogue.get(library.ref, VaultPath("a.md"))
    assert entry
    tombstone = CatalogueEntry(
        vault=library.ref,
        path=VaultPath("a.md"),
        state=IndexState.DELETED,
        updated_at=world.clock.now(),
        generation=entry.generation,
    )
    assert world.catalogue.advance(tombstone, previous=entry)

    assert library.paths("apples") == []


def test_a_vault_of_others_is_not_searched(library: Library) -> None:
    others = library.world.vault("private", owner=principal(BOB))
    library.world.write(others, "a.md", "apples")

    assert library.paths("apples") == []


def test_no_vault_means_no_hits_and_not_a_wide_search(library: Library) -> None:
    library.world.write(library.ref, "a.md", "apples")

    assert library.world.text_search.search([], "apples").hits == []


@pytest.mark.parametrize("q", ["---", "  ", "\x00"])
def test_a_query_without_words_finds_nothing(library: Library, q: str) -> None:
    library.world.write(library.ref, "a.md", "apples --- \x00")

    assert library.paths(q) == []


def test_a_tag_narrows_a_search(library: Library) -> None:
    library.world.write(library.ref, "a.md", "apples", tags=("project/alpha",))
    library.world.write(library.ref, "b.md", "apples", tags=("project",))
    library.world.write(library.ref, "c.md", "apples of the #project")
    vaults = library.world.vaults.accessible(principal(ALICE))

    def paths(tag: str) -> set[str]:
        found = library.world.text_search.search(vaults, "apples", tag=tag)
        return {hit.path for hit in found.hits}

    assert paths("Project") == {"a.md", "b.md"}
    assert paths("#project/alpha") == {"a.md"}
    assert paths("apples") == set()
    assert paths("#") == set()


def test_the_words_found_are_highlighted_in_each_of_their_forms() -> None:
    text = "La création d'un état : créer, créé, recréer useState()."

    assert marked(text, "créer etat") == (
        "La création d'un [état] : [créer], [créé], recréer useState()."
    )


def test_words_of_scripts_without_spaces_are_highlighted() -> None:
    assert marked("今日は東京都に行きます", "東京都") == "今日は[東京都]に行きます"


def test_an_excerpt_surrounds_the_words_found() -> None:
    text = "filler " * 200 + "the golden apple fell " + "filler " * 200

    excerpt = excerpt_of(text, query_terms("golden apple"))

    assert len(excerpt.text) <= FULLTEXT_EXCERPT_CHARS
    assert [excerpt.text[s:e] for s, e in excerpt.highlights] == ["golden", "apple"]


def test_a_secret_is_not_in_an_excerpt_and_the_highlights_still_fit(library: Library) -> None:
    secret = "npm_" + "a1B2c3" * 6
    library.world.write(library.ref, "a.md", f"the token {secret} of the golden apple")

    (hit,) = library.search("golden apple").hits

    assert secret not in hit.excerpt.text
    assert [hit.excerpt.text[s:e] for s, e in hit.excerpt.highlights] == ["golden", "apple"]


def test_reading_on_ends_where_an_offset_may_not_go() -> None:
    world = World()
    notes = world.vault("notes")
    for number in range(1_030):
        world.write(notes, f"{number}.md", "apples")
    access = world.vaults.access(principal(ALICE), "notes")

    last = world.text_search.search([access], "apples", limit=20, offset=1_000)

    assert len(last.hits) == 20
    assert last.next_offset is None
