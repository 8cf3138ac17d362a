"""Text of others on a screen where somebody decides by what they see.

A document or a name may hold characters that no screen shows as letters: they move a terminal's
cursor, turn the direction of what follows, or are not seen at all, and so hide or forge a line.
"""

import re
from typing import Final

_LINE_END: Final = re.compile("\r\n?|[\u0085\u2028\u2029]")
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
_CONTROLS: Final = 0x20
_PICTURES: Final = 0x2400
_MARK: Final = "\ufffd"


def plainly(text: str) -> str:
    """Return text with a visible mark for each character that would not be seen as one."""
    return _UNSEEN.sub(_picture, _LINE_END.sub("\n", text))


def on_one_line(text: str) -> str:
    """Return text as a name: one line, single spaces, `plainly`."""
    return plainly(" ".join(text.split()))


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(_PICTURES + code) if code < _CONTROLS else _MARK
