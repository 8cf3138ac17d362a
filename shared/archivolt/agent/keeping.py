"""A state as text and back, so that a loop can be kept and taken up by another process.

What the text is kept in, and how it is sealed, is up to whoever keeps it (decision 28).
"""

import json
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from archivolt.agent.state import LoopState


def state_to_json(state: LoopState) -> str:
    """Return a state as JSON in ASCII: models do write half characters, and they are kept.

    Images are not: they are large, and the model has seen them.
    """
    messages = tuple(replace(each, images=()) for each in state.messages)
    return json.dumps(_adapter().dump_python(replace(state, messages=messages), mode="json"))


def state_from_json(text: str) -> LoopState:
    """Return the state that `state_to_json` wrote.

    Raises:
        ValueError: It is another text, or that of a version with other fields.

    """
    return _adapter().validate_python(json.loads(text))


@cache
def _adapter() -> TypeAdapter[LoopState]:
    return TypeAdapter(LoopState)
