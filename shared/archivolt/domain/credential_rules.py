"""Passwords and keys that are recognised by the name they are written beside.

`password=…`, `"api_key": "…"`, `| token | … |`, `la clé est …`, `scheme://user:password@host`. Such
text also stands in documentation and in source code, so a value has the last word: a placeholder, a
variable, a plain word of prose is no secret.
"""

import re

from archivolt.domain.chosen_passwords import CHOSEN_PASSWORD
from archivolt.domain.named_values import NAMED_VALUES
from archivolt.domain.secret_rules import SecretRule, text_rule

# French sets a hard space, narrow or not, before a colon.
_BLANKS = "[ \t\u00a0\u202f]{0,3}"
# Each name begins with two sets of letters, both cases of each: a search by sets is several times
# faster than one that ignores case. What must stand before is looked at last.
_INITIAL = "[PpMmSsTtCcKkWw]"
_LOGIN_NAMES = (
    r"[Aa](?<=[Pp].)(?i:ss(?:word|wd|phrase|code|wort)|(?<![a-z]pa)ss)"
    r"|[Ww](?<=[Pp].)(?i:d|(?<![a-z]pw))|[Oo](?<=[Mm].)(?i:t[ _\u00a0-]?de[ _\u00a0-]?passe)"
    r"|[Dd](?<=[Mm].)(?i:p(?<![a-z]mdp))|[Oo](?<=[Cc].)(?i:ntrase[nñ]a)|[Ee](?<=[Ss].)(?i:nha)"
    r"|[Ee](?<=[Kk].)(?i:nnwort)|[Aa](?<=[Ww].)(?i:chtwoord)"
)
_KEY_PREFIXES = "api app access auth account encryption signing private master service license"
_KEY_NAMES = "|".join(
    [
        r"[Ee](?<=[Ss].)(?i:cret(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?base)?)",
        r"[Oo](?<=[Tt].)(?i:ken)",
        r"[Rr](?<=[Cc].)(?i:edentials?)",
        r"[Ee](?<=[Kk].)(?i:y(?:{}))".format(
            "|".join(
                f"(?<={word}{joint}key)"
                for word in _KEY_PREFIXES.split()
                for joint in ("", "_", "-")
            )
        ),
    ]
)
_SUFFIX = r"(?:[_.-](?:prod|production|dev|test|staging|default|old|new|live|\d{1,3}))?"
_VALUE = (
    r"(?:\"(?P<double>[^\"\n]{4,300})\"|'(?P<single>[^'\n]{4,300})'|`(?P<code>[^`\n]{4,300})`"
    r"|[«“]\s?(?P<quoted>[^»”\n]{4,300}?)\s?[»”]"
    # An & ends a value only where a query of an address goes on.
    r"|(?P<bare>(?:[^\s\"'`<>(){}\[\],;|&«“]|&(?![\w.-]{1,40}=)){6,300}))"
)
_SIGN = (
    rf"(?P<sign>(?:\*\*)?{_BLANKS}(?::=|=>|==?|[:\uff1a](?:\*\*)?|\|)[ \t\u00a0]{{0,3}}"
    r"|(?P<word>[ \u00a0](?:is|est|ist|es|was|vaut)[ \u00a0]:?)|>)"
)
_ASSIGNMENT = (
    rf"{_INITIAL}(?:(?P<password>{_LOGIN_NAMES})|{_KEY_NAMES})(?i:{_SUFFIX})[\"'`]?{_SIGN}{_VALUE}"
)

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
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\.?$|.*://|[./~]?/|@\w+|-{1,2}\w"
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_SYMBOL = re.compile(r"[!@#%^&*+=?~$]")
_KEY_TEXT = re.compile(r"[\w+/=.~:-]{12,300}$")
_MIN_PASSWORD = 6


def _is_secret(match: re.Match[str]) -> bool:
    quoted = match["double"] or match["single"] or match["code"] or match["quoted"]
    value = (quoted or match["bare"]).strip()
    if not _may_be_secret(value):
        return False
    if match["password"]:
        sure = bool(quoted) and not match["word"]
        return _is_password(value, quoted=sure, tight=match["sign"] == "=")
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


WRITTEN_CREDENTIALS: tuple[SecretRule, ...] = (
    SecretRule(
        kind="secret",
        marks=(
            *("pass", "pwd", "pw", "mdp", "key", "secret", "token", "credential"),
            *("contrase", "senha", "kennwort", "wachtwoord"),
        ),
        source=_ASSIGNMENT,
        accept=_is_secret,
    ),
    text_rule(
        "secret",
        "--pass --token --secret --api-key --pwd",
        r"--(?:pass(?:word|wd|phrase)?|pwd|token|secret|api-?key)[ \t]+[\"']?"
        r"(?P<secret>[^\s\"'<>-][^\s\"'<>]{5,200})",
        _is_token_text,
    ),
    text_rule(
        "authorization",
        "bearer basic authorization",
        r"(?:\bauthorization[\"']?[ \t]*[:=][ \t]*[\"']?"
        r"(?:(?:bearer|basic|(?:api-)?token|apikey)[ \t]+)?(?=[\w.~+/=-]{8})"
        r"|\bbearer[ \t]+(?=[\w.~+/=-]{16}))(?P<secret>[\w.~+/=-]{8,2000})",
        _is_token_text,
    ),
    text_rule(
        "password",
        "://",
        r"://[^\s/:@\"'<>?#]{0,100}:(?P<secret>[^\s/\"'<>\[\]]{2,200})@(?=[\w\[])",
        _is_no_placeholder,
    ),
    SecretRule(
        kind="password",
        marks=("-u ", "--user ", "-u=", "--user="),
        source=r"(?:\s-u|--user)[ =][\"']?[\w.@+-]{1,100}:(?P<secret>[^\s\"'<>]{4,200})",
        accept=_is_no_placeholder,
    ),
    text_rule(
        "password",
        "login",
        r"\blogin\s+\S{1,100}\s+password\s+(?P<secret>\S{4,200})",
        _is_no_placeholder,
    ),
    text_rule(
        "password",
        "identified password",
        r"\b(?:identified[ \t]+by|password)[ \t]+(?:password[ \t]+)?'(?P<secret>[^'\n]{4,200})'",
        _is_no_placeholder,
    ),
    text_rule(
        "password",
        "mysql sshpass mongo",
        r"\b(?:mysql\w*|sshpass|mongo\w*)\b[^\n|;]{0,200}?[ \t]-p[ \t]?[\"']?"
        r"(?P<secret>[^\s\"'<>-][^\s\"'<>]{3,200})",
        _is_token_text,
    ),
    text_rule(
        "password",
        "password",
        r"\bkey=\"[\w.:-]{0,40}password\"\s{1,5}value=\"(?P<secret>[^\"\n]{4,200})\"",
        _is_no_placeholder,
    ),
    CHOSEN_PASSWORD,
    *NAMED_VALUES,
)
"""Secrets that are recognised by what stands before them."""
