"""Addresses that somebody gives us to call: http or https, and nothing hidden in them."""

from typing import Final
from urllib.parse import urlsplit

_FIRST_PRINTABLE: Final = "!"


def http_address(address: str) -> str:
    """Return an address that is what an endpoint's can be: no credentials, no fragment; "" stays.

    Raises:
        ValueError: It is not.

    """
    if not address:
        return address
    parts = urlsplit(address)
    plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    printable = all(sign >= _FIRST_PRINTABLE for sign in address) and address.isascii()
    if not (plain and printable) or "\\" in address:
        raise ValueError("not an http(s) address")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("more than an address")
    return address
