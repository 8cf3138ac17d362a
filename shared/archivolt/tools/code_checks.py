"""Code that a change would leave is checked before a person is asked about it (L23)."""

from dataclasses import replace

from archivolt.domain.code_check import CodeCheck, code_language
from archivolt.domain.confirmation import Preview
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.messages import Message
from archivolt.domain.redaction import redact
from archivolt.tools.context import Services


def with_code_checked(services: Services, preview: Preview, *, refuse: bool) -> Preview:
    """Return a preview whose note tells what is wrong with the code in it.

    What cannot be checked is shown as it is: a check is a help and no condition.

    Raises:
        InvalidRequestError: `code_check_failed`: something is wrong, and that is to be refused.

    """
    for path, text in preview.contents.items():
        check = _checked(services, path, text)
        if not check.total:
            continue
        problems = "; ".join(redact(str(error)).text for error in check.errors)
        if check.total > len(check.errors):
            problems += "; …"
        if refuse:
            raise InvalidRequestError(
                "code_check_failed", path=path, problems=problems, total=check.total
            )
        note = Message(
            f"Errors in the code of {path} (line:column): {problems}.",
            f"Erreurs dans le code de {path} (ligne:colonne) : {problems}.",
        )
        return replace(preview, note=note)
    return preview


def _checked(services: Services, path: str, text: str) -> CodeCheck:
    language = code_language(path)
    if language is None:
        return CodeCheck()
    try:
        return services.code.check(language, text)
    except UnavailableError:
        return CodeCheck()
