"""Tells what went wrong at a provider in our words, without its secrets.

A provider's own sentence helps the person who set it up ("model not found"); it is untrusted text
that may repeat a key, so it is shortened, cleaned, and shown to nobody in answer to a bad key.
"""

import json
import re
from http import HTTPStatus

from archivolt.adapters.openai.json_values import an_object, objects, text
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.tool import JsonObject

_MAX_REASON_CHARS = 300
_LOOKS_SECRET = re.compile(r"\b(?:sk|key|gsk|xai|Bearer)[-_ ][\w*.-]{6,}|\b[\w-]{24,}\b", re.ASCII)
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f<>]+")
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_ABOUT_THE_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_OURS_TO_CHANGE = ("invalid", "unsupported", "not_found", "quota", "context_length", "tool_use")


def is_transient(status: int, report: JsonObject) -> bool:
    """Tell whether the same request may work in a moment."""
    return status in _TRANSIENT and text(report.get("code")) != "insufficient_quota"


def read_report(body: bytes) -> JsonObject:
    """Return the error object of a body, whatever wraps it; empty when there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    first = (objects(value) or [an_object(value)])[0]  # Gemini answers with a list
    error = first.get("error")
    return {"message": error} if isinstance(error, str) else an_object(error) or first


def status_failure(provider: str, status: int, report: JsonObject, secret: str) -> ArchivoltError:
    """Return the error for an HTTP status that is not a success."""
    if status in _ABOUT_THE_KEY:
        return InvalidRequestError(
            "provider_refused", provider=provider, reason="provider_key", status=status
        )
    reason = ", ".join(part for part in (f"HTTP {status}", _reason(report, secret)) if part)
    if is_transient(status, report) or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError("provider_unavailable", provider=provider, reason=reason)
    return InvalidRequestError("provider_refused", provider=provider, reason=reason)


def reported_failure(provider: str, report: JsonObject, secret: str) -> ArchivoltError:
    """Return the error for one that came within the stream."""
    kind = f"{report.get('type')} {report.get('code')}".lower()
    reason = _reason(report, secret) or "provider_error"
    if any(word in kind for word in _OURS_TO_CHANGE):
        return InvalidRequestError("provider_refused", provider=provider, reason=reason)
    return UnavailableError("provider_unavailable", provider=provider, reason=reason)


def _reason(report: JsonObject, secret: str) -> str:
    message = text(report.get("message")) or text(report.get("detail"))
    message = message or text(report.get("code")) or text(report.get("type"))
    if secret:
        message = message.replace(secret, "…")
    message = _LOOKS_SECRET.sub("…", _NOT_TEXT.sub(" ", message)).strip().rstrip(".")
    return message if len(message) <= _MAX_REASON_CHARS else f"{message[:_MAX_REASON_CHARS]}…"
