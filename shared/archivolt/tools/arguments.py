"""The arguments step: what a caller sent, read by the tool's model.

A mistake is told in the caller's language and in words a language model can act on; the values
themselves are never repeated.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.messages import Language, Message
from archivolt.tools.schemas import ToolInput

InputT = TypeVar("InputT", bound=ToolInput)

_MAX_PROBLEMS = 5
_MAX_WHERE = 100

# By pydantic's error type; a type that is not here is told in pydantic's English.
_PROBLEMS: Mapping[str, Message] = {
    "bool_parsing": Message("must be true or false", "doit être vrai ou faux (true, false)"),
    "bool_type": Message("must be true or false", "doit être vrai ou faux (true, false)"),
    "enum": Message("must be one of {expected}", "doit être l'une des valeurs {expected}"),
    "extra_forbidden": Message("is not a parameter", "n'est pas un paramètre"),
    "float_parsing": Message("must be a number", "doit être un nombre"),
    "float_type": Message("must be a number", "doit être un nombre"),
    "greater_than_equal": Message("must be at least {ge}", "doit valoir au moins {ge}"),
    "int_from_float": Message("must be a whole number", "doit être un nombre entier"),
    "int_parsing": Message("must be a whole number", "doit être un nombre entier"),
    "int_type": Message("must be a whole number", "doit être un nombre entier"),
    "less_than_equal": Message("must be at most {le}", "doit valoir au plus {le}"),
    "list_type": Message("must be a list", "doit être une liste"),
    "missing": Message("is missing", "manque"),
    "string_too_long": Message(
        "must have at most {max_length} characters", "doit avoir au plus {max_length} caractères"
    ),
    "string_too_short": Message(
        "must have at least {min_length} characters", "doit avoir au moins {min_length} caractères"
    ),
    "string_type": Message("must be text", "doit être un texte"),
    "string_unicode": Message("is not valid Unicode", "n'est pas de l'Unicode valide"),
}


def read_arguments(model: type[InputT], arguments: Mapping[str, Any], language: Language) -> InputT:
    """Return the arguments as the tool takes them.

    Raises:
        InvalidRequestError: `invalid_arguments`, with each problem and its parameter.

    """
    _require_unicode(arguments, language)
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=True)
    problems = [_told(detail, language) for detail in details[:_MAX_PROBLEMS]]
    raise InvalidRequestError("invalid_arguments", problem="; ".join(problems))


def _require_unicode(arguments: Mapping[str, Any], language: Language) -> None:
    """Refuse halves of surrogate pairs, which JSON can carry and no store can keep."""
    for name, value in arguments.items():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
        except UnicodeEncodeError as error:
            message = _PROBLEMS["string_unicode"]
            problem = message.fr if language is Language.FR else message.en
            raise InvalidRequestError(
                "invalid_arguments", problem=f"{name[:_MAX_WHERE]} {problem}"
            ) from error


def _told(detail: ErrorDetails, language: Language) -> str:
    where = ".".join(str(part) for part in detail["loc"])[:_MAX_WHERE]
    message = _PROBLEMS.get(detail["type"])
    if message is None:
        return f"{where} {detail['msg']}"
    template = message.fr if language is Language.FR else message.en
    return f"{where} {template.format_map(detail.get('ctx', {}))}"
