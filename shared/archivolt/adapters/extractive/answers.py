"""Writes the answer out of what the tools gave: quotes, lists, or a plain "nothing found"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from archivolt.adapters.extractive.inert import inert_lines, plain
from archivolt.adapters.extractive.passages import Quote, best_quotes
from archivolt.adapters.extractive.phrases import Phrases
from archivolt.domain.tool import JsonObject

# What no search finds today nor tomorrow: it is news for who finds nothing.
_OF_WHAT_IS_UNREAD: Final = frozenset(
    {"documents_without_text", "documents_need_ocr", "documents_unread"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A text in Markdown and the URIs of what it quotes."""

    text: str
    sources: tuple[str, ...] = ()


def answer_from(
    question: str, results: Sequence[tuple[str, JsonObject]], phrases: Phrases
) -> Answer:
    """Return the answer; `results` are pairs of a tool's name and its result or error."""
    values = [value for _, value in results]
    vaults = next((value["vaults"] for value in values if "vaults" in value), None)
    if vaults is not None:
        return Answer(text=_vault_list(vaults, phrases))
    found = [value for value in values if "hits" in value]
    if not found:
        return Answer(text=phrases.failed.format(problem=_problem(values)))
    hits = _taken_in_turn([value["hits"] for value in found])
    quotes = best_quotes(question, hits)
    if not quotes:
        nothing = phrases.nothing_close if hits else phrases.nothing_found
        return Answer(text="\n\n".join([nothing, *_notices(found), phrases.no_model]))
    return _quoted(quotes, _notices(found, without=_OF_WHAT_IS_UNREAD), phrases)


def _quoted(quotes: Sequence[Quote], notices: Sequence[str], phrases: Phrases) -> Answer:
    blocks = [f"{_block(quote.text)}\n>\n> — {_source(quote, phrases)}" for quote in quotes]
    text = "\n\n".join([phrases.found, *blocks, *notices, phrases.no_model])
    return Answer(text=text, sources=tuple(dict.fromkeys(quote.uri for quote in quotes)))


def _block(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in inert_lines(text))


def _source(quote: Quote, phrases: Phrases) -> str:
    """Return a link to the passage, named by its file and the place in it."""
    page = phrases.page.format(page=quote.page) if quote.page else ""
    name = ", ".join(part for part in (quote.path, quote.heading, page) if part)
    return f"[{plain(name)}]({quote.uri})"


def _vault_list(vaults: Sequence[JsonObject], phrases: Phrases) -> str:
    if not vaults:
        return phrases.no_vaults
    lines = [
        phrases.one_vault.format(
            name=plain(str(vault.get("name"))),
            files=vault.get("files"),
            role=phrases.roles.get(str(vault.get("role")), vault.get("role")),
        )
        for vault in vaults
    ]
    return "\n".join([phrases.vaults, "", *lines])


def _taken_in_turn(lists: Sequence[list[JsonObject]]) -> list[JsonObject]:
    """Merge lists that are each best first; their scores cannot be compared."""
    longest = max((len(each) for each in lists), default=0)
    return [each[rank] for rank in range(longest) for each in lists if rank < len(each)]


def _notices(found: Sequence[JsonObject], *, without: frozenset[str] = frozenset()) -> list[str]:
    """Return what the searches say about themselves, of each kind the latest."""
    latest = {
        str(notice.get("code", "")): str(notice.get("message", ""))
        for value in found
        for notice in value.get("notices", [])
    }
    return [message for code, message in latest.items() if message and code not in without]


def _problem(values: Sequence[JsonObject]) -> str:
    for value in values:
        error = value.get("error")
        if isinstance(error, str):
            return error
        if isinstance(error, dict):
            return str(error.get("message", "?"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return "?"
