"""ETags as HTTP writes them (RFC 9110 §8.8.3 and §13.1.1)."""

from collections.abc import Mapping
from typing import Any


def etag_header(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the header for a result that has an `etag`."""
    etag = value.get("etag")
    return {"ETag": f'"{etag}"'} if isinstance(etag, str) and etag else {}


def etag_in(condition: str | None) -> str:
    """Return the ETag of an `If-Match` header; "" where any version will do."""
    wanted = (condition or "*").strip()
    return "" if wanted == "*" else wanted.removeprefix("W/").strip('"')
