"""Where the secrets of a text stand: what edits that must keep them need to know."""

from collections.abc import Iterator
from typing import NamedTuple

from archivolt.domain.redaction import mask_text, rules_for, secret_span


class Hidden(NamedTuple):
    """A secret: where it stands in the text, and what is shown in its place."""

    start: int
    end: int
    shown: str


def hidden_in(text: str) -> list[Hidden]:
    """Return the secrets of `text` in order.

    What each shows, put in its place, gives `redact(text).text`.
    """
    shown, hidden = text, list[Hidden]()
    for rule in rules_for(text):
        spans = [
            secret_span(match)
            for match in rule.pattern.finditer(shown)
            if rule.accept is None or rule.accept(match)
        ]
        if spans:
            shown, hidden = _hide(shown, hidden, spans, f"[redacted:{rule.kind}]")
    return hidden


def uncovers(old: str, new: str) -> bool:
    """Tell whether a secret that is hidden in `old` stands where readers see it in `new`."""
    secrets = {old[secret.start : secret.end] for secret in hidden_in(old)}
    if not secrets:
        return False
    before, after = mask_text(old), mask_text(new)
    return any(after.count(secret) > before.count(secret) for secret in secrets)


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
