"""What secrets look like: the rule, and the forms that belong to no single issuer.

A rule is tried only where one of its `marks` (in small letters) occurs in the text, and compiled
when it is first tried, so that ordinary notes cost next to nothing. Where a pattern has a group
`secret`, only that group is the secret; otherwise the whole match is.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise


@dataclass(frozen=True, kw_only=True)
class SecretRule:
    """One kind of secret. `accept`, where there is one, has the last word on a match.

    An `unbroken` secret is one long run of characters that tokens are made of, marks included.
    """

    kind: str
    marks: tuple[str, ...]
    source: str
    unbroken: bool = False
    flags: re.RegexFlag = re.NOFLAG
    accept: Callable[[re.Match[str]], bool] | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The rule's expression."""
        return re.compile(self.source, self.flags)


# Nothing that a token could be made of stands before or after it. A slash may: in a path or an
# address it begins a name.
_START = r"(?<![A-Za-z0-9_+-])"
_END = r"(?![A-Za-z0-9_])"


def token_rule(kind: str, marks: str, body: str) -> SecretRule:
    """Return the rule of a token of the form `body` that stands by itself."""
    source = f"{_START}(?:{body}){_END}"
    return SecretRule(kind=kind, marks=tuple(marks.split()), source=source, unbroken=True)


def text_rule(
    kind: str, marks: str, source: str, accept: Callable[[re.Match[str]], bool] | None = None
) -> SecretRule:
    """Return the rule of a form in which letter case does not matter."""
    return SecretRule(
        kind=kind,
        marks=tuple(marks.split()),
        source=source,
        flags=re.IGNORECASE,
        accept=accept,
    )


def looks_random(text: str, changes: float = 0.18) -> bool:
    """Tell whether letters and digits alternate in `text` as chance has it, not as words have it.

    `changes` is how often at least the kind of character (digit, small, capital) must change; a
    capital that begins a word is no change.
    """
    if not any(map(str.isdigit, text)):
        return False
    kinds = [
        "d" if sign.isdigit() else "u" if sign.isupper() else "l" for sign in text if sign.isalnum()
    ]
    if len(kinds) < _SHORTEST_RANDOM or len(set(kinds)) == 1:
        return False
    turns = [pair for pair in pairwise(kinds) if pair[0] != pair[1] and pair != ("u", "l")]
    return len(turns) >= changes * (len(kinds) - 1)


_SHORTEST_RANDOM = 12
_LONGEST_PLACEHOLDER = 64


def text_before(match: re.Match[str], length: int) -> str:
    """Return up to `length` characters before a match, none of them before a placeholder's end.

    A rule that looks back over a placeholder would find more in redacted text than it found before.
    """
    text, end = match.string, match.start()
    start = max(0, end - length)
    placeholder = text.rfind("[redacted:", max(0, start - _LONGEST_PLACEHOLDER), end)
    if placeholder >= 0:
        start = max(start, text.find("]", placeholder) + 1)
    return text[start:end]


def _holds_private_key(match: re.Match[str]) -> bool:
    """Tell whether base64 is that of a private key: certificates begin alike."""
    head = match[0][:120]
    try:
        return b"PRIVATE KEY" in base64.b64decode(head[: len(head) // 4 * 4])
    except binascii.Error:
        return False


_PEM = r"PRIVATE KEY(?: BLOCK)?-----"
_KEYS = (
    text_rule(
        "private-key",
        "private",
        # Whole, or cut off: then as far as it looks like base64. "\\n" is a line break in JSON.
        r"-----BEGIN[A-Z0-9 _-]{0,40}"
        + _PEM
        + r"(?:(?:[^-]|-(?!----)){0,20000}+-----END[A-Z0-9 _-]{0,40}"
        + _PEM
        + r"|(?:\s|\\[nr]|>)*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr]|>)*)*)",
    ),
    text_rule(
        "private-key",
        "private-lines:",
        r"Private-Lines: \d+\s+(?P<secret>[A-Za-z0-9+/=\s]{40,20000})",
    ),
    SecretRule(
        kind="private-key",
        marks=("ls0tls1crudjti",),
        source=r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,20000}(?:\s{1,20}[A-Za-z0-9+/]{16,200})*={0,2}",
        accept=_holds_private_key,
    ),
    token_rule("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    text_rule(
        "seed-phrase",
        "mnemonic phrase seed",
        r"(?:seed|mnemonic|recovery phrase|recovery words|secr[eè]te|r[ée]cup[ée]ration)\b"
        r"[^\n:=]{0,40}[:=]\s{0,4}[\"'`]?(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b",
    ),
)

_GENERAL = (
    token_rule("jwt", "ey", r"ey[\w-]{8,}\.ey[\w-]{8,}\.[\w-]{8,}"),
    token_rule("jwt", "zxlk", r"ZXlK[\w+/-]{40,}={0,2}"),
    text_rule(
        "password-hash",
        "$",
        r"(?<!\w)\$(?:2[abxy]|1|5|6|7|y|apr1|argon2id?|pbkdf2[\w-]*)\$[./A-Za-z0-9$=,+-]{20,200}",
    ),
    text_rule(
        "password-hash", "{ssha {sha} {md5}", r"\{(?:S?SHA\d*|MD5)\}[A-Za-z0-9+/]{20,120}={0,2}"
    ),
)

COMMON_FORMS = (*_KEYS, *_GENERAL)
"""Keys, seeds, signed tokens and password hashes, whoever issued them."""
