"""Tells what went wrong at a provider in our words, without its secrets.

A provider's own sentence helps the person who set it up ("model not found"); it is untrusted text
that may repeat a key, so it is shortened, cleaned, and shown to nobody in answer to a bad key.
"""

import json
import re
from http import HTTPStatus

from archivolt.adapters.streaming.json_values import an_object, objects, text
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.tool import JsonObject

_MAX_REASON_CHARS = 300
# A long word is a key, unless it is made of short ones, as names of models are.
_SHORT_WORDS = r"[a-z0-9]{1,12}(?:[-_][a-z0-9]{1,12})+\b(?![-_])"
_LOOKS_SECRET = re.compile(
    rf"\b(?:sk|key|gsk|xai|Bearer)[-_ ][\w*.-]{{6,}}|\b(?!{_SHORT_WORDS})[\w-]{{24,}}\b", re.ASCII
)
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f<>]+")
_SECONDS = re.compile(r"(\d{1,6})(?:\.\d+)?s?")
# As OpenAI, vLLM, OpenRouter, DeepSeek, Mistral; Anthropic; Gemini; and llama.cpp say it.
_TOO_LONG = re.compile(
    r"maximum context length (?:is|of) (\d{3,8})|with (\d{3,8}) maximum context length"
    r"|tokens\W{1,3}(\d{3,8}) maximum|tokens allowed \((\d{3,8})\)"
    r"|context limit: \d{1,8} \+ \d{1,8}\W{1,3}(\d{3,8})"
    r"|available context size \((\d{3,8}) tokens"
)
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_ABOUT_THE_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

# What providers write in `type`, `code`, `status` or, where these say nothing, in the message.
_KEY_WORDS = (
    "authentication",
    "unauthenticated",
    "permission",
    "api_key_invalid",
    "invalid_api_key",
    "api key not valid",
)
_CREDIT_WORDS = ("insufficient_quota", "insufficient_balance", "billing", "credit balance")
_BUSY_WORDS = ("rate_limit", "resource_exhausted", "too_many_requests")
_TOO_LONG_WORDS = ("context_length_exceeded", "exceed_context_size")
_MODEL_WORDS = ("not_found", "model_not_found")
_MALFORMED_CALL = ("tool_use_failed",)
_OURS_TO_CHANGE = ("invalid", "unsupported", "quota", "context_length", "tool_use", "too_large")


def is_transient(status: int, report: JsonObject) -> bool:
    """Tell whether the same request may work in a moment."""
    return status in _TRANSIENT and not _has(_kind(report), _CREDIT_WORDS)


def is_malformed_call(report: JsonObject) -> bool:
    """Tell whether the provider only says that the model wrote a call that cannot be read."""
    return report.get("code") in _MALFORMED_CALL


def retry_delay(header: str, report: JsonObject) -> float:
    """Return how many seconds the provider asks to wait, in `Retry-After` or in its report."""
    details = objects(report.get("details"))
    asked = [header, *(text(detail.get("retryDelay")) for detail in details)]
    found = [match for each in asked if (match := _SECONDS.fullmatch(each.strip()))]
    return float(found[0][1]) if found else 0.0


def read_report(body: bytes) -> JsonObject:
    """Return the error object of a body, whatever wraps it; empty when there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return report_in((objects(value) or [an_object(value)])[0])  # Gemini answers with a list


def report_in(answer: JsonObject) -> JsonObject:
    """Return the error object within an answer, or the answer where it is one by itself."""
    error = answer.get("error")
    return {"message": error} if isinstance(error, str) else an_object(error) or answer


def status_failure(provider: str, status: int, report: JsonObject, secret: str) -> ArchivoltError:
    """Return the error for an HTTP status that is not a success."""
    reason = ", ".join(part for part in (f"HTTP {status}", _reason(report, secret)) if part)
    known = _known_failure(provider, status, _kind(report), reason)
    if known is not None:
        return known
    if is_transient(status, report) or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError("provider_unavailable", provider=provider, reason=reason)
    return InvalidRequestError("provider_refused", provider=provider, reason=reason)


def _window_of(kind: str, reason: str) -> int | None:
    """Return how many tokens a model takes that was given too many, 0 where it does not say."""
    if said := _TOO_LONG.search(reason):
        return int(next(filter(None, said.groups())))
    return 0 if _has(kind, _TOO_LONG_WORDS) else None


def reported_failure(provider: str, report: JsonObject, secret: str) -> ArchivoltError:
    """Return the error for one that came within the stream."""
    kind, code = _kind(report), report.get("code")
    status = code if isinstance(code, int) else 0
    reason = _reason(report, secret) or "provider_error"
    known = _known_failure(provider, status, kind, reason)
    if known is not None:
        return known
    refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    if _has(kind, _OURS_TO_CHANGE) or (refused and not is_transient(status, report)):
        return InvalidRequestError("provider_refused", provider=provider, reason=reason)
    return UnavailableError("provider_unavailable", provider=provider, reason=reason)


def _known_failure(provider: str, status: int, kind: str, reason: str) -> ArchivoltError | None:
    """Return the error that tells what to do, where the provider says enough for that."""
    if _has(kind, _CREDIT_WORDS) or status == HTTPStatus.PAYMENT_REQUIRED:
        return InvalidRequestError("provider_credit_spent", provider=provider, reason=reason)
    if status in _ABOUT_THE_KEY or _has(kind, _KEY_WORDS):
        return InvalidRequestError("provider_key_refused", provider=provider)
    if status == HTTPStatus.NOT_FOUND or _has(kind, _MODEL_WORDS):
        return InvalidRequestError("provider_model_unknown", provider=provider, reason=reason)
    if status == HTTPStatus.TOO_MANY_REQUESTS or _has(kind, _BUSY_WORDS):
        return UnavailableError("provider_busy", provider=provider, reason=reason)
    window = _window_of(kind, reason)
    if window is not None:
        told: JsonObject = {"provider": provider, "reason": reason, "window": window}
        return InvalidRequestError("provider_refused", **told)
    return None


def _kind(report: JsonObject) -> str:
    """Return what a report says about its kind, in small letters."""
    said = [report.get(name) for name in ("type", "code", "status")]
    said += [detail.get("reason") for detail in objects(report.get("details"))]
    message = text(report.get("message")).lower()
    said += [word for word in ("credit balance", "api key not valid") if word in message]
    return " ".join(str(each) for each in said if each).lower()


def _words(value: object) -> str:
    """Return what is said, as it is written where it is a list of complaints or the like."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return text(value)


def _has(kind: str, words: tuple[str, ...]) -> bool:
    return any(word in kind for word in words)


def _reason(report: JsonObject, secret: str) -> str:
    named = ("message", "detail", "code", "type")
    message = next(filter(None, (_words(report.get(name)) for name in named)), "")
    # What the gateway was told by the provider behind it says more than its own words.
    behind = text(an_object(report.get("metadata")).get("raw"))
    if behind:
        told = _words(read_report(behind.encode("utf-8", "replace")).get("message"))
        message = f"{message}: {told or behind}"
    if secret:
        message = message.replace(secret, "…")
    message = _LOOKS_SECRET.sub("…", _NOT_TEXT.sub(" ", message)).strip().rstrip(".")
    return message if len(message) <= _MAX_REASON_CHARS else f"{message[:_MAX_REASON_CHARS]}…"
