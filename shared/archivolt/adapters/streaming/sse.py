"""Reads a stream of server-sent events, as providers send it, into JSON objects.

Stricter than nothing on purpose: blank lines may be missing, lines may end in any way, a chunk may
be spread over several lines, with `data:` or without it at all; comments are passed over.
"""

import json
import re

from archivolt.adapters.streaming.json_values import an_object
from archivolt.domain.tool import JsonObject

MAX_EVENT_BYTES = 8_000_000
"""No chunk of a chat is larger; beyond it a stream is hostile."""

MAX_LINES_OF_A_CHUNK = 200
"""Each of them may complete the chunk, and has it read again."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_FIELD = re.compile(r"(?:data|event|id|retry)?:")


class UnreadableStreamError(Exception):
    """The bytes are not a stream of JSON objects."""


class ChunkDecoder:
    """Turns bytes, cut anywhere, into the chunks they hold. `done` tells that `[DONE]` was read."""

    def __init__(self) -> None:
        self.done = False
        self._rest: list[bytes] = []
        self._size = 0
        self._data = ""
        self._lines = 0

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the chunks that are complete.

        Raises:
            UnreadableStreamError: A chunk is damaged or endless.

        """
        self._size += len(data)
        if self._size + len(self._data) > MAX_EVENT_BYTES:
            raise UnreadableStreamError
        waits_for_lf = bool(self._rest) and self._rest[-1].endswith(b"\r")
        self._rest.append(data)
        if not (waits_for_lf or b"\n" in data or b"\r" in data):
            return []
        *lines, rest = _lines(b"".join(self._rest))
        self._rest, self._size = [rest], len(rest)
        return [chunk for line in lines for chunk in self._line(line)]

    def close(self) -> list[JsonObject]:
        """Return what the last bytes hold, though no line end follows them.

        Raises:
            UnreadableStreamError: A chunk is damaged.

        """
        line, self._rest, self._size = b"".join(self._rest).rstrip(b"\r"), [], 0
        return [*self._line(line), *self._line(b"")]

    def _line(self, line: bytes) -> list[JsonObject]:
        if not line:
            return self._end_of_event()
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        if text.startswith("data:"):
            return self._more(text[5:].removeprefix(" "))
        # An error that a gateway writes in place of the stream is often set out over many lines.
        goes_on = bool(self._data) and not _FIELD.match(text)
        return self._more(text) if goes_on or text.startswith("{") else []

    def _more(self, text: str) -> list[JsonObject]:
        if text.strip() == "[DONE]":
            self.done = True
            return self._end_of_event()
        self._data = f"{self._data}\n{text}" if self._data else text
        self._lines += 1
        if not self._data.lstrip().startswith("{"):
            self._data, self._lines = "", 0  # a keep-alive such as `data: ping`
            return []
        try:
            chunk = json.loads(self._data)
        except (ValueError, RecursionError):
            if self._lines > MAX_LINES_OF_A_CHUNK:
                raise UnreadableStreamError from None
            return []  # the next line may complete it
        self._data, self._lines = "", 0
        return [an_object(chunk)]

    def _end_of_event(self) -> list[JsonObject]:
        if self._data:
            raise UnreadableStreamError
        return []


def _lines(data: bytes) -> list[bytes]:
    """Return the lines; the last is unfinished, and keeps a final CR that LF may follow."""
    if not data.endswith(b"\r"):
        return _LINE_END.split(data)
    *lines, last = _LINE_END.split(data[:-1])
    return [*lines, last + b"\r"]
