"""Takes secrets out of text before anyone but its owner reads it (O66).

What is taken out leaves a placeholder that names its kind. Redacting twice changes nothing more, so
every layer may do it. The rules: forms that anyone issues (`secret_rules`), tokens of one issuer
(`issued_tokens`), and what stands beside it gives away (`credential_rules`, `chosen_passwords`,
`named_values`).
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from archivolt.domain.credential_rules import WRITTEN_CREDENTIALS
from archivolt.domain.issued_tokens import ISSUED_TOKENS
from archivolt.domain.secret_rules import COMMON_FORMS, SecretRule

_RULES = (*COMMON_FORMS, *ISSUED_TOKENS, *WRITTEN_CREDENTIALS)
_MARKS: dict[str, list[int]] = {}
_MARKS_IN_RUNS: dict[str, list[int]] = {}
for _number, _rule in enumerate(_RULES):
    for _mark in _rule.marks:
        (_MARKS_IN_RUNS if _rule.unbroken else _MARKS).setdefault(_mark, []).append(_number)
# As long as the shortest token of an issuer: in prose there are few.
_RUN = re.compile(r"[A-Za-z0-9_+/.~%:=!$@|-]{15,}")
# What a secret never is: a moment, a number, a digest; text without a digit, sign or key word.
_HARMLESS = re.compile(r"[\dTZ:.+-]*|[0-9a-f-]*")
_NOT_A_BREAK = re.compile(r"[^\r\n]")
_SUSPECT = re.compile(r"[\d:=_-]|private|login|phrase|password", re.IGNORECASE)


class Redacted(NamedTuple):
    """Text without its secrets, and how many were taken out."""

    text: str
    secrets: int


def redact(text: str) -> Redacted:
    """Return `text` with a placeholder such as `[redacted:jwt]` in place of each secret."""
    secrets = 0
    for rule in rules_for(text):
        placeholder = f"[redacted:{rule.kind}]"
        text, found = _replace(rule, text, lambda _, placeholder=placeholder: placeholder)
        secrets += found
    return Redacted(text, secrets)


def redact_lines(text: str) -> str:
    """Return `text` as `redact` does, with as many lines as it had: what follows keeps its line."""
    for rule in rules_for(text):
        placeholder = f"[redacted:{rule.kind}]"
        text, _ = _replace(rule, text, lambda hidden, p=placeholder: p + "\n" * hidden.count("\n"))
    return text


def mask(data: bytes) -> bytes:
    """Return `data` with `*` over each byte of a secret; length, offsets and line breaks stay.

    Works on UTF-8 and on any encoding in which ASCII stands for itself.
    """
    try:
        text, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"
    return _masked(text, lambda sign: "*" * len(sign[0].encode(encoding))).encode(encoding)


def mask_text(text: str) -> str:
    """Return `text` with `*` over each character of a secret; length and line breaks stay."""
    return _masked(text, lambda _: "*")


def _masked(text: str, stars: Callable[[re.Match[str]], str]) -> str:
    for rule in rules_for(text):
        text, _ = _replace(rule, text, lambda hidden: _NOT_A_BREAK.sub(stars, hidden))
    return text


def rules_for(text: str) -> list[SecretRule]:
    """Return the rules that may find something in `text`, in order."""
    if _HARMLESS.fullmatch(text) or not _SUSPECT.search(text):
        return []
    numbers = {*_numbers(_MARKS, text), *_numbers(_MARKS_IN_RUNS, "\n".join(_RUN.findall(text)))}
    return [_RULES[number] for number in sorted(numbers)]


def _numbers(marks: dict[str, list[int]], text: str) -> Iterator[int]:
    small = text.lower()
    return (number for mark, numbers in marks.items() if mark in small for number in numbers)


def _replace(rule: SecretRule, text: str, hide: Callable[[str], str]) -> tuple[str, int]:
    found = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal found
        if rule.accept is not None and not rule.accept(match):
            return match[0]
        found += 1
        start, end = secret_span(match)
        hidden = hide(match.string[start:end])
        return match[0][: start - match.start()] + hidden + match[0][end - match.start() :]

    return rule.pattern.sub(replaced, text), found


def secret_span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret is: the group that holds it, or the whole match."""
    for group in ("secret", "double", "single", "code", "quoted", "bare"):
        if match.re.groupindex.get(group) and match[group] is not None:
            return match.span(group)
    return match.span()
