"""The truncate step: a result that fits, and that says how to read on (L13).

Length is that of the result's JSON, in characters, as `json.dumps(…, ensure_ascii=False)` gives it.
A cut result keeps the shape its schema promises.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from archivolt.domain.messages import Language, message_for
from archivolt.domain.partial_reads import etag_of_part
from archivolt.domain.tool import JsonObject, ToolResult

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)

Position = Callable[[JsonObject, int], Any]
"""Where to read on, given the uncut result and how much of its field is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How a result gives way: the end of one list, or of one text, is left out.

    Args:
        field: The list or the text.
        cursor: The field that receives the position to go on from.
        argument: The argument under which a caller gives that position back.
        position: Computes it; None where a caller can only ask for less.
        unit: The length kept is a multiple of this (4 for base64).
        by_line: A text ends at a line break if one is near.
        to_notices: The sentence about the cut goes to the list `notices`, not to `note`.
        etag: The field with the ETag of a file of which a cut result is only a part.
        then: What gives way too where that is not enough.

    """

    field: str
    cursor: str = ""
    argument: str = ""
    position: Position | None = None
    unit: int = 1
    by_line: bool = False
    to_notices: bool = False
    etag: str = ""
    then: "Cut | None" = None

    def at(self, value: JsonObject, kept: int, language: Language) -> JsonObject:
        """Return `value` with only the first `kept` items or characters of the field."""
        shortened = value | {self.field: value[self.field][:kept]}
        if self.position is not None:
            shortened[self.cursor] = self.position(value, kept)
        if self.etag:
            shortened[self.etag] = etag_of_part(value[self.etag])
        sentence = self._sentence(shortened, len(value[self.field]), language)
        if not self.to_notices:
            return shortened | {"note": sentence}
        notices = cast("list[JsonObject]", value["notices"])
        return shortened | {"notices": [*notices, {"code": self._code, "message": sentence}]}

    def end_of_line(self, value: JsonObject, kept: int) -> int:
        """Return `kept`, or less where a text is better cut after a line break."""
        if not self.by_line:
            return kept
        line_end = cast("str", value[self.field]).rfind("\n", kept * 4 // 5, kept)
        return kept if line_end < 0 else line_end + 1

    @property
    def _code(self) -> str:
        return "result_continues" if self.position else "result_cut"

    def _sentence(self, shortened: JsonObject, total: int, language: Language) -> str:
        details = {
            "argument": self.argument,
            "position": json.dumps(shortened.get(self.cursor), ensure_ascii=False),
            "kept": len(shortened[self.field]),
            "total": total,
        }
        return message_for(self._code, language, details)


def after_last(field: str, key: str = "path") -> Position:
    """Read on after the last item kept, which its `key` names."""
    return lambda value, kept: value[field][kept - 1][key]


def from_offset(value: JsonObject, kept: int) -> int:
    """Read on `kept` further than this result started."""
    return cast("int", value["offset"]) + kept


def truncate(value: JsonObject, cut: Cut, language: Language, *, limit: int) -> ToolResult:
    """Return `value`, cut where its JSON has more than `limit` characters.

    At least one unit is kept, so that a caller who reads on always gets further.
    """
    size = length = json_length(value)
    shortened = value
    step: Cut | None = cut
    while step is not None and length > limit:
        if shortened[step.field]:
            shortened = _shortened(shortened, step, language, limit)
            length = json_length(shortened)
        step = step.then
    return ToolResult(value=shortened, size=size, truncated=shortened is not value)


def _shortened(value: JsonObject, cut: Cut, language: Language, limit: int) -> JsonObject:
    fits, too_much = 1, len(value[cut.field]) // cut.unit + 1
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        if json_length(cut.at(value, middle * cut.unit, language)) <= limit:
            fits = middle
        else:
            too_much = middle
    return cut.at(value, cut.end_of_line(value, fits * cut.unit), language)


def json_length(value: JsonObject) -> int:
    """Return the length of a result's JSON in characters."""
    return len(_ENCODER.encode(value))
