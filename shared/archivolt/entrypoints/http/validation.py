"""What is wrong with a request, in the caller's language and in our words.

Names each field and the rule it breaks.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from archivolt.domain.messages import Language
from archivolt.domain.validation import broken_rule

_SHOWN = 5


class Problem(NamedTuple):
    """What is wrong: a phrase for a person, and the fields it is about.

    `unreadable`: the body is not JSON at all.
    """

    text: str
    fields: list[str]
    unreadable: bool


def problem_of(errors: Sequence[Mapping[str, Any]], language: Language) -> Problem:
    """Return the problem behind Pydantic's errors (the first five of them)."""
    shown = errors[:_SHOWN]
    fields = [_field(error) for error in shown]
    rules = [broken_rule(error["type"], error.get("ctx") or {}, language) for error in shown]
    return Problem(
        text="; ".join(f"{field} {rule}" for field, rule in zip(fields, rules, strict=True)),
        fields=fields,
        unreadable=any(error["type"] == "json_invalid" for error in errors),
    )


def _field(error: Mapping[str, Any]) -> str:
    place, *names = [str(part) for part in error["loc"]]
    values: Mapping[str, Any] = error.get("ctx") or {}
    if "field" in values:
        names.append(str(values["field"]))  # of a rule on the whole
    if error["type"] == "json_invalid":
        return place
    return ".".join(names) or place
