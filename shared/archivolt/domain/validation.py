"""What is wrong with a value that was sent, in the caller's language and in our words.

Names the rule that was broken, after the types of errors that the validation library gives; never
repeats a value, which may be private, and never shows the library's own sentences.
"""

from collections.abc import Mapping
from typing import Any, Final

from archivolt.domain.messages import Language, Message

_RULES: Final[Mapping[str, Message]] = {
    "bool": Message("must be true or false", "doit être vrai ou faux"),
    "dict": Message("must be an object", "doit être un objet"),
    "enum": Message("must be one of {expected}", "doit être l'une des valeurs {expected}"),
    "extra_forbidden": Message("is not known", "n'est pas connu"),
    "float": Message("must be a number", "doit être un nombre"),
    "greater_than": Message("must be more than {gt}", "doit être supérieur à {gt}"),
    "greater_than_equal": Message("must be {ge} or more", "doit être au moins {ge}"),
    "int": Message("must be a whole number", "doit être un nombre entier"),
    "int_from_float": Message("must be a whole number", "doit être un nombre entier"),
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
    "string_unicode": Message("is not valid Unicode", "n'est pas de l'Unicode valide"),
    "too_long": Message(
        "must have at most {max_length} entries", "doit avoir au plus {max_length} éléments"
    ),
}
_OTHERWISE: Final = Message("is not valid", "n'est pas valide")


def broken_rule(kind: str, values: Mapping[str, Any], language: Language) -> str:
    """Return the end of a sentence that begins with the name of a field.

    Args:
        kind: The type of error, such as `missing` or `int_parsing`.
        values: The values of the rule, such as `ge`.
        language: The caller's.

    """
    message = _RULES.get(kind.removesuffix("_type").removesuffix("_parsing"), _OTHERWISE)
    return message.spoken(language).format_map(values)
