"""Patterns of paths: `*` and `?` inside a name, `**` across directories, all else as it stands.

Brackets and braces mean themselves, so that `[[.md` can be asked for. Case and accents do not
matter.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from archivolt.domain.folding import folded

_WILDCARD: Final = re.compile(r"[*?]")
_PARTS: Final = re.compile(r"(?:^|(?<=/))\*\*/|\*\*+|\*|\?|[^*?]+")
_MEANING: Final = {"*": "[^/]*", "?": "[^/]"}


def path_globs(asked: Iterable[str]) -> tuple[str, ...]:
    """Return patterns as people write them as patterns of whole paths.

    `*.md` finds notes in every directory; `/*.md` those at the root; `drafts` and `drafts/` what
    is in every directory of that name; `projects/plan` the file or all that is below it.
    """
    return tuple(dict.fromkeys(glob for each in asked for glob in _whole(each)))


def _whole(asked: str) -> list[str]:
    glob = unicodedata.normalize("NFC", asked.strip()).removeprefix("./")
    if not glob.strip("/"):
        return []
    below_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    glob = glob if "/" in glob else f"**/{glob}"
    glob = glob.removeprefix("/")
    below = f"{glob}/**"
    if below_only:
        return [below]
    last_name = glob.rpartition("/")[2]
    return [glob] if _WILDCARD.search(last_name) else [glob, below]


def glob_regex(glob: str) -> str:
    """Return the regular expression that matches whole folded paths as `glob` does.

    It is for an engine of linear time: many stars make others slow.
    """
    return "".join(_regex_of(part) for part in _PARTS.findall(folded(glob)))


def _regex_of(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part.startswith("**"):
        return ".*"
    return _MEANING.get(part) or re.escape(part)
