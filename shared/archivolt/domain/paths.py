"""The one resolver of vault paths, for every door (O66).

A path is relative to its vault, in NFC, with forward slashes. It is never decoded, normalised away
or repaired: what is not plainly a path inside the vault is refused.
"""

import re
import unicodedata
from typing import NewType
from urllib.parse import quote

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_NAME_BYTES, MAX_PATH_BYTES

VaultPath = NewType("VaultPath", str)

ROOT = VaultPath("")

# One and two dot leaders, full-width and small full stops and slashes: look-alikes that some
# systems fold to "." or "/" (NFKC would).
_DOTS = str.maketrans(dict.fromkeys("․．﹒。｡", ".") | {"‥": "..", "…": "..."})
_SLASHES = re.compile("[\\\\∕⁄／＼⧵﹨⧸]")
_ENCODED = re.compile(r"%(25)*(2e|2f|5c|00)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_BIDI_AND_INVISIBLE = frozenset("\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")


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
    if not path:
        return "empty"
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        return "not Unicode"
    if len(encoded) > MAX_PATH_BYTES:
        return f"longer than {MAX_PATH_BYTES} bytes"
    if path.startswith("/"):
        return "absolute"
    if _SCHEME.match(path):
        return "a URI"
    if _SLASHES.search(path):
        return "a backslash or a look-alike of a slash"
    if _ENCODED.search(path) and _climbs_when_decoded(path):
        return "a disguised .. or separator"
    if any(_is_control(character) for character in path):
        return "a control or invisible character"
    return _refused_name(path)


def _climbs_when_decoded(path: str) -> bool:
    decoded = path
    while _ENCODED.search(decoded):
        decoded = _ENCODED.sub(_decode_once, decoded)
    names = re.split(r"[/\\\x00]", decoded)
    return len(names) != path.count("/") + 1 or any(name.strip() in {".", ".."} for name in names)


def _decode_once(match: re.Match[str]) -> str:
    text = match.group(0)
    inner = text[1:].removeprefix("25")
    return f"%{inner}" if text[1:].startswith("25") else chr(int(inner, 16))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or character in _BIDI_AND_INVISIBLE


def _refused_name(path: str) -> str | None:
    for name in path.split("/"):
        if not name:
            return "an empty name"
        if name.translate(_DOTS).strip() in {".", ".."}:
            return "a . or .. name"
        if name != name.strip():
            return "a name with a space at its start or end"
        if len(name.encode("utf-8")) > MAX_NAME_BYTES:
            return f"a name longer than {MAX_NAME_BYTES} bytes"
    return None


def name_of(path: str) -> str:
    """Return the last name of a path."""
    return path.rpartition("/")[2]


def vault_uri(vault: str, path: str = "", *, fragment: str = "") -> str:
    """Return the `vault://` URI of a vault, or of a file in it (O23), percent-encoded."""
    uri = f"vault://{quote(vault, safe='')}"
    if path:
        uri += f"/{quote(path, safe='/')}"
    return f"{uri}#{quote(fragment, safe='')}" if fragment else uri
