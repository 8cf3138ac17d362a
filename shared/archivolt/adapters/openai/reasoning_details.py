"""OpenRouter's `reasoning_details`: thoughts in pieces, wanted back whole and in order."""

from archivolt.adapters.streaming.json_values import joined, objects, text
from archivolt.domain.tool import JsonObject

_GROWING = ("text", "summary", "data")


class ReasoningDetails:
    """Joins the pieces of one turn."""

    def __init__(self) -> None:
        self._items: list[JsonObject] = []

    def feed(self, details: object) -> None:
        """Take the `reasoning_details` of a delta, whatever they are."""
        for piece in objects(details):
            last = self._items[-1] if self._items else {}
            if last and all(last.get(key) == piece.get(key) for key in ("type", "index")):
                _extend(last, piece)
            else:
                self._items.append(dict(piece))

    def items(self) -> list[JsonObject]:
        """Return what was thought, its characters whole again."""
        return [
            {key: joined(value) if isinstance(value, str) else value for key, value in each.items()}
            for each in self._items
        ]


def _extend(item: JsonObject, piece: JsonObject) -> None:
    for key, value in piece.items():
        if key in _GROWING and text(value):
            item[key] = text(item.get(key)) + text(value)
        elif value is not None:
            item[key] = value
