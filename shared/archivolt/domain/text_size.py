"""How long a text is as it is sent."""


def utf8_size(text: str) -> int:
    """Return how many bytes a text has in UTF-8; half a character counts as what replaces it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
