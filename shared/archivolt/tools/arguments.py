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
from archivolt.domain.messages import Language
from archivolt.domain.validation import broken_rule
from archivolt.tools.schemas import ToolInput

InputT = TypeVar("InputT", bound=ToolInput)

_MAX_PROBLEMS = 5
_MAX_WHERE = 100


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
    problems = [_told(detail, model, language) for detail in details[:_MAX_PROBLEMS]]
    raise InvalidRequestError("invalid_arguments", problem="; ".join(problems))


def _require_unicode(arguments: Mapping[str, Any], language: Language) -> None:
    """Refuse halves of surrogate pairs, which JSON can carry and no store can keep."""
    for name, value in arguments.items():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
        except UnicodeEncodeError as error:
            problem = f"{name[:_MAX_WHERE]} {broken_rule('string_unicode', {}, language)}"
            raise InvalidRequestError("invalid_arguments", problem=problem) from error


def _told(detail: ErrorDetails, model: type[ToolInput], language: Language) -> str:
    where = ".".join(str(part) for part in detail["loc"])[:_MAX_WHERE]
    rule = broken_rule(detail["type"], detail.get("ctx", {}), language)
    if detail["type"] != "extra_forbidden":
        return f"{where} {rule}"
    return f"{where} {rule} ({', '.join(model.model_fields)})"
