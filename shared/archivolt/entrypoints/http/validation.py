"""What is wrong with a request, in the caller's language and in our words.

Names the field and the rule it breaks; never repeats a value, which may be private, and never
shows the validation library's own sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from archivolt.domain.messages import Language, Message

_SHOWN = 5

_RULES: Final[Mapping[str, Message]] = {
    "bool": Message("must be true or false", "doit être vrai ou faux"),
    "dict": Message("must be an object", "doit être un objet"),
    "enum": Message("must be one of {expected}", "doit être l'une des valeurs {expected}"),
    "extra_forbidden": Message("is not known", "n'est pas connu"),
    "float": Message("must be a number", "doit être un nombre"),
    "greater_than": Message("must be more than {gt}", "doit être supérieur à {gt}"),
    "greater_than_equal": Message("must be {ge} or more", "doit être au moins {ge}"),
    "int": Message("must be a whole number", "doit être un nombre entier"),
    "json_invalid": Message("is not valid JSON", "n'est pas du JSON valide"),
    "less_than": Message("must be less than {lt}", "doit être inférieur à {lt}"),
    "less_than_equal": Message("must be {le} or less", "doit être au plus {le}"),
    "list": Message("must be a list", "doit être une liste"),
    "literal_error": Message("must be one of {expected}", "doit être l'une des valeurs {expected}"),
    "missing": Message("is required", "est obligatoire"),
    "model_attributes": Message("must be an object", "doit être un objet"),
    "string": Message("must be text", "doit être du texte"),
    "string_too_long": Message(
        "must have at most {max_length} characters", "doit avoir au plus {max_length} caractères"
    ),
    "string_too_short": Message(
        "must have at least {min_length} characters", "doit avoir au moins {min_length} caractères"
    ),
    "too_long": Message(
        "must have at most {max_length} entries", "doit avoir au plus {max_length} éléments"
    ),
}
_OTHERWISE: Final = Message("is not valid", "n'est pas valide")


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
    rules = [_rule(error, language) for error in shown]
    return Problem(
        text="; ".join(f"{field} {rule}" for field, rule in zip(fields, rules, strict=True)),
        fields=fields,
        unreadable=any(error["type"] == "json_invalid" for error in errors),
    )


def _field(error: Mapping[str, Any]) -> str:
    place, *names = [str(part) for part in error["loc"]]
    if error["type"] == "json_invalid":
        return place
    return ".".join(names) or place


def _rule(error: Mapping[str, Any], language: Language) -> str:
    kind = str(error["type"])
    message = _RULES.get(kind.removesuffix("_type").removesuffix("_parsing"), _OTHERWISE)
    template = message.fr if language is Language.FR else message.en
    return template.format_map(error.get("ctx") or {})
