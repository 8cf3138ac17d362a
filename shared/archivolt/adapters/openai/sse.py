"""Reads a stream of server-sent events, as providers send it, into JSON objects.

Stricter than nothing on purpose: blank lines may be missing, lines may end in any way, a chunk may
be spread over several `data:` lines or stand without `data:` at all; comments are passed over.
"""

import json
import re

from archivolt.adapters.openai.json_values import an_object
from archivolt.domain.tool import JsonObject

MAX_EVENT_BYTES = 8_000_000
"""No chunk of a chat is larger; beyond it a stream is hostile."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class UnreadableStreamError(Exception):
    """The bytes are not a stream of JSON objects."""


class ChunkDecoder:
    """Turns bytes, cut anywhere, into the chunks they hold. `done` tells that `[DONE]` was read."""

    def __init__(self) -> None:
        self.done = False
        self._rest = b""
        self._data = ""

    def feed(self, data: bytes) -> list[JsonObject]:
        """Return the chunks that are complete.

        Raises:
            UnreadableStreamError: A chunk is damaged or endless.

        """
        self._rest += data
        if len(self._rest) + len(self._data) > MAX_EVENT_BYTES:
            raise UnreadableStreamError
        *lines, self._rest = _lines(self._rest)
        return [chunk for line in lines for chunk in self._line(line)]

    def close(self) -> list[JsonObject]:
        """Return what the last bytes hold, though no line end follows them.

        Raises:
            UnreadableStreamError: A chunk is damaged.

        """
        line, self._rest = self._rest.rstrip(b"\r"), b""
        return [*self._line(line), *self._line(b"")]

    def _line(self, line: bytes) -> list[JsonObject]:
        if not line:
            return self._end_of_event()
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        if text.startswith("data:"):
            return self._more(text[5:].removeprefix(" "))
        return self._more(text) if text.startswith("{") else []

    def _more(self, text: str) -> list[JsonObject]:
        if text.strip() == "[DONE]":
            self.done = True
            return self._end_of_event()
        self._data = f"{self._data}\n{text}" if self._data else text
        if not self._data.lstrip().startswith("{"):
            self._data = ""  # a keep-alive such as `data: ping`
            return []
        try:
            chunk = json.loads(self._data)
        except (ValueError, RecursionError):
            return []  # the next line may complete it
        self._data = ""
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
