"""The one resolver of vault paths, for every door (O66).

A path is relative to its vault, in NFC, with forward slashes. It is never decoded, normalised away
or repaired: what is not plainly a path inside the vault is refused.
"""

import operator
import re
import unicodedata
from collections.abc import Callable
from typing import NewType
from urllib.parse import quote

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_NAME_BYTES, MAX_PATH_BYTES

VaultPath = NewType("VaultPath", str)

ROOT = VaultPath("")

# What some systems fold to "." or "/": one and two dot leaders, the ellipsis, full-width and small
# full stops, the fraction and division slashes, full-width and small (reverse) solidi.
_DOTS = {
    0x2024: ".",
    0xFF0E: ".",
    0xFE52: ".",
    0x3002: ".",
    0xFF61: ".",
    0x2025: "..",
    0x2026: "...",
}
_SLASHES = frozenset("/\\\u2215\u2044\uff0f\uff3c\u29f5\ufe68\u29f8")
_ENCODED = re.compile(r"%(25)*(2e|2f|5c|00)", re.IGNORECASE)
# The same characters in forms that no decoder should accept and some did: overlong UTF-8, %u.
_OVERLONG = re.compile(
    r"%(25)*(c0%(25)*a[ef]|c1%(25)*9c|e0%(25)*80%(25)*a[ef]|u00(2e|2f|5c)|u2215)", re.IGNORECASE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
# Zero-width space, direction marks and overrides, separators, word joiner, byte order mark. The
# zero-width joiner is not among them: emoji need it.
_INVISIBLE = frozenset(
    "\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff"
)

# `.git`, `.trash`, `.DS_Store`; not `..md`, which is a note about the dot.
_HIDDEN = re.compile(r"(?:^|/)\.[^./]")


def resolve_path(raw: str) -> VaultPath:
    """Return `raw` as the path of a file or directory inside a vault.

    Raises:
        InvalidRequestError: `invalid_path`, with the reason.

    """
    path = unicodedata.normalize("NFC", raw)
    reason = _refusal(path)
    if reason:
        raise InvalidRequestError("invalid_path", reason=reason)
    return VaultPath(path)


def resolve_directory(raw: str) -> VaultPath:
    """Return `raw` as a directory of a vault; "", "/" and "." are the root, a final "/" is dropped.

    Raises:
        InvalidRequestError: `invalid_path`, with the reason.

    """
    if raw in {"", "/", "."}:
        return ROOT
    return resolve_path(raw.removesuffix("/"))


def _refusal(path: str) -> str | None:
    return next((reason for breaks, reason in _RULES if breaks(path)), None) or next(
        (problem for name in path.split("/") if (problem := name_problem(name))), None
    )


def _is_not_unicode(path: str) -> bool:
    return any(unicodedata.category(character) == "Cs" for character in path)


def _is_too_long(path: str) -> bool:
    return len(path.encode("utf-8")) > MAX_PATH_BYTES


def _is_absolute(path: str) -> bool:
    return path.startswith("/")


def _is_uri(path: str) -> bool:
    return _SCHEME.match(path) is not None


def _climbs_when_decoded(path: str) -> bool:
    if _OVERLONG.search(path):
        return True
    decoded = path
    if not _ENCODED.search(path):
        return False
    while _ENCODED.search(decoded):
        decoded = _ENCODED.sub(_decode_once, decoded)
    names = re.split(r"[/\\\x00]", decoded)
    return len(names) != path.count("/") + 1 or any(name.strip() in {".", ".."} for name in names)


def _decode_once(match: re.Match[str]) -> str:
    text = match.group(0)
    inner = text[1:].removeprefix("25")
    return f"%{inner}" if text[1:].startswith("25") else chr(int(inner, 16))


# In order: each rule may rely on those before it.
_RULES: tuple[tuple[Callable[[str], bool], str], ...] = (
    (operator.not_, "path_empty"),
    (_is_not_unicode, "path_not_unicode"),
    (_is_too_long, "path_too_long"),
    (_is_absolute, "path_absolute"),
    (_is_uri, "path_uri"),
    (_climbs_when_decoded, "path_disguised"),
)


def name_problem(name: str) -> str | None:
    """Return why `name`, in NFC, may not name a file, a directory or a vault; None if it may.

    The reason is a code of `archivolt.domain.reasons`.
    """
    return next((reason for breaks, reason in _NAME_RULES if breaks(name)), None)


def _has_slash(name: str) -> bool:
    return not _SLASHES.isdisjoint(name)


def _has_control(name: str) -> bool:
    return any(unicodedata.category(c) in {"Cc", "Cs"} or c in _INVISIBLE for c in name)


def _is_dots(name: str) -> bool:
    return name.translate(_DOTS).strip() in {".", ".."}


def _has_outer_space(name: str) -> bool:
    return name != name.strip()


def _is_too_long_a_name(name: str) -> bool:
    return len(name.encode("utf-8")) > MAX_NAME_BYTES


_NAME_RULES: tuple[tuple[Callable[[str], bool], str], ...] = (
    (operator.not_, "name_empty"),
    (_has_slash, "name_slash"),
    (_has_control, "name_control_character"),
    (_is_dots, "name_dots"),
    (_has_outer_space, "name_outer_space"),
    (_is_too_long_a_name, "name_too_long"),
)


def is_hidden(path: VaultPath) -> bool:
    """Tell whether a document stays out of the index: a name on its path starts with one dot.

    Editors and systems keep their trash, settings and versions under such names.
    """
    return _HIDDEN.search(path) is not None


def name_of(path: str) -> str:
    """Return the last name of a path."""
    return path.rpartition("/")[2]


def parents_of(path: VaultPath) -> list[VaultPath]:
    """Return the directories a path stands in, outermost first, the root excepted."""
    names = path.split("/")
    return [VaultPath("/".join(names[:depth])) for depth in range(1, len(names))]


def is_below(path: str, directory: str) -> bool:
    """Tell whether a path is that of a directory (or file), or below it; all are below the root."""
    return not directory or path == directory or path.startswith(f"{directory}/")


def vault_uri(vault: str, path: str = "", *, fragment: str = "") -> str:
    """Return the `vault://` URI of a vault, or of a file in it (O23), percent-encoded."""
    uri = f"vault://{quote(vault, safe='')}"
    if path:
        uri += f"/{quote(path, safe='/')}"
    return f"{uri}#{quote(fragment, safe='=')}" if fragment else uri
