"""Which encodings a document is believed to be in."""

import codecs
from typing import Final

# Those the manual of `codecs` calls specific to Python: nobody writes documents in them, and some
# take minutes.
_PYTHONS_OWN: Final = frozenset(
    (
        *("idna", "mbcs", "oem", "palmos", "punycode"),
        *("raw-unicode-escape", "undefined", "unicode-escape"),
    )
)


def is_charset(label: str) -> bool:
    """Tell whether a label names an encoding that documents are written in."""
    try:
        return codecs.lookup(label).name not in _PYTHONS_OWN
    except (LookupError, ValueError):  # a label may hold what no name does
        return False
