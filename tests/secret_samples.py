"""A broad public sample of secrets, put together at run time: nothing secret-shaped is kept here.

The forms are the rules of a scanner that others keep up to date, with hundreds of issuers. Each
sample is random text in one form, written down as people write such things.
"""

import importlib
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from archivolt.domain.redaction import redact
from tests.random_text import RandomText

# What such a rule finds beside secrets: names and addresses, which open nothing.
_NO_SECRET = re.compile(
    r"(?:client|application|account|access|key|tenant|app|cloud|api)-(?:id|name)\b|username|token-name"
    r"|-pub-|-public-key|project-url|rest-url|-repository|-host\b|-domain\b"
)
# The form is of several lines or words of its own: here it would be nonsense.
_NOT_ONE_VALUE = re.compile(
    r"kubernetes-secret|curl-auth|application-default-credentials|service-account$"
)
_AFTER_A_NAME = re.compile(r"\(\?:=\|>\|.{0,60}?,\)\[\\x60'\"\\s=\]\{0,5\}")
_SAID = {"access", "api", "auth", "client", "key", "pat", "personal", "private", "secret", "token"}

CONTEXTS = {
    "environment": "DEBUG=1\n{NAME}={secret}\nPORT=80\n",
    "shell": 'export {NAME}="{secret}"\n',
    "YAML": "service:\n  {name}: {secret}\n  retries: 3\n",
    "JSON": '{{"region": "eu", "{camel}": "{secret}"}}',
    "INI": "[api]\n{name} = {secret}\ntimeout = 3\n",
    "XML": "<settings><{camel}>{secret}</{camel}></settings>",
    "Python": 'client = Client({name}="{secret}", retries=3)',
    "JavaScript": "const {camel} = '{secret}';",
    "list": "- **{words}**: `{secret}`\n- region: eu\n",
    "English": "Use it with care. The {words} is {secret} until June.",
    "French": "Ne pas diffuser. {words}\u00a0: {secret}\nMerci\u00a0!",
    "table": "| Quoi | Valeur |\n|---|---|\n| {words} | {secret} |\n",
    "address": "https://api.example.org/v1/items?{name}={secret}&page=2",
}
"""Ways to write a secret down beside its name."""
ALONE = "Voici ce qu'il faut\u00a0:\n\n    {secret}\n\nBonne journ\u00e9e"
SERVICE = "{service} = {secret}\n"


class Sample(NamedTuple):
    """One secret: whose form it has, how it was written, the text, and what must go."""

    rule: str
    context: str
    text: str
    secret: str

    def is_caught(self) -> bool:
        """Tell whether nothing of the middle of the secret is left in the redacted text."""
        quarter = len(self.secret) // 4
        return self.secret[quarter : len(self.secret) - quarter] not in redact(self.text).text


@cache
def forms() -> dict[str, str]:
    """Return the public forms of secrets: a pattern by the rule's name."""
    scanner: Any = importlib.import_module("kingfisher_sdk")
    known = scanner.Rules(confidence="low")
    details = [known.detail(rule["id"]) for rule in known.metadata()]
    return {
        rule["id"]: rule["pattern"].replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
        for rule in details
        if rule["visible"]
        and not _NO_SECRET.search(rule["id"])
        and not _NOT_ONE_VALUE.search(rule["id"])
    }


def samples(seed: int = 7) -> Iterator[Sample]:
    """Yield samples of each form: one in each context that it can stand in."""
    for rule, pattern in forms().items():
        made = RandomText(random.Random(f"{seed} {rule}"))  # noqa: S311
        # Letter case is one of those that the form allows.
        form = pattern if "(?x)" in pattern else re.sub(r"\(\?[is]+\)", "", pattern)
        *before, form = _AFTER_A_NAME.split(form, maxsplit=1)
        yield from _written(rule, form, made, named=bool(before))


def _written(rule: str, form: str, made: RandomText, *, named: bool) -> Iterator[Sample]:
    words = re.sub(r"^.*?[./]|\.\d+$", "", rule).replace("/", "-").split("-")
    service = [word for word in words if word not in _SAID]
    last = {"service": SERVICE} if named and service else {"alone": ALONE}
    for context, template in {**CONTEXTS, **last}.items():
        whole = made.matching(form)
        secret = (made.group or whole).strip(" \n\"'`;\\")
        if len(whole) > len(secret) + 8:
            yield Sample(rule, "as it stands", whole, secret)
            return
        text = template.format(
            NAME="_".join(words).upper(),
            name="_".join(words),
            camel=words[0] + "".join(word.capitalize() for word in words[1:]),
            words=" ".join(words),
            service=" ".join(service),
            secret=secret,
        )
        yield Sample(rule, context, text, secret)
