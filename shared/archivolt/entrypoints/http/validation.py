"""What is wrong with a request, in the caller's language and in our words.

Names each field and the rule it breaks.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from archivolt.domain.messages import Language
from archivolt.domain.validation import broken_rule

_SHOWN, _LOOKED_AT = 5, 50
# What the library calls the forms of a value that may be this or that.
_FORM = re.compile(r"constrained-\w+|\w[\w-]*\[.*\]")


class Problem(NamedTuple):
    """What is wrong: a phrase for a person, and the fields it is about.

    `unreadable`: the body is not JSON at all.
    """

    text: str
    fields: list[str]
    unreadable: bool


def problem_of(errors: Sequence[Mapping[str, Any]], language: Language) -> Problem:
    """Return the problem behind Pydantic's errors (the first five of them)."""
    shown = [(_field(error), error) for error in errors[:_LOOKED_AT]]
    meant = [
        (field, broken_rule(error["type"], error.get("ctx") or {}, language))
        for field, error in shown
        if not _is_of_another_form(field, error, shown)
    ][:_SHOWN]
    return Problem(
        text="; ".join(f"{field} {rule}" for field, rule in meant),
        fields=[field for field, _ in meant],
        unreadable=any(error["type"] == "json_invalid" for error in errors),
    )


def _is_of_another_form(
    field: str, error: Mapping[str, Any], all_of_them: Sequence[tuple[str, Mapping[str, Any]]]
) -> bool:
    """Tell whether a value, which may be this or that, was meant to be something else.

    Each form complains, and one that was meant complains of more than the type.
    """
    return error["type"].endswith("_type") and any(
        other.startswith(f"{field}.") or (other == field and not each["type"].endswith("_type"))
        for other, each in all_of_them
    )


def _field(error: Mapping[str, Any]) -> str:
    place, *names = [str(part) for part in error["loc"] if not _FORM.fullmatch(str(part))]
    values: Mapping[str, Any] = error.get("ctx") or {}
    if "field" in values:
        names.append(str(values["field"]))  # of a rule on the whole
    if error["type"] == "json_invalid":
        return place
    return ".".join(names) or place
