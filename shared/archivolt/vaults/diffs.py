"""What a change looks like: unified diffs without secrets, of a bounded length."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from archivolt.domain.limits import MAX_DIFF_LINE_CHARS, MAX_DIFF_LINES
from archivolt.domain.line_alignment import SameLines, same_lines
from archivolt.domain.redaction import redact

_CONTEXT: Final = 3
_MARGIN: Final = 32_000
_NO_NEWLINE: Final = "\\ No newline at end of file"

_Change = tuple[int, int, int, int]


class Diff(NamedTuple):
    """A unified diff, "" where no difference shows; its first `shown` lines of `total`."""

    text: str
    shown: int
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether lines are left out."""
        return self.shown < self.total


def redacted_diff(
    old: str, new: str, *, old_name: str, new_name: str, max_lines: int = MAX_DIFF_LINES
) -> Diff:
    """Return the unified diff of two texts with their secrets taken out.

    Secrets are taken out of the texts first, so that no line shows a part of one. Line ends are no
    difference. Long lines are cut.
    """
    before, after, skipped = _changed_part(old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    lines = list(_unified(_lines(redact(before).text), _lines(redact(after).text), skipped))
    shown = [_shortened(line) for line in lines[:max_lines]]
    text = "\n".join([f"--- {old_name}", f"+++ {new_name}", *shown, ""]) if lines else ""
    return Diff(text, len(shown), len(lines))


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_DIFF_LINE_CHARS else f"{line[:MAX_DIFF_LINE_CHARS]}…"


def _changed_part(old: str, new: str) -> tuple[str, str, int]:
    """Return whole lines of both texts with all that differs, and how many lines are before them.

    They have a margin that is longer than a secret and than what tells one, so that redacting them
    shows no more than redacting the whole would, in a fraction of the time.
    """
    head = _common_start(old, new)
    tail = _common_start(old[head:][::-1], new[head:][::-1])
    start = old.rfind("\n", 0, max(0, head - _MARGIN)) + 1
    end = old.find("\n", len(old) - tail + _MARGIN) + 1 or len(old)
    return old[start:end], new[start : len(new) - len(old) + end], old.count("\n", 0, start)


def _common_start(one: str, other: str) -> int:
    """Return how many characters the two begin with alike."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _lines(text: str) -> list[str]:
    """Return the lines of `text`; the last one says when no line break ends it."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n{_NO_NEWLINE}"] if last else lines


def _unified(old: Sequence[str], new: Sequence[str], skipped: int) -> Iterator[str]:
    for group in _groups(list(_changes(same_lines(old, new), len(old), len(new)))):
        start, end = max(0, group[0][0] - _CONTEXT), min(len(old), group[-1][1] + _CONTEXT)
        new_start = group[0][2] - (group[0][0] - start)
        new_end = group[-1][3] + (end - group[-1][1])
        ranges = (start, end), (new_start, new_end)
        before, after = (_range(first + skipped, last + skipped) for first, last in ranges)
        yield f"@@ -{before} +{after} @@"
        place = start
        for old_start, old_end, added_start, added_end in group:
            yield from _marked(" ", old[place:old_start])
            yield from _marked("-", old[old_start:old_end])
            yield from _marked("+", new[added_start:added_end])
            place = old_end
        yield from _marked(" ", old[place:end])


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from f"{mark}{line}".split("\n")


def _changes(same: Sequence[SameLines], old_size: int, new_size: int) -> Iterator[_Change]:
    old = new = 0
    for stretch in [*same, SameLines(old_size, new_size, 0)]:
        if stretch.old > old or stretch.new > new:
            yield old, stretch.old, new, stretch.new
        old, new = stretch.old + stretch.size, stretch.new + stretch.size


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    group: list[_Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    """Return a range as unified diffs write it: an empty one stands after the line before."""
    size = end - start
    return f"{start + 1 if size else start},{size}" if size != 1 else str(start + 1)
