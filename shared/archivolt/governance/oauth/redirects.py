"""Where a client may be answered: the only addresses to which a browser is ever sent with a code.

An address has to be registered, and is compared as it is written. A program on the person's own
machine takes any free port (RFC 8252 §7.3), so there the port alone may differ.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

from archivolt.domain.limits import MAX_REDIRECT_URI_CHARS

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# What a browser runs, shows or opens by itself is no application's own scheme.
_OF_BROWSERS: Final = frozenset(
    {
        *("about", "blob", "chrome", "chrome-extension", "content", "data", "edge", "file"),
        *("filesystem", "ftp", "intent", "jar", "javascript", "livescript", "mailto", "mhtml"),
        *("moz-extension", "ms-appinstaller", "resource", "search-ms", "sms", "tel", "urn"),
        *("vbscript", "view-source", "ws", "wss"),
    }
)
_PRIVATE_USE: Final = re.compile(r"[a-z][a-z0-9+.-]*:/[^\s]+", re.ASCII)
_PRINTED: Final = re.compile(r"[\x21-\x7e]+")


def is_acceptable(uri: str) -> bool:
    """Tell whether a client may register to be answered there."""
    if len(uri) > MAX_REDIRECT_URI_CHARS or not _PRINTED.fullmatch(uri) or "\\" in uri:
        return False
    parts = _split(uri)
    if parts is None or parts.fragment or "#" in uri or "@" in parts.netloc:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return parts.hostname in LOOPBACK
    return parts.scheme not in _OF_BROWSERS and bool(_PRIVATE_USE.fullmatch(uri))


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Tell whether an address is one of those registered, on any port of the loopback."""
    return any(uri == known or _differ_in_port(uri, known) for known in registered)


def place_of(uri: str) -> str:
    """Return what a person is told of an address: its host, or the scheme of an application."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def is_on_this_machine(uri: str) -> bool:
    """Tell whether a program on the person's own machine answers there."""
    parts = urlsplit(uri)
    return parts.scheme not in {"http", "https"} or parts.hostname in LOOPBACK


def with_parameters(uri: str, parameters: Mapping[str, str]) -> str:
    """Return an address with more parameters in its query."""
    joint = "&" if urlsplit(uri).query else ("" if uri.endswith("?") else "?")
    return f"{uri}{joint}{urlencode(parameters)}"


def _differ_in_port(uri: str, known: str) -> bool:
    one, other = _split(uri), _split(known)
    if one is None or other is None or not is_acceptable(uri):
        return False
    return (
        one.scheme == other.scheme == "http"
        and one.hostname == other.hostname
        and one.hostname in LOOPBACK
        and (one.path, one.query) == (other.path, other.query)
    )


def _split(uri: str) -> SplitResult | None:
    """Return an address in parts; None if it is none."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts
