"""Search as a person meets it: whose documents, which passages, and what it says it lacks."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from archivolt.domain.errors import InvalidRequestError, NotFoundError, UnavailableError
from archivolt.domain.ingestion import Generation, IndexState, Passage
from archivolt.domain.limits import MAX_EXCERPT_CHARS, MAX_QUERY_CHARS, MAX_TOP_K
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode, SearchQuery, SearchResult
from archivolt.domain.vault import VaultRole
from archivolt.ports.retrieval import EmbeddedDocument
from archivolt.retrieval import hybrid
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.fakes.vectors import WordHashEmbedder
from tests.index_world import IndexWorld


@pytest.fixture
def world() -> IndexWorld:
    return IndexWorld()


def ask(
    world: IndexWorld,
    query: SearchQuery,
    *,
    user: str = ALICE,
    tenant: str = ACME,
    language: Language = Language.EN,
) -> SearchResult:
    return world.retrieval.search(principal(user, tenant=tenant), query, language=language)


def codes(result: SearchResult) -> list[str]:
    return [notice.code for notice in result.notices]


def test_a_passage_is_found_by_its_meaning_in_another_language(world: IndexWorld) -> None:
    world.embedder = WordHashEmbedder({"pont": "bridge", "lamas": "llamas"})
    world.settle(world.write("a.md", "llamas bridge"), world.write("b.md", "something else"))
    assert world.found("lamas pont")[0] == "a.md"


def test_without_a_vault_only_the_callers_own_are_searched(world: IndexWorld) -> None:
    secret = world.new_vault("secret", owner=BOB)
    world.settle(world.write("a.md", "llamas", vault=secret), world.write("b.md", "llamas too"))
    assert world.found("llamas") == ["b.md"]
    assert world.found("llamas", user=BOB) == ["a.md"]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_foreign_vault_is_not_found(world: IndexWorld, mode: SearchMode) -> None:
    world.new_vault("secret", owner=BOB)
    for name in ("secret", "absent"):
        with pytest.raises(NotFoundError, match="vault_not_found"):
            ask(world, SearchQuery(q="llamas", vault=name, mode=mode))


def test_a_namesake_in_another_tenant_finds_nothing(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    assert ask(world, SearchQuery(q="llamas"), tenant=GLOBEX) == SearchResult(hits=[], notices=[])


def test_a_point_of_a_vault_the_caller_left_is_never_shown(world: IndexWorld) -> None:
    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    world.settle(world.write("a.md", "llamas"))
    world.directory.remove_member(world.vault, BOB)
    assert world.points("a.md", user=BOB) == 1
    assert world.found("llamas", user=BOB) == []


def test_one_vault_can_be_searched_alone_whatever_the_form_of_its_name(world: IndexWorld) -> None:
    other = world.new_vault("été")
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "llamas too", vault=other))
    result = ask(world, SearchQuery(q="llamas", vault="e\u0301te\u0301"))
    assert [(hit.vault, hit.path) for hit in result.hits] == [("été", "b.md")]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_directory_or_file_narrows_the_search(world: IndexWorld, mode: SearchMode) -> None:
    world.settle(*(world.write(p, f"llamas {p}") for p in ("a/b.md", "a/c.md", "ab.md")))
    below = ask(world, SearchQuery(q="llamas", path="a/", mode=mode, threshold=0))
    assert sorted(hit.path for hit in below.hits) == ["a/b.md", "a/c.md"]
    one = ask(world, SearchQuery(q="llamas", path="a/b.md", mode=mode, threshold=0))
    assert [hit.path for hit in one.hits] == ["a/b.md"]


def test_a_path_out_of_the_vault_is_refused(world: IndexWorld) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_path"):
        ask(world, SearchQuery(q="llamas", path="../b"))


@pytest.mark.parametrize("mode", SearchMode)
def test_a_tag_finds_the_worst_of_many_that_answer(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch, mode: SearchMode
) -> None:
    monkeypatch.setattr(hybrid, "_LEAST_CANDIDATES", 10)
    others = [world.write(f"{number}.md", f"llamas llamas {number}") for number in range(40)]
    rare = world.write("rare.md", "#zoo\nOne of the llamas stands between many other words.")
    world.settle(*others, rare)
    query = SearchQuery(q="llamas", tag="zoo", mode=mode, threshold=0.0)
    assert [h.path for h in ask(world, query).hits] == ["rare.md"]


def test_a_tag_narrows_the_search_to_it_and_what_is_below(world: IndexWorld) -> None:
    world.settle(
        world.write("a.md", "llamas #zoo/cold"), world.write("b.md", "llamas in a #zoological")
    )
    assert [h.path for h in ask(world, SearchQuery(q="llamas", tag="#Zoo")).hits] == ["a.md"]


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize(
    "narrowed", [SearchQuery(q="llamas", type="csv"), SearchQuery(q="llamas", modified="<2026")]
)
def test_a_filter_finds_the_worst_of_many_that_answer(
    world: IndexWorld,
    monkeypatch: pytest.MonkeyPatch,
    mode: SearchMode,
    narrowed: SearchQuery,
) -> None:
    monkeypatch.setattr(hybrid, "_LEAST_CANDIDATES", 10)
    now = world.clock.now()
    world.clock.advance(seconds=(datetime(2025, 12, 31, tzinfo=UTC) - now).total_seconds())
    rare = world.write("rare.csv", "One of the llamas stands between many other words.")
    world.clock.advance(seconds=(now - world.clock.now()).total_seconds())
    others = [world.write(f"{number}.md", f"llamas llamas {number}") for number in range(40)]
    world.settle(rare, *others)
    query = replace(narrowed, mode=mode, threshold=0.0)
    assert [h.path for h in ask(world, query).hits] == ["rare.csv"]


def test_filters_hold_together_and_an_empty_one_is_none(world: IndexWorld) -> None:
    world.settle(
        world.write("a.md", "llamas #zoo"),
        world.write("b.csv", "some llamas #zoo"),
        world.write("c.md", "llamas"),
    )
    both = SearchQuery(q="llamas", tag="zoo", type="note")
    assert [hit.path for hit in ask(world, both).hits] == ["a.md"]
    assert ask(world, SearchQuery(q="llamas", type="pdf")).hits == []
    none = SearchQuery(q="llamas", tag=" # ", type="", modified=" ")
    assert len(ask(world, none).hits) == 3


def test_a_filter_of_one_vault_is_not_another_vaults(world: IndexWorld) -> None:
    other = world.new_vault("other")
    world.settle(
        world.write("a.md", "llamas #zoo"),
        world.write("a.md", "llamas without", vault=other),
        world.write("b.md", "llamas #zoo", vault=other),
    )
    hits = ask(world, SearchQuery(q="llamas", tag="zoo")).hits
    assert sorted((hit.vault, hit.path) for hit in hits) == [("notes", "a.md"), ("other", "b.md")]


@pytest.mark.parametrize(
    ("narrowed", "code"),
    [
        (SearchQuery(q="llamas", type="p/f"), "invalid_type"),
        (SearchQuery(q="llamas", type=","), "invalid_type"),
        (SearchQuery(q="llamas", modified="soon"), "invalid_date_range"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(
    world: IndexWorld, narrowed: SearchQuery, code: str
) -> None:
    with pytest.raises(InvalidRequestError, match=code):
        ask(world, narrowed)


def test_a_question_is_embedded_once_however_it_is_narrowed(world: IndexWorld) -> None:
    world.settle(*(world.write(f"{number}.md", "llamas #zoo") for number in range(3)))
    asked: list[str] = []

    class Counting(WordHashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            asked.append(text)
            return super().embed_query(text)

    world.embedder = Counting()
    ask(world, SearchQuery(q="llamas", tag="zoo", type="md", modified="7d"))
    assert asked == ["llamas"]


def test_stale_and_deleted_passages_are_dropped_from_both_lists(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    stale = EmbeddedDocument(
        path=VaultPath("a.md"),
        generation=Generation("0000000000000001-x"),
        passages=[Passage(number=0, text="old llamas")],
        vectors=[world.embedder.embed_query("llamas")],
    )
    world.vectors.upsert([ALICE], world.vault, stale)
    assert [hit.excerpt for hit in world.search("llamas").hits] == ["llamas"]


def test_what_is_stale_or_deleted_does_not_crowd_out_what_is_current(world: IndexWorld) -> None:
    many = [f"{number}.md" for number in range(240)]
    answer = world.write("answer.md", "where many words stand that are of other animals: llamas")
    world.settle(answer, *(world.write(path, f"llamas {path}") for path in many))
    asked: list[str] = []

    class Counting(WordHashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            asked.append(text)
            return super().embed_query(text)

    world.embedder = Counting()
    # The points of former versions stay until the new ones come, the passages if a worker dies.
    world.line.take_down("remove_older", "send")
    for path in many:
        world.deliver(world.write(path, f"vicuñas {path}"))
    for mode in SearchMode:
        asked.clear()
        assert world.found("llamas", mode=mode) == ["answer.md"]
        assert asked == ([] if mode is SearchMode.LEXICAL else ["llamas"])


def test_a_stale_passage_makes_no_answer_sure(world: IndexWorld) -> None:
    distant = "llamas and other animals of many kinds that sleep, drink, run or stand about"
    world.settle(world.write("a.md", "llamas graze"), world.write("b.md", distant))
    assert world.search("llamas graze").hits[0].score == 1.0
    world.line.take_down("remove_older", "send")
    world.deliver(world.write("a.md", "cats"))
    [hit] = world.search("llamas graze").hits
    assert hit.score < 1.0


@pytest.mark.parametrize("q", ["", "  \n", "x" * (MAX_QUERY_CHARS + 1)])
def test_an_empty_or_endless_question_is_refused(world: IndexWorld, q: str) -> None:
    with pytest.raises(InvalidRequestError):
        ask(world, SearchQuery(q=q))


@pytest.mark.parametrize("top_k", [0, -1, MAX_TOP_K + 1])
def test_a_number_of_hits_out_of_bounds_is_refused(world: IndexWorld, top_k: int) -> None:
    with pytest.raises(InvalidRequestError):
        ask(world, SearchQuery(q="llamas", top_k=top_k))


def test_no_more_hits_come_than_were_asked_for(world: IndexWorld) -> None:
    world.settle(*(world.write(f"{n}.md", f"llamas {n}") for n in range(9)))
    assert len(ask(world, SearchQuery(q="llamas", top_k=4)).hits) == 4


def test_dense_mode_has_a_threshold_that_the_caller_may_change(world: IndexWorld) -> None:
    world.settle(
        world.write("a.md", "llamas " + "walk slowly over there by day".replace(" ", "\n"))
    )
    near = SearchQuery(q="llamas", mode=SearchMode.DENSE, threshold=0.2)
    assert [hit.path for hit in ask(world, near).hits] == ["a.md"]
    assert ask(world, SearchQuery(q="llamas", mode=SearchMode.DENSE, threshold=0.99)).hits == []


def test_a_question_that_nothing_answers_finds_nothing(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    assert world.found("quantum chromodynamics") == []


def test_a_better_answer_has_a_higher_score(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas cross the wooden bridge at noon"))
    full = world.search("llamas cross the wooden bridge at noon").hits[0].score
    half = world.search("llamas sell quantum insurance somewhere else").hits[0].score
    assert 0 < half < full <= 1


def test_a_score_means_the_same_where_no_word_is_shared(world: IndexWorld) -> None:
    world.embedder = WordHashEmbedder({"pont": "bridge", "lamas": "llamas", "bois": "wooden"})
    world.settle(world.write("a.md", "llamas wooden bridge"), world.write("b.md", "something"))

    near = world.search("lamas pont ailleurs").hits[0].score
    far = world.search("lamas alpha beta gamma delta epsilon").hits[0].score

    assert near == 1.0
    assert 0.5 < far < 1.0


def test_a_hit_says_where_to_read_it(world: IndexWorld) -> None:
    other = world.new_vault("My notes")
    world.settle(world.write("a b.md", "# Top\n\n## Été\n\nllamas", vault=other))
    [hit] = world.search("llamas").hits
    assert hit.uri == "vault://My%20notes/a%20b.md#%C3%89t%C3%A9"
    assert (hit.vault, hit.heading, hit.page) == ("My notes", "Top > Été", None)


def test_a_hit_on_a_page_says_which(world: IndexWorld) -> None:
    world.settle(
        world.write("a.md", f"<!-- page 1 -->\n\n{'alpacas ' * 99}\n\n<!-- page 2 -->\n\nllamas")
    )
    hit = world.search("llamas").hits[0]
    assert hit.page == 2
    assert hit.uri.endswith("a.md#page=2")


def test_an_excerpt_is_bounded_and_hides_secrets(world: IndexWorld) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    world.settle(world.write("a.md", f"llamas {secret} " + "word " * 200))
    for hit in world.search("llamas").hits:
        assert len(hit.excerpt) <= MAX_EXCERPT_CHARS
        assert secret not in hit.excerpt


def test_explanations_tell_what_each_list_said(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    [hit] = ask(world, SearchQuery(q="llamas", explain=True)).hits
    assert hit.explanation["lexical_rank"] == hit.explanation["dense_rank"] == 1
    assert hit.explanation["lexical"] > 0
    assert hit.explanation["lexical_weight"] == pytest.approx(0.8)
    assert hit.explanation["coverage"] == 1.0
    assert hit.explanation["evenness"] == 0.0
    assert hit.explanation["foreign_language"] is False
    assert hit.explanation["dense"] == pytest.approx(1.0)
    assert "words_for_meaning" not in hit.explanation
    assert ask(world, SearchQuery(q="llamas")).hits[0].explanation == {}


def test_an_explanation_tells_that_words_spoke_for_the_meaning(world: IndexWorld) -> None:
    world.settle(world.write("read.md", "llamas"))
    world.deliver(world.write("new.md", "llamas cross the bridge"))
    hits = ask(world, SearchQuery(q="llamas", explain=True)).hits
    told = {hit.path: "words_for_meaning" in hit.explanation for hit in hits}
    assert told == {"read.md": False, "new.md": True}


def test_without_the_vector_store_words_answer_and_a_notice_says_so(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    world.line.take_down("search")
    result = ask(world, SearchQuery(q="llamas"), language=Language.FR)
    assert [hit.path for hit in result.hits] == ["a.md"]
    assert codes(result) == ["meaning_unavailable"]
    assert "mots" in result.notices[0].message
    with pytest.raises(UnavailableError):
        ask(world, SearchQuery(q="llamas", mode=SearchMode.DENSE))


def test_without_the_text_index_meaning_answers_and_a_notice_says_so(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settle(world.write("a.md", "llamas"))

    def down(*_: object, **__: object) -> object:
        raise UnavailableError("unavailable")

    monkeypatch.setattr(world.text_index, "search", down)
    result = ask(world, SearchQuery(q="llamas"))
    assert [hit.path for hit in result.hits] == ["a.md"]
    assert codes(result) == ["words_unavailable"]
    with pytest.raises(UnavailableError):
        ask(world, SearchQuery(q="llamas", mode=SearchMode.LEXICAL))
    world.line.take_down("search")
    with pytest.raises(UnavailableError):
        ask(world, SearchQuery(q="llamas"))


def test_notices_tell_what_is_on_its_way_and_what_has_no_text(world: IndexWorld) -> None:
    world.deliver(world.write("a.md", "llamas"), world.write("scan.md", " "))
    result = ask(world, SearchQuery(q="llamas"))
    assert codes(result) == ["documents_pending", "documents_without_text"]
    assert ": 1 document" in result.notices[0].message
    lexical = ask(world, SearchQuery(q="llamas", mode=SearchMode.LEXICAL))
    assert codes(lexical) == ["documents_without_text"]
    world.embed()
    assert codes(ask(world, SearchQuery(q="llamas"))) == ["documents_without_text"]
    assert world.state("scan.md") is IndexState.NO_TEXT


def test_what_no_model_has_read_yet_keeps_its_place_before_what_has_fewer_of_the_words(
    world: IndexWorld,
) -> None:
    world.settle(world.write("first.md", "show a list of llamas"))
    world.deliver(world.write("answer.md", "show a list"))
    before = world.found("show a list")
    world.embed()
    assert before == world.found("show a list") == ["answer.md", "first.md"]


def test_notices_tell_what_could_not_be_read(world: IndexWorld) -> None:
    world.settle(
        world.write("a.md", "llamas"), world.write("b.md", "BROKEN"), world.write("c.md", "CRASH")
    )
    result = ask(world, SearchQuery(q="llamas"))
    assert codes(result) == ["documents_unread"]
    assert ": 2 document" in result.notices[0].message


def test_lexical_mode_needs_no_model(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))

    class Broken(WordHashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            raise AssertionError

    world.embedder = Broken()
    assert world.found("llamas", mode=SearchMode.LEXICAL) == ["a.md"]


def test_a_copy_is_named_by_the_hit_that_stands_for_it(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "# Zoo\n\nllamas"), world.write("b c.md", "# Zoo\n\nllamas"))
    [hit] = world.search("llamas").hits
    assert (hit.path, hit.also_in) == ("a.md", ("vault://notes/b%20c.md",))


def test_an_excerpt_tells_where_it_stands(world: IndexWorld) -> None:
    filler = "word " * 400
    world.settle(world.write("a.md", f"# Top\n\n{filler}\n\n## Zoo\n\nThe llamas.\n"))
    hit = world.search("llamas").hits[0]
    assert hit.line == 7
    assert hit.excerpt == "The llamas."[slice(*hit.span)]
