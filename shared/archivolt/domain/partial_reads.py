"""The mark on the ETag of a file that was read in part.

A text that replaces a whole file must not be based on a part of it: the ETag that comes with a
part says so, and an edit with it is refused.
"""

from typing import Final

from archivolt.domain.vault import ETag

_MARK: Final = "~part"


def etag_of_part(etag: str) -> str:
    """Return the ETag that a reader of a part is given; marking twice changes nothing."""
    return f"{whole_etag(etag)}{_MARK}"


def is_of_part(etag: str) -> bool:
    """Tell whether this ETag came with a part of a file."""
    return etag.endswith(_MARK)


def whole_etag(etag: str) -> ETag:
    """Return the store's ETag, whether it came with a part or not, in quotes or not."""
    return ETag(etag.strip().removeprefix("W/").strip('"').removesuffix(_MARK))
