"""Patterns matched by RE2, which never goes back: time grows with the text alone."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

import re2

from archivolt.adapters.re2.literals import required_literals
from archivolt.adapters.re2.problems import problem_of
from archivolt.adapters.re2.syntax import (
    WORD,
    Token,
    crosses_lines,
    literal_tokens,
    sees_whole_text,
    tokens_of,
    written,
)
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_PATTERN_CHARS
from archivolt.domain.unaccented import composed, origins, unaccented
from archivolt.ports.patterns import Replacement, Span

# A pattern that finds nothing in one of these finds it nearly everywhere.
_PROBES: Final = (b"", b"a", b"a a", b" ", b"-", "é".encode())
_REFERENCE: Final = re.compile(r"\$(?:(\$)|(\d{1,2})|\{(\w+)\})")


class Re2Patterns:
    """A `PatternCompiler`."""

    def compile(
        self, pattern: str, *, regex: bool, case_sensitive: bool, whole_word: bool
    ) -> "Re2Pattern":
        """Return a pattern.

        Raises:
            InvalidRequestError: `invalid_pattern`, with the problem.

        """
        if len(pattern) > MAX_PATTERN_CHARS:
            raise InvalidRequestError("invalid_pattern", problem="pattern_too_long")
        tokens = tokens_of(pattern) if regex else literal_tokens(pattern)
        compiled = Re2Pattern(tokens, regex=regex, folds=not case_sensitive, whole_word=whole_word)
        if compiled.finds_nothing():
            raise InvalidRequestError("invalid_pattern", problem="pattern_finds_nothing")
        return compiled


class Re2Pattern:
    """A `Pattern`."""

    def __init__(
        self, tokens: Sequence[Token], *, regex: bool, folds: bool, whole_word: bool
    ) -> None:
        self.folds = folds
        self.literals = required_literals(tokens)
        self._tokens = tokens
        self._is_regex = regex
        self._whole_word = whole_word
        self._crosses = crosses_lines(tokens)
        self._one_by_one = self._crosses or (regex and sees_whole_text(tokens))
        self._finder = self._compiled(captures=False)

    def finds_nothing(self) -> bool:
        """Tell whether it also finds empty text."""
        found = (self._finder.search(probe) for probe in _PROBES)
        return any(match is not None and match.start() == match.end() for match in found)

    def prepared(self, text: str) -> bytes:
        """Return a text as `counts` and `prepared_spans` take it."""
        return self._comparable(text).encode("utf-8", "replace")

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the occurrences in a text, in its own characters."""
        places = _Places(text, self._comparable(text), accents=not self.folds)
        for start, end in self.prepared_spans(places.data):
            yield places.of(start), places.of(end)

    def prepared_spans(self, prepared: bytes) -> Iterator[Span]:
        """Yield the occurrences in a prepared text, in its bytes."""
        return self._spans(prepared, 0)

    def counts(self, prepared: Sequence[bytes], *, most: int) -> list[int]:
        """Return how often it occurs in each of these texts, counted up to about `most`."""
        if self._plain is not None:
            plain = self._plain
            return [min(self._cased(text).count(plain), most) for text in prepared]
        if self._one_by_one:
            return [_count(self._spans(text, 0), most) for text in prepared]
        return self._counted_together(prepared, most)

    def replacements(self, text: str, replacement: str) -> Iterator[Replacement]:
        """Yield the occurrences in a text, each with what takes its place.

        Raises:
            InvalidRequestError: `invalid_pattern`: the replacement names a group there is not.

        """
        if not self._is_regex:
            for start, end in self.spans(text):
                yield Replacement(start=start, end=end, text=replacement)
            return
        parts = self._parts_of(replacement)
        places = _Places(text, self._comparable(text), accents=not self.folds)
        whole = int(self._whole_word)
        for match in self._matches(self._capturing, places.data, 0):
            groups = [_taken(places, match.span(group)) for group in range(self._groups + 1)]
            put = "".join(groups[part] if isinstance(part, int) else part for part in parts)
            start, end = match.span(whole)
            yield Replacement(start=places.of(start), end=places.of(end), text=put)

    def _comparable(self, text: str) -> str:
        return unaccented(text) if self.folds else composed(text)

    def _compiled(self, *, captures: bool) -> re.Pattern[bytes]:
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not self.folds
        options.never_nl = not self._crosses
        try:
            pattern = written(self._tokens, folds=self.folds, captures=captures)
            if self._whole_word:
                pattern = f"(?:^|[^{WORD}])({pattern})(?:$|[^{WORD}])"
            return re2.compile(f"(?m){pattern}", options)
        except UnicodeEncodeError as error:
            raise InvalidRequestError("invalid_pattern", problem="pattern_not_unicode") from error
        except re2.error as error:
            problem = problem_of(str(error.args[0], "utf-8", "replace"), self._tokens)
            raise InvalidRequestError("invalid_pattern", problem=problem) from error

    @cached_property
    def _capturing(self) -> re.Pattern[bytes]:
        return self._compiled(captures=True)

    @property
    def _groups(self) -> int:
        return self._capturing.groups

    @cached_property
    def _plain(self) -> bytes | None:
        """The bytes to look for, where looking for bytes is all there is to do."""
        if self._is_regex or self._whole_word:
            return None
        text = self._comparable("".join(token.text for token in self._tokens))
        if self.folds and not text.isascii():
            return None
        return self._cased(text.encode("utf-8", "replace"))

    def _cased(self, data: bytes) -> bytes:
        return data.lower() if self.folds else data

    def _spans(self, data: bytes, start: int) -> Iterator[Span]:
        whole = int(self._whole_word)
        for match in self._matches(self._finder, data, start):
            yield match.span(whole)

    def _starts(self, data: bytes, start: int) -> Iterator[int]:
        """Yield where occurrences start: as `_spans`, in fewer steps."""
        if self._whole_word:
            return (place for place, _ in self._spans(data, start))
        spans = (match.span() for match in self._finder.finditer(data, start))
        return (place for place, end in spans if place < end)

    def _matches(
        self, regex: re.Pattern[bytes], data: bytes, start: int
    ) -> Iterator[re.Match[bytes]]:
        if not self._whole_word:
            for match in regex.finditer(data, start):
                if match.start() < match.end():
                    yield match
            return
        # What ends one word begins the next: the search goes on before it, not after.
        while match := regex.search(data, start):
            if match.start(1) < match.end(1):
                yield match
            start = max(match.end(1), start + 1)

    def _counted_together(self, prepared: Sequence[bytes], most: int) -> list[int]:
        """Return the counts from one pass: a call for each text would cost more than the texts."""
        ends = list(accumulate(len(text) + 1 for text in prepared))
        counts = [0] * len(prepared)
        data = b"\n".join(prepared)
        start: int | None = 0
        while start is not None:
            start = self._counted_up_to(most, data, start, ends, counts)
        return counts

    def _counted_up_to(
        self, most: int, data: bytes, start: int, ends: Sequence[int], counts: list[int]
    ) -> int | None:
        """Count until a text has `most`; return where the one after it starts."""
        number, end = -1, start
        for found in self._starts(data, start):
            if found >= end:
                number = bisect_right(ends, found)
                end = ends[number]
            counts[number] += 1
            if counts[number] >= most:
                return end if end < len(data) else None
        return None

    def _parts_of(self, replacement: str) -> list[str | int]:
        """Return a replacement in pieces: texts, and the numbers of groups."""
        parts: list[str | int] = []
        last = 0
        for match in _REFERENCE.finditer(replacement):
            parts += [replacement[last : match.start()], self._part(match)]
            last = match.end()
        return [*parts, replacement[last:]]

    def _part(self, reference: re.Match[str]) -> str | int:
        dollar, number, name = reference.groups()
        if dollar:
            return dollar
        shift = int(self._whole_word)
        names = self._capturing.groupindex
        wanted = int(number or name) + shift if (number or name).isdecimal() else names.get(name)
        if wanted is None or wanted > self._groups:
            raise InvalidRequestError("invalid_pattern", problem="pattern_group_unknown")
        return wanted


class _Places:
    """The way from bytes of a prepared text, asked in order, to characters of the text itself."""

    def __init__(self, text: str, comparable: str, *, accents: bool) -> None:
        self.text = text
        self.data = comparable.encode("utf-8", "replace")
        self._is_ascii = comparable.isascii() and len(comparable) == len(text)
        self._origins = None if comparable == text else origins(text, accents=accents)
        self._known = (0, 0)

    def of(self, byte: int) -> int:
        """Return the place in the text of a place in the bytes."""
        if self._is_ascii and self._origins is None:
            return byte
        known, character = self._known
        if byte < known:
            known = character = 0
        character += len(self.data[known:byte].decode("utf-8", "ignore"))
        self._known = (byte, character)
        return character if self._origins is None else self._origins[character]


def _taken(places: _Places, span: Span) -> str:
    start, end = span
    return "" if start < 0 else places.text[places.of(start) : places.of(end)]


def _count(spans: Iterator[Span], most: int) -> int:
    count = 0
    for _ in spans:
        count += 1
        if count >= most:
            break
    return count
