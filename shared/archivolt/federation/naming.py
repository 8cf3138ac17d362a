"""What a tool of another server is called: `mcp_<server>_<tool>` (L6).

Every provider takes letters, digits, `_` and `-`, 64 of them at most. A name that does not fit is
written otherwise and told apart by a digest, so that it is the same wherever it is made.
"""

import hashlib
import re
from typing import Final

from archivolt.domain.federation_limits import (
    MAX_TOOL_NAME_CHARS,
)

PREFIX: Final = "mcp_"
"""What the names of their tools begin with, and no name of ours."""

_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS: Final = 8


def offered_name(server: str, tool: str) -> str:
    """Return the name under which a model may call a tool; no other tool has it.

    `server` is an id, which has no `_`: where the name of the tool begins is plain.
    """
    prefix = f"{PREFIX}{server}_"
    plain = _OTHER.sub("_", tool)
    room = MAX_TOOL_NAME_CHARS - len(prefix)
    if plain == tool and 0 < len(tool) <= room:
        return prefix + tool
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{prefix}{plain[: room - _DIGEST_CHARS - 1]}_{digest}"
