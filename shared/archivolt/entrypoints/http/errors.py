"""How errors are told over HTTP: one body, one table of statuses, the caller's language.

Knows status codes and headers; refuses to know what went wrong beyond an error's code.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from archivolt.domain.errors import (
    ArchivoltError,
    BudgetExceededError,
    ConflictError,
    Detail,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.domain.messages import Language, language_of
from archivolt.entrypoints.http.validation import problem_of
from archivolt.observability import logger

_STATUSES: Final[Mapping[type[ArchivoltError], HTTPStatus]] = {
    InvalidRequestError: HTTPStatus.BAD_REQUEST,
    UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    NotFoundError: HTTPStatus.NOT_FOUND,
    ConflictError: HTTPStatus.CONFLICT,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    UnsupportedContentError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    RateLimitedError: HTTPStatus.TOO_MANY_REQUESTS,
    BudgetExceededError: HTTPStatus.TOO_MANY_REQUESTS,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
}

_CODES_OF_STATUSES: Final[Mapping[int, str]] = {
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
}


class ErrorContent(BaseModel):
    """What went wrong: a stable code, a sentence in the caller's language, its values."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorBody(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorContent


DOCUMENTED_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorBody, "description": HTTPStatus(status).phrase}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}
"""The error answers that any operation may give, for OpenAPI."""


def add_error_handlers(app: Starlette) -> None:
    """Make the application answer every error in our form."""
    app.add_exception_handler(ArchivoltError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_http_exception)
    app.add_exception_handler(RequestValidationError, _answer_invalid)


def error_response(
    error: ArchivoltError,
    language: Language,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the answer for an error; `status` overrides the one of the error's kind."""
    content = ErrorContent(
        code=error.code, message=error.message(language), details=dict(error.details)
    )
    return JSONResponse(
        ErrorBody(error=content).model_dump(),
        status_code=status or status_of(error),
        headers={**_retry_after(error), **(headers or {})},
    )


def status_of(error: ArchivoltError) -> HTTPStatus:
    """Return the HTTP status for an error's kind."""
    for kind in type(error).__mro__:
        if kind in _STATUSES:
            return _STATUSES[kind]
    return HTTPStatus.INTERNAL_SERVER_ERROR


def language_for(request: Request) -> Language:
    """Return the language the caller reads."""
    return language_of(request.headers.get("accept-language"))


def challenge(error: UnauthenticatedError, resource_metadata: str) -> str:
    """Return the value of `WWW-Authenticate` (RFC 6750 §3, RFC 9728 §5.1).

    `resource_metadata` is a URL, or empty when there is none to point at.
    """
    parameters: list[str] = []
    if error.code != "missing_token":
        parameters.append('error="invalid_token"')
    if resource_metadata:
        parameters.append(f'resource_metadata="{resource_metadata}"')
    return f"Bearer {', '.join(parameters)}".rstrip()


def _retry_after(error: ArchivoltError) -> dict[str, str]:
    seconds: Detail = error.details.get("retry_after")
    return {} if seconds is None else {"Retry-After": str(seconds)}


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, ArchivoltError):
        raise error
    headers: dict[str, str] = {}
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = challenge(error, request.app.state.resource_metadata)
    if isinstance(error, UnavailableError):
        cause = type(error.__cause__).__name__ if error.__cause__ else ""
        logger.warning("unavailable", extra={"code": error.code, "cause": cause})
    return error_response(error, language_for(request), headers=headers)


async def _answer_http_exception(request: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: an unknown route, a wrong method, an unreadable body."""
    if not isinstance(error, HTTPException):
        raise error
    if isinstance(error.__cause__, ArchivoltError):
        ours = error.__cause__
    elif error.status_code in _CODES_OF_STATUSES:
        ours = ArchivoltError(_CODES_OF_STATUSES[error.status_code])
    else:
        ours = InvalidRequestError("unreadable_request")
    return error_response(
        ours, language_for(request), status=error.status_code, headers=error.headers
    )


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    language = language_for(request)
    problem = problem_of(error.errors(), language)
    return error_response(
        InvalidRequestError("invalid_request", problem=problem.text, fields=problem.fields),
        language,
        status=HTTPStatus.BAD_REQUEST if problem.unreadable else HTTPStatus.UNPROCESSABLE_ENTITY,
    )
