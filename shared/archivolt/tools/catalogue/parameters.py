"""The parameters that several tools share, described for a model."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from archivolt.domain.limits import (
    MAX_GLOBS,
    MAX_LIST_LIMIT,
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    MAX_QUERY_CHARS,
)


def _split(value: object) -> object:
    """Read one text as the patterns between its commas."""
    if not isinstance(value, str):
        return value
    return [part for part in value.split(",") if part.strip()]


Vault = Annotated[str, Field(min_length=1, description="Name of the vault, from list_vaults.")]
AnyVault = Annotated[
    str | None, Field(description="Name of one vault; left out, all your vaults are searched.")
]
AnyTag = Annotated[
    str | None,
    Field(
        max_length=MAX_NAME_BYTES,
        description="Only documents with this tag, with or without #; project finds project/alpha.",
    ),
]
FilePath = Annotated[
    str,
    Field(min_length=1, description="Path of the file inside the vault, e.g. projects/plan.md."),
]
Directory = Annotated[
    str, Field(description="Path of a directory inside the vault; left out, the whole vault.")
]
ListLimit = Annotated[int, Field(ge=1, le=MAX_LIST_LIMIT, description="How many entries at most.")]
After = Annotated[
    str | None,
    Field(max_length=1_024, description="Where to go on: next_after of the previous result."),
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="What to look for, in words; French and English are both understood.",
    ),
]
Globs = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_PATH_BYTES)], ...],
    BeforeValidator(_split),
    Field(max_length=MAX_GLOBS),
]
Note = Annotated[
    str | None,
    Field(
        description="Present only when the result was cut: how to get the rest.",
        exclude_if=lambda note: note is None,
    ),
]
