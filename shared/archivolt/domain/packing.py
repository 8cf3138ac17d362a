"""Long text made short before it is sealed: what is sealed no longer compresses."""

import zlib
from base64 import b64decode, b64encode


def packed(text: str) -> str:
    """Return a text compressed, in ASCII."""
    return b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> str:
    """Return the text that `packed` made shorter.

    Raises:
        ValueError: It is another text.

    """
    try:
        return zlib.decompress(b64decode(text)).decode()
    except zlib.error as error:
        raise ValueError from error
