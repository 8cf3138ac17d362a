"""Passwords that people chose, some words or lines after it is said that one follows.

`log in as ann with the password …`, a table with a column of them: the value must have the form of
a chosen password, digits among letters or beside signs, and never be a word, a version or a file.
"""

import re
from typing import Final

from archivolt.domain.secret_rules import SecretRule, text_before

_SAID: Final = (
    *("passw", "passphrase", "requirepass", "auth-pass", "mot de passe", "mots de passe", "mdp"),
    *("pwd", "contrase", "senha", "kennwort", "wachtwoord", "пароль", "密码", "密碼", "パスワード"),
    *("비밀번호", "wifi", "wi-fi", "wpa", "identifiants", "login", "credentials"),
)
_PASSWORD = re.compile("|".join(_SAID))
_SIGN = r"[A-Za-z0-9!@#$%^&*?+=_.-]"
_DIGITS_AMONG_LETTERS = (
    rf"(?={_SIGN}*[A-Za-z]\d+[A-Za-z])"
    rf"(?:(?={_SIGN}*[A-Z])(?={_SIGN}*[a-z])|(?={_SIGN}*[A-Za-z]\d+[A-Za-z]+\d))"
)
_DIGITS_BESIDE_SIGNS = (
    rf"(?={_SIGN}*[A-Za-z])(?={_SIGN}*(?:\d[!@#$%^&*?]|[!@#$%^&*?][A-Za-z0-9]*\d))"
)
_VALUE = (
    r"(?<![A-Za-z0-9!@#$%^&*?+=_./:\\<{-])"
    rf"(?={_SIGN}{{8,64}}(?![\w/(:@]))(?:{_DIGITS_AMONG_LETTERS}|{_DIGITS_BESIDE_SIGNS})"
    rf"(?P<secret>{_SIGN}{{8,64}})"
)
_NO_PASSWORD = re.compile(
    r"[$%{<]|\.?/|.*\.(?:html?|js|css|md|py|json|ya?ml|txt|com|org|net|io)\b"
    r"|(?i:argon2|base\d\d|ed25519|http2|ipv\d|oauth2|openid2|pbkdf2|saml2|sha\d|utf-?\d|web3|win32"
    r"|x\d)[\w.-]*$|v?\d+\.\d|[\w.+-]+@[a-z][\w-]*(?:\.[\w.-]+)?$"
)
# How far back it may be said, and how far the head of a table may be.
_NEAR: Final = 200
_NEAR_LINES: Final = 4
_TABLE: Final = 4_000
_BETWEEN_COLUMNS = re.compile(r"[|,;\t]")


def _is_chosen(match: re.Match[str]) -> bool:
    if _NO_PASSWORD.match(match["secret"]):
        return False
    before = text_before(match, _TABLE)
    near = "\n".join(before[-_NEAR:].lower().split("\n")[-_NEAR_LINES:])
    return bool(_PASSWORD.search(near)) or _is_in_column(before.rpartition("\n\n")[2])


def _is_in_column(before: str) -> bool:
    """Tell whether a table says in its first line that it holds passwords."""
    head = before.partition("\n")[0].lower()
    return bool(_BETWEEN_COLUMNS.search(head) and _PASSWORD.search(head))


CHOSEN_PASSWORD: Final = SecretRule(kind="password", marks=_SAID, source=_VALUE, accept=_is_chosen)
