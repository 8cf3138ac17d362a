"""Chooses which passages answer a question, and which part of each to quote."""

import re
from dataclasses import dataclass
from typing import Any

from archivolt.adapters.extractive.words import telling_words
from archivolt.domain.tool import JsonObject

MAX_PASSAGES = 3
MAX_QUOTE_CHARS = 600

MIN_COVERAGE = 0.5
"""A passage answers if it holds more than this share of the question's telling words…"""

MIN_SCORE = 0.95
"""…or if the search is as good as certain, as it is across languages, where no word is the same."""

# A text of fewer has hardly a meaning: it is near to any question that means nothing itself.
_MIN_MEANING_CHARS = 4

# A line that holds nothing but tags, or a rule, is markup around a text and no answer by itself.
_ONLY_MARKUP = re.compile(r"\s*(?:(?:</?[A-Za-z][^<>]*>\s*)+|[-*_]{3,}\s*)")
_FENCE = "```"

_SENTENCES = re.compile(r"(?<=[.!?…:])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A passage worth quoting: the part of it that fits, and where it is."""

    text: str
    uri: str
    path: str
    heading: str
    page: int | None


def best_quotes(question: str, hits: list[JsonObject]) -> list[Quote]:
    """Return the passages that answer, best first, at most three; `hits` are best first."""
    wanted = telling_words(question)
    ranked = [(_coverage(wanted, hit), -rank, hit) for rank, hit in enumerate(hits)]
    relevant = [entry for entry in ranked if entry[0] > MIN_COVERAGE or _is_certain(entry[2])]
    relevant.sort(key=lambda entry: entry[:2], reverse=True)
    quotes: dict[tuple[str, str], Quote] = {}
    for _, _, hit in relevant:
        quote = _quote(wanted, hit)
        if quote.text:
            quotes.setdefault((quote.uri, quote.text), quote)
    return list(quotes.values())[:MAX_PASSAGES]


def _coverage(wanted: frozenset[str], hit: JsonObject) -> float:
    where = f"{hit.get('path', '')} {hit.get('heading', '')} {hit.get('excerpt', '')}"
    return len(wanted & telling_words(where)) / len(wanted) if wanted else 0.0


def _is_certain(hit: JsonObject) -> bool:
    score: Any = hit.get("score")
    says_enough = len(str(hit.get("excerpt", "")).strip()) >= _MIN_MEANING_CHARS
    return says_enough and isinstance(score, (int, float)) and score >= MIN_SCORE


def _quote(wanted: frozenset[str], hit: JsonObject) -> Quote:
    page: Any = hit.get("page")
    return Quote(
        text=_focus(_readable(str(hit.get("excerpt", ""))), wanted),
        uri=str(hit.get("uri", "")),
        path=str(hit.get("path", "")),
        heading=str(hit.get("heading") or ""),
        page=page if isinstance(page, int) else None,
    )


def _readable(excerpt: str) -> str:
    """Return the excerpt without lines of mere markup; code stays as it is."""
    lines: list[str] = []
    in_code = False
    for line in excerpt.splitlines():
        in_code ^= line.lstrip().startswith(_FENCE)
        if in_code or not _ONLY_MARKUP.fullmatch(line):
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _focus(excerpt: str, wanted: frozenset[str]) -> str:
    """Return the run of sentences that holds most of the wanted words, if the whole is too long."""
    if len(excerpt) <= MAX_QUOTE_CHARS:
        return excerpt
    starts = [0, *(match.end() for match in _SENTENCES.finditer(excerpt))]
    windows = [(start, _end(excerpt, start, starts)) for start in starts]
    start, end = max(windows, key=lambda window: _worth(excerpt, window, wanted))
    before = "… " if start else ""
    after = " …" if end < len(excerpt) else ""
    return f"{before}{excerpt[start:end].strip()}{after}"


def _end(excerpt: str, start: int, starts: list[int]) -> int:
    """Return where the sentences from `start` end that fit a quote; one that is longer is cut."""
    limit = start + MAX_QUOTE_CHARS
    if limit >= len(excerpt):
        return len(excerpt)
    return max((at for at in starts if start < at <= limit), default=limit)


def _worth(excerpt: str, window: tuple[int, int], wanted: frozenset[str]) -> tuple[int, int, int]:
    start, end = window
    return len(wanted & telling_words(excerpt[start:end])), end - start, -start
