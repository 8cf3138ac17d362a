"""Neighbours are one hit, and what says nearly the same is shown once."""

from collections.abc import Sequence

import pytest

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.fusion import Ranked
from archivolt.retrieval.near_duplicates import Folded, fold
from archivolt.retrieval.neighbours import joined
from tests.builders import vault_ref

TEXT = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60))


def ranked(
    path: str,
    text: str,
    *,
    number: int = 0,
    page: int | None = None,
    headings: tuple[str, ...] = (),
    vault: VaultRef | None = None,
) -> Ranked:
    candidate = Candidate(
        vault=vault or vault_ref(),
        path=VaultPath(path),
        generation=Generation("1-a"),
        passage=Passage(number=number, text=text, headings=headings, page=page, line=number + 1),
        score=1.0,
    )
    return Ranked(candidate=candidate, score=1.0)


def folded(*each: Ranked, limit: int = 10, looked_at: int = 10) -> list[Folded]:
    return fold(joined(each), limit=limit, looked_at=looked_at)


def told(found: Sequence[Folded]) -> list[tuple[str, list[str]]]:
    """Return the paths kept, each with those of the passages it stands for."""
    return [
        (each.found.ranked.candidate.path, [str(same.path) for same in each.same]) for each in found
    ]


def test_neighbours_are_one_hit_where_the_best_of_them_stood() -> None:
    [first, second] = joined(
        [
            ranked("a.md", "three", number=3),
            ranked("b.md", "other", number=4),
            ranked("a.md", "two", number=2),
            ranked("a.md", "four", number=4),
        ]
    )
    assert (first.text, first.line) == ("two\n\nthree\n\nfour", 3)
    assert first.ranked.candidate.passage.number == 3
    assert second.text == "other"


def test_what_neighbours_share_is_shown_once() -> None:
    [found] = joined(
        [
            ranked("a.md", "B two. C three.\n\nD four.", number=1),
            ranked("a.md", "A one. B two. C three.", number=0),
            ranked("a.md", "Dr. No: else.", number=2),
        ]
    )
    assert found.text == "A one. B two. C three.\n\nD four.\n\nDr. No: else."


@pytest.mark.parametrize(
    "other",
    [
        ranked("a.md", "x", number=2, headings=("Title",)),
        ranked("b.md", "x", number=1, headings=("Title",)),
        ranked("a.md", "x", number=1, headings=("Title",), page=2),
        ranked("a.md", "x", number=1, headings=("Other",)),
        ranked("a.md", "x", number=1),
        ranked("a.md", "x", number=1, headings=("Title",), vault=vault_ref("v2")),
    ],
)
def test_what_stands_elsewhere_is_a_hit_of_its_own(other: Ranked) -> None:
    assert len(joined([ranked("a.md", "y", number=0, headings=("Title",)), other])) == 2


def test_a_documents_properties_are_one_hit_with_what_follows_them() -> None:
    [found] = joined(
        [
            ranked("llamas.md", "tags: [andes]", number=0),
            ranked("llamas.md", "They eat hay.", number=1, headings=("Llamas",)),
        ]
    )
    assert (found.text, found.line) == ("tags: [andes]\n\nThey eat hay.", 1)


def test_what_says_nearly_the_same_is_shown_once_and_named() -> None:
    found = folded(
        ranked("a.md", TEXT),
        ranked("b.md", "Something else."),
        ranked("copy.md", f"{TEXT} and more"),
        ranked("same.md", TEXT.upper()),
    )
    assert told(found) == [("a.md", ["copy.md", "same.md"]), ("b.md", [])]


def test_what_differs_in_a_number_or_in_much_is_shown() -> None:
    found = folded(
        ranked("january.md", f"{TEXT} 120"),
        ranked("february.md", f"{TEXT} 130"),
        ranked("half.md", f"{TEXT[: len(TEXT) // 2]} 120"),
        ranked("short.md", "a b"),
        ranked("shorter.md", "a c"),
    )
    assert [path for path, _ in told(found)] == [
        "january.md",
        "february.md",
        "half.md",
        "short.md",
        "shorter.md",
    ]


def test_text_without_blanks_is_compared_by_its_letters() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(80))
    found = folded(ranked("a.md", text), ranked("b.md", f"{text}一"), ranked("c.md", text[40:]))
    assert told(found) == [("a.md", ["b.md"]), ("c.md", [])]


def test_vaults_are_folded_apart() -> None:
    found = folded(ranked("a.md", TEXT), ranked("a.md", TEXT, vault=vault_ref("v2")))
    assert len(found) == 2


def test_duplicates_leave_room_for_as_many_as_were_asked_for() -> None:
    copies = [ranked(f"{number}.md", TEXT) for number in range(20)]
    others = [ranked("x.md", "One thing."), ranked("y.md", "Another."), ranked("z.md", "Third.")]
    found = folded(*copies, *others, limit=3, looked_at=5)
    assert [path for path, _ in told(found)] == ["0.md", "x.md", "y.md"]
    assert len(told(found)[0][1]) == 19
