"""Passwords and keys that are recognised by the name they are written beside.

`password=…`, `"api_key": "…"`, `Authorization: Bearer …`, `scheme://user:password@host`. Such text
also stands in documentation and in source code, so a value has the last word: a placeholder, a
variable, a plain word of prose is no secret.
"""

import re

from archivolt.domain.secret_rules import SecretRule

# The first letter apart and in both cases: a search by a set of letters is several times faster
# than one that ignores case.
_INITIAL = "[PpMmSsTtCcKk]"
_LOGIN_NAMES = r"(?<=p)ass(?:word|wd|phrase|code)|(?<=p)wd|(?<=m)ot[ _-]?de[ _-]?passe|(?<=m)dp"
_KEY_PREFIXES = "api app access auth account encryption signing private master service license"
_KEY_NAMES = "|".join(
    [
        r"(?<=s)ecret(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?base)?",
        r"(?<=t)oken",
        r"(?<=c)redentials?",
        *(f"(?<={word}{joint}k)ey" for word in _KEY_PREFIXES.split() for joint in ("", "_", "-")),
    ]
)
_SUFFIX = r"(?:[_.-](?:prod|production|dev|test|staging|default|old|new|live|\d{1,3}))?"
_VALUE = (
    r"(?:\"(?P<double>[^\"\n]{4,300})\"|'(?P<single>[^'\n]{4,300})'"
    r"|(?P<bare>[^\s\"'`<>(){}\[\],;|&]{6,300}))"
)
_ASSIGNMENT = re.compile(
    rf"{_INITIAL}(?i:(?P<password>{_LOGIN_NAMES})|{_KEY_NAMES}){_SUFFIX}[\"']?"
    rf"(?P<sign>[ \t]{{0,3}}(?::=|=>|==?|:)[ \t]{{0,3}}){_VALUE}"
)
_MARKS = ("pass", "pwd", "mdp", "key", "secret", "token", "credential")

_PLACEHOLDER = re.compile(
    r"[<$%{^]|\[redacted|(?:(.)\1{3,}.{0,3}|\.{3,}.*|x{3,}.*|(?:my|your|the|an?|some|example|sample|dummy|fake"
    r"|test|votre|mon|placeholder|replace|insert|change)[-_ ].*)$|.*(?:\$\{|\{\{|<[a-z]|your[-_ ])",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"admin|basic|bearer|boolean|changeme|credentials|(?:current|new|one-time|confirm)-?\w*|default"
    r"|example|false|hidden|invalid|missing|none|null|number|object|optional|passphrase|passw\w*"
    r"|required|secret|string|text|token|true|undefined|unknown|user\w{0,4}|value",
    re.IGNORECASE,
)
# `settings.password`, `os.environ`, `this->token`: code that refers to a value.
_REFERENCE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\.?$|.*://|[./~]?/|@\w+"
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_SYMBOL = re.compile(r"[!@#%^&*+=?~$]")
_KEY_TEXT = re.compile(r"[\w+/=.~:-]{12,300}$")
_MIN_PASSWORD = 6


def _is_secret(match: re.Match[str]) -> bool:
    quoted = match["double"] or match["single"]
    value = (quoted or match["bare"]).strip()
    if not _may_be_secret(value):
        return False
    if match["password"]:
        return _is_password(value, quoted=bool(quoted), tight=match["sign"] == "=")
    return bool(_KEY_TEXT.match(value) and _DIGIT.search(value) and _LETTER.search(value))


def _may_be_secret(value: str) -> bool:
    return not (
        _WORDS.fullmatch(value.rstrip(".")) or _PLACEHOLDER.match(value) or _REFERENCE.match(value)
    )


def _is_password(value: str, *, quoted: bool, tight: bool) -> bool:
    """Tell whether the value of a password is one: in prose it must not look like a word."""
    telling = bool(_DIGIT.search(value) or _SYMBOL.search(value)) and bool(_LETTER.search(value))
    if quoted:
        return telling or (len(value) >= _MIN_PASSWORD and " " not in value)
    return telling or (tight and value.isascii() and not value.endswith((":", ".")))


def _is_no_placeholder(match: re.Match[str]) -> bool:
    return _may_be_secret(match["secret"])


def _is_token_text(match: re.Match[str]) -> bool:
    return bool(_is_no_placeholder(match) and _DIGIT.search(match["secret"]))


WRITTEN_CREDENTIALS = (
    SecretRule("secret", _MARKS, _ASSIGNMENT, _is_secret),
    SecretRule(
        "secret",
        ("--pass", "--token", "--secret", "--api-key", "--pwd"),
        re.compile(
            r"--(?:pass(?:word|wd|phrase)?|pwd|token|secret|api-?key)[ \t]+"
            r"(?P<secret>[^\s\"'<>-]\S{5,200})",
            re.IGNORECASE,
        ),
        _is_token_text,
    ),
    SecretRule(
        "authorization",
        ("bearer", "basic", "authorization"),
        re.compile(
            r"(?:\bauthorization[\"']?[ \t]*[:=][ \t]*[\"']?"
            r"(?:(?:bearer|basic|token|apikey)[ \t]+)?"
            r"|\bbearer[ \t]+)(?P<secret>[\w.~+/=-]{16,2000})",
            re.IGNORECASE,
        ),
        _is_token_text,
    ),
    SecretRule(
        "password",
        ("://",),
        re.compile(r"://[^\s/:@\"'<>?#]{0,100}:(?P<secret>[^\s/@\"'<>\[\]]{3,200})@(?=[\w\[])"),
        _is_no_placeholder,
    ),
    SecretRule(
        "password",
        ("-u ", "--user "),
        re.compile(r"(?:\s-u|--user)[ =][\"']?[\w.@+-]{1,100}:(?P<secret>[^\s\"'<>]{4,200})"),
        _is_no_placeholder,
    ),
    SecretRule(
        "password",
        ("login",),
        re.compile(r"\blogin\s+\S{1,100}\s+password\s+(?P<secret>\S{4,200})", re.IGNORECASE),
        _is_no_placeholder,
    ),
)
"""Secrets that are recognised by what stands before them."""
