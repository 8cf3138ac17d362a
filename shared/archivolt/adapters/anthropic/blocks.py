"""The blocks of a message: text, thoughts, calls, and what a provider's own tools left."""

import json
from dataclasses import dataclass, field
from typing import Any, Self

from archivolt.adapters.streaming.json_values import an_object, joined, objects, text
from archivolt.adapters.streaming.pairs import arguments_object
from archivolt.domain.tool import JsonObject

_CALLS = frozenset({"tool_use", "server_tool_use"})


@dataclass(slots=True, eq=False)
class Block:
    """One block as far as it is known. `raw` is how it began, `thoughts` is for nobody to see."""

    kind: str
    raw: JsonObject = field(default_factory=dict[str, Any])
    text: str = ""
    thoughts: str = ""
    signature: str = ""
    partial_input: str = ""
    citations: list[JsonObject] = field(default_factory=list[JsonObject])
    stopped: bool = False

    @classmethod
    def begun(cls, raw: JsonObject) -> Self:
        """Return the block that begins so."""
        kind = text(raw.get("type")) or "text"
        return cls(
            kind=kind,
            raw=raw,
            text=text(raw.get("text")) if kind == "text" else "",
            thoughts=text(raw.get("thinking")),
            signature=text(raw.get("signature")),
            citations=objects(raw.get("citations")),
        )

    @property
    def id(self) -> str:
        """The id of a call."""
        return text(self.raw.get("id"))

    @property
    def name(self) -> str:
        """The name of a call."""
        return text(self.raw.get("name"))

    @property
    def arguments(self) -> str:
        """The JSON text of a call's arguments: in pieces, or where it began."""
        whole = an_object(self.raw.get("input"))
        return joined(self.partial_input) or (json.dumps(whole) if whole else "{}")

    def is_again(self, other: "Block") -> bool:
        """Tell whether `other`, which begins at the same place, is this block sent twice."""
        return (self.kind, self.id, self.name) == (other.kind, other.id, other.name)

    def extend(self, delta: JsonObject) -> str:
        """Take a delta and return the text in it."""
        said = text(delta.get("text")) if self.kind == "text" else ""
        self.text += said
        self.thoughts += text(delta.get("thinking"))
        self.signature += text(delta.get("signature"))
        self.partial_input += text(delta.get("partial_json"))
        if citation := an_object(delta.get("citation")):
            self.citations.append(citation)
        return said

    def echoed(self, place: int | None) -> JsonObject:
        """Return the block as it has to come back, {} where it may not; `place` is a call's."""
        match self.kind:
            case "text":
                cited: JsonObject = {"citations": self.citations} if self.citations else {}
                said = joined(self.text)
                return {"type": "text", "text": said, **cited} if said.strip() else {}
            case "thinking":
                thoughts = {"thinking": joined(self.thoughts), "signature": self.signature}
                return {"type": "thinking", **thoughts} if self.signature else {}
            case "tool_use":
                return {} if place is None else {"call": place}
            case kind if kind in _CALLS:
                return {**self.raw, "input": arguments_object(self.arguments)}
            case kind if kind == "redacted_thinking" or kind.endswith("_tool_result"):
                return self.raw
            case _:
                return {}
