"""What a server says to somebody whom it does not let in (RFC 6750 §3, RFC 9728 §5.1)."""

import re
from typing import Final

from archivolt.domain.federation_limits import MAX_OAUTH_SCOPE_CHARS
from archivolt.domain.mcp_accounts import joined_scopes

_BEARER: Final = re.compile(r"(?i)\bbearer\b")
_PARAMETER: Final = re.compile(r'(?<![A-Za-z0-9_-])([A-Za-z0-9_-]+) *= *(?:"([^"]*)"|([^\s,"]+))')
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def challenge_value(header: str, name: str) -> str:
    """Return a parameter of a `WWW-Authenticate` of bearer tokens, "" for none."""
    bearer = _BEARER.search(header)
    said = header[bearer.end() :] if bearer else ""
    # One after the other, texts in quotes as a whole: what is written in them is no parameter.
    for found in _PARAMETER.finditer(said):
        if found.group(1).lower() == name:
            return found.group(2) or found.group(3) or ""
    return ""


def scopes_in(text: str) -> str:
    """Return the scopes of a text (RFC 6749 §3.3); what is none is left out."""
    if len(text) > MAX_OAUTH_SCOPE_CHARS:
        return ""
    return joined_scopes(*(each for each in text.split(" ") if _SCOPE.fullmatch(each)))
