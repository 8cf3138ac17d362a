"""What every compiler of patterns promises."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_PATTERN_CHARS
from archivolt.domain.messages import Language
from archivolt.domain.unaccented import unaccented
from archivolt.ports.patterns import Pattern, PatternCompiler

COMPILER: PatternCompiler = Re2Patterns()


def literal(text: str, *, case_sensitive: bool = False, whole_word: bool = False) -> Pattern:
    return COMPILER.compile(text, regex=False, case_sensitive=case_sensitive, whole_word=whole_word)


def regex(text: str, *, case_sensitive: bool = False, whole_word: bool = False) -> Pattern:
    return COMPILER.compile(text, regex=True, case_sensitive=case_sensitive, whole_word=whole_word)


def found(pattern: Pattern, text: str) -> list[str]:
    return [text[start:end] for start, end in pattern.spans(text)]


def replaced(pattern: Pattern, text: str, replacement: str) -> str:
    place, parts = 0, list[str]()
    for each in pattern.replacements(text, replacement):
        parts += (text[place : each.start], each.text)
        place = each.end
    return "".join([*parts, text[place:]])


class TestLiterals:
    def test_case_and_accents_fold_and_places_are_the_texts_own(self) -> None:
        text = "pour Créer, CRÉER ou recreer"
        assert found(literal("creer"), text) == ["Créer", "CRÉER", "creer"]
        assert found(literal("CRÉER"), text) == ["Créer", "CRÉER", "creer"]

    def test_case_sensitive_takes_accents_as_they_are(self) -> None:
        assert found(literal("créer", case_sensitive=True), "creer Créer créer") == ["créer"]

    @pytest.mark.parametrize("sensitive", [False, True])
    def test_both_unicode_forms_are_the_same(self, sensitive: bool) -> None:
        composed, apart = (unicodedata.normalize(form, "un été à Łódź") for form in ("NFC", "NFD"))
        for asked in (composed[3:6], apart[3:8]):
            for text, expected in ((composed, composed[3:6]), (apart, apart[3:8])):
                assert found(literal(asked, case_sensitive=sensitive), text) == [expected]

    @pytest.mark.parametrize(
        ("asked", "text", "expected"),
        [
            ("oeuvre", "une Œuvre", "Œuvre"),
            ("l'ete", "L\u2019été", "L\u2019été"),
            ("МИР", "привет, мир!", "мир"),
            ("東京", "東京都", "東京"),
            ("가", "각 가", "가"),
            ("a b", "a\u00a0b", "a\u00a0b"),
            ("[[a|b]]", "see [[A|b]]", "[[A|b]]"),
            ("strasse", "Straße", "Straße"),
            ("👍🏽", "ok 👍🏽!", "👍🏽"),
        ],
    )
    def test_every_script_is_found(self, asked: str, text: str, expected: str) -> None:
        assert found(literal(asked), text) == [expected]

    def test_a_whole_word_is_one_in_any_script(self) -> None:
        assert found(literal("мир", whole_word=True), "мир мира кумир мир") == ["мир", "мир"]
        assert found(literal("été", whole_word=True), "étés été (été)_été") == ["été", "été"]

    def test_a_line_break_is_found_where_it_is_asked_for(self) -> None:
        assert found(literal("a\nb"), "a\nb") == ["a\nb"]

    @given(st.text(min_size=1, max_size=4), st.text(max_size=8), st.text(max_size=8))
    @settings(max_examples=200, deadline=None)
    def test_what_is_there_is_found_and_every_occurrence_is_one(
        self, asked: str, before: str, after: str
    ) -> None:
        if unaccented(asked).strip() == "":
            return
        spans = list(literal(asked).spans(f"{before} {asked} {after}"))
        assert spans
        text = f"{before} {asked} {after}"
        for start, end in spans:
            assert 0 <= start < end <= len(text)


class TestRegularExpressions:
    def test_lines_are_apart(self) -> None:
        assert found(regex("^b.*$"), "ab\nbc\nb") == ["bc", "b"]
        assert found(regex(r"a\s+b"), "a b a\nb") == ["a b"]
        assert found(regex(r"[^x]+"), "ab\ncd") == ["ab", "cd"]

    def test_a_named_line_break_joins_them(self) -> None:
        assert found(regex(r"a\nb"), "a\nb") == ["a\nb"]
        assert found(regex(r"a[^\n]*"), "ab\nc") == ["ab"]

    def test_classes_know_every_script(self) -> None:
        assert found(regex(r"\w+", case_sensitive=True), "été, мир 東京 e\u0301a") == [
            "été",
            "мир",
            "東京",
            "e\u0301a",
        ]
        assert found(regex(r"[\w-]+\d"), "дом-1") == ["дом-1"]
        assert found(regex(r"\S+"), "a\u00a0b") == ["a", "b"]

    def test_letters_fold_and_escapes_do_not(self) -> None:
        assert found(regex(r"[é-ü]+\W"), "EFgh!") == ["EFgh!"]
        assert found(regex(r"\Bté\b"), "été") == ["té"]
        assert found(regex(r"œ+"), "oeœ") == ["oeœ"]

    def test_a_whole_word_takes_the_alternative_that_is_one(self) -> None:
        assert found(regex("a|ab", whole_word=True), "ab a abc") == ["ab", "a"]

    @pytest.mark.parametrize(
        ("bad", "problem"),
        [
            ("use(State|Effect", "pattern_bracket_missing"),
            ("[a", "pattern_bracket_missing"),
            ("a)", "pattern_bracket_extra"),
            ("*", "pattern_repeats_nothing"),
            ("a**", "pattern_repeats_nothing"),
            ("a{1001}", "pattern_repeat_size"),
            ("a{2,1}", "pattern_repeat_size"),
            ("a\\", "pattern_escape"),
            (r"(a)\1", "pattern_escape"),
            ("a(?=b)", "pattern_group_kind"),
            ("(?<!b)a", "pattern_group_kind"),
            ("[z-a]", "pattern_class"),
            ("\ud800", "pattern_not_unicode"),
        ],
    )
    def test_what_cannot_be_matched_is_refused_with_the_reason(
        self, bad: str, problem: str
    ) -> None:
        with pytest.raises(InvalidRequestError, match="pattern is not valid") as refused:
            regex(bad)
        assert refused.value.details["problem"] == problem
        assert problem not in refused.value.message(Language.FR)

    @pytest.mark.parametrize("empty", ["", "x*", "^", r"\b", "a|", "$"])
    def test_what_finds_empty_text_is_refused(self, empty: str) -> None:
        with pytest.raises(InvalidRequestError, match="everywhere"):
            regex(empty)

    @pytest.mark.parametrize("part", [r"\p{L}", "[:alpha:]", "[:a", r"\p{", "[", "\\", "(?P<"])
    def test_no_broken_pattern_takes_long_to_refuse(self, part: str) -> None:
        broken = ("[" + part * MAX_PATTERN_CHARS)[: MAX_PATTERN_CHARS - 1] + "("
        started = time.process_time()

        with pytest.raises(InvalidRequestError, match="invalid_pattern"):
            regex(broken)
        assert time.process_time() - started < 5

    def test_a_pattern_has_a_longest_length(self) -> None:
        with pytest.raises(InvalidRequestError, match="longer than"):
            literal("a" * (MAX_PATTERN_CHARS + 1))

    @pytest.mark.parametrize(
        "hostile", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"(?:a?){30}a{30}b", "[[:alpha:]]+[0-9]"]
    )
    def test_no_pattern_takes_more_than_a_time_proportional_to_the_text(self, hostile: str) -> None:
        text = "a" * 100_000 + "!"
        started = time.perf_counter()
        try:
            list(regex(hostile).spans(text))
        except InvalidRequestError:
            return
        assert time.perf_counter() - started < 20


class TestReplacing:
    def test_a_literal_replacement_means_itself(self) -> None:
        assert replaced(literal("a.b"), "A.b axb", "$1\\1") == "$1\\1 axb"

    def test_groups_are_what_the_text_has(self) -> None:
        pattern = regex(r"(?P<first>\w+) (creer)")
        assert replaced(pattern, "à Créer", "$2 ${first} $$ $0") == "Créer à $ à Créer"
        word = regex("(cré)(er)", whole_word=True)
        assert replaced(word, "Créer créera", "$2$1") == "erCré créera"

    def test_a_group_that_took_no_part_is_empty(self) -> None:
        assert replaced(regex("(a)|b"), "b", "[$1]") == "[]"

    @pytest.mark.parametrize("unknown", ["$2", "${name}", "$99"])
    def test_an_unknown_group_is_refused(self, unknown: str) -> None:
        with pytest.raises(InvalidRequestError, match="group"):
            replaced(regex("(a)"), "a", unknown)


class TestCounting:
    @pytest.mark.parametrize(
        "pattern",
        [
            literal("a"),
            literal("A", case_sensitive=True),
            literal("été"),
            regex("[ab]+"),
            regex("^a"),
            regex(r"\Aa"),
            regex("a", whole_word=True),
            regex(r"a\nb"),
        ],
    )
    def test_counts_are_those_of_each_text_alone(self, pattern: Pattern) -> None:
        texts = ["a b ab", "", "A\na", "\n", "éte été ete", "x", "ba\nb\na", "a"]
        prepared = [pattern.prepared(text) for text in texts]
        expected = [len(list(pattern.spans(text))) for text in texts]
        assert pattern.counts(prepared, most=100) == expected

    def test_counting_ends_where_it_is_enough(self) -> None:
        prepared = [b"ab" * 1_000, b"a", b"a" * 100]
        assert regex("[ab]").counts(prepared, most=50) == [50, 1, 50]


class TestWhatIsRequired:
    @pytest.mark.parametrize(
        ("asked", "ways"),
        [
            ("foobar", [["foobar"]]),
            ("Créer.*page", [["creer", "page"]]),
            ("colou?r", [["colo"]]),
            ("ab+cde", [["cde"]]),
            ("(?:foo)+bar", [["bar", "foo"]]),
            ("(foo)?bars", [["bars"]]),
            ("foo|barbe", [["foo"], ["barbe"]]),
            ("(foo|bar)", [["foo"], ["bar"]]),
            ("(foo|bar)baz", [["baz"]]),
            ("foo|ba", []),
            ("[abc]+", []),
            (r"\d{3}", []),
            (r"\Qa.b\Ec", [["a.bc"]]),
            ("(?i)foo", [["foo"]]),
            ("a{0}bcd", [["bcd"]]),
            ("œuvres", [["oeuvres"]]),
            ("(" * 200 + "abc" + ")" * 200, []),
        ],
    )
    def test_the_literals_of_each_way_to_occur(self, asked: str, ways: list[list[str]]) -> None:
        assert [list(way) for way in regex(asked).literals] == ways

    @given(
        st.from_regex(r"[abé](?:[abé.?+*|()]|\\w|\[ab\]){0,12}", fullmatch=True),
        st.text(alphabet="abéABe \n", max_size=60),
    )
    @settings(max_examples=400, deadline=None)
    def test_every_occurrence_contains_one_of_its_ways(self, asked: str, text: str) -> None:
        try:
            pattern = regex(asked)
        except InvalidRequestError:
            return
        for occurrence in found(pattern, text):
            plain = unaccented(occurrence).casefold()
            ways = pattern.literals
            assert not ways or any(all(part in plain for part in way) for way in ways)
