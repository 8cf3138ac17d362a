"""Takes secrets out of text before anyone but its owner reads it (O66).

What is taken out leaves a placeholder that names its kind. Redacting twice changes nothing more, so
every layer may do it. The rules are in `secret_rules` and `credential_rules`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from archivolt.domain.credential_rules import WRITTEN_CREDENTIALS
from archivolt.domain.secret_rules import ISSUED_SECRETS, SecretRule

_RULES = (*ISSUED_SECRETS, *WRITTEN_CREDENTIALS)
_MARKS: dict[str, list[int]] = {mark: [] for rule in _RULES for mark in rule.marks}
for _number, _rule in enumerate(_RULES):
    for _mark in _rule.marks:
        _MARKS[_mark].append(_number)
# What a secret never is: a moment, a number, a digest; text without a digit, sign or key word.
_HARMLESS = re.compile(r"[\dTZ:.+-]*|[0-9a-f-]*")
_NOT_A_BREAK = re.compile(r"[^\r\n]")
_SUSPECT = re.compile(r"[\d:=]|private|login", re.IGNORECASE)


class Redacted(NamedTuple):
    """Text without its secrets, and how many were taken out."""

    text: str
    secrets: int


class Hidden(NamedTuple):
    """A secret: where it stands in the text, and what is shown in its place."""

    start: int
    end: int
    shown: str


def redact(text: str) -> Redacted:
    """Return `text` with a placeholder such as `[redacted:jwt]` in place of each secret."""
    secrets = 0
    for rule in _rules_for(text):
        text, found = _replace(rule, text, f"[redacted:{rule.kind}]")
        secrets += found
    return Redacted(text, secrets)


def hidden_in(text: str) -> list[Hidden]:
    """Return the secrets of `text` in order.

    What each shows, put in its place, gives `redact(text).text`.
    """
    shown, hidden = text, list[Hidden]()
    for rule in _rules_for(text):
        spans = [
            _span(match)
            for match in rule.pattern.finditer(shown)
            if rule.accept is None or rule.accept(match)
        ]
        if spans:
            shown, hidden = _hide(shown, hidden, spans, f"[redacted:{rule.kind}]")
    return hidden


class _Stretch(NamedTuple):
    """A stretch of the text as shown so far; in it the text has grown by `grown` characters."""

    start: int
    end: int
    placeholder: str
    grown: int


def _hide(
    shown: str, hidden: list[Hidden], spans: list[tuple[int, int]], placeholder: str
) -> tuple[str, list[Hidden]]:
    """Return the text and its secrets with `spans` of what was shown so far hidden too."""
    stretches = [*_as_shown(hidden), *(_Stretch(*span, placeholder, 0) for span in spans)]
    pieces: list[str] = []
    together: list[Hidden] = []
    place = grown = 0
    for start, end, instead, growth in _joined(sorted(stretches), shown):
        together.append(Hidden(start - grown, end - grown - growth, instead))
        pieces += (shown[place:start], instead)
        place = end
        grown += growth
    return "".join([*pieces, shown[place:]]), together


def _as_shown(hidden: list[Hidden]) -> Iterator[_Stretch]:
    grown = 0
    for start, end, instead in hidden:
        growth = len(instead) - (end - start)
        yield _Stretch(start + grown, start + grown + len(instead), "", growth)
        grown += growth


def _joined(stretches: list[_Stretch], shown: str) -> list[_Stretch]:
    """Return the stretches with what each shows; those that overlap become one.

    A new placeholder may cover an old one, or cut it: then what is left of it stays beside it.
    """
    joined: list[_Stretch] = []
    for start, end, placeholder, growth in stretches:
        instead = placeholder or shown[start:end]
        if not joined or start >= joined[-1].end:
            joined.append(_Stretch(start, end, instead, growth))
            continue
        first, last, before, grown = joined[-1]
        if placeholder:
            instead = shown[first:start] + placeholder + shown[end:last]
        else:
            instead = before + shown[last:end]
        joined[-1] = _Stretch(first, max(last, end), instead, grown + growth)
    return joined


def mask(data: bytes) -> bytes:
    """Return `data` with `*` over each byte of a secret; length, offsets and line breaks stay.

    Works on any encoding in which ASCII stands for itself.
    """
    return mask_text(data.decode("latin-1")).encode("latin-1")


def mask_text(text: str) -> str:
    """Return `text` with `*` over each character of a secret; length and line breaks stay."""
    for rule in _rules_for(text):
        text, _ = _replace(rule, text, None)
    return text


def _rules_for(text: str) -> list[SecretRule]:
    """Return the rules that may find something in `text`, in order."""
    if _HARMLESS.fullmatch(text) or not _SUSPECT.search(text):
        return []
    small = text.lower()
    numbers = {number for mark, rules in _MARKS.items() if mark in small for number in rules}
    return [_RULES[number] for number in sorted(numbers)]


def _replace(rule: SecretRule, text: str, placeholder: str | None) -> tuple[str, int]:
    found = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal found
        if rule.accept is not None and not rule.accept(match):
            return match[0]
        found += 1
        start, end = _span(match)
        hidden = (
            _NOT_A_BREAK.sub("*", match.string[start:end]) if placeholder is None else placeholder
        )
        return match[0][: start - match.start()] + hidden + match[0][end - match.start() :]

    return rule.pattern.sub(replaced, text), found


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret is: the group that holds it, or the whole match."""
    for group in ("secret", "double", "single", "bare"):
        if match.re.groupindex.get(group) and match[group] is not None:
            return match.span(group)
    return match.span()
