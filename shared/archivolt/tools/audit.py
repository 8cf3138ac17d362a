"""The audit step: one entry per call, refusals included; never content (O68)."""

import hashlib
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from archivolt.domain.audit import AuditEntry
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_PATH_BYTES
from archivolt.domain.redaction import redact
from archivolt.domain.tool import Surface
from archivolt.ports.audit import AuditLog
from archivolt.ports.clock import Clock

# A name that no tool has is the caller's text: what is kept of it is bounded.
_MAX_ACTION_CHARS = 64
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)


@dataclass(slots=True, kw_only=True)
class Call:
    """What is known of a call, or of another action.

    Whoever runs it sets `arguments` where they come to light later, and adds `details`.
    """

    principal: Principal
    action: str
    arguments: Mapping[str, Any]
    surface: Surface
    started: datetime
    details: dict[str, str] = field(default_factory=dict[str, str])


class Recorder:
    """Writes what was done, with its outcome, whatever the outcome."""

    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    @contextmanager
    def recorded(
        self, principal: Principal, action: str, arguments: Mapping[str, Any], surface: Surface
    ) -> Generator[Call, None, None]:
        """Record what happens inside, as "ok" or under the code of the error that left it.

        Raises:
            UnavailableError: It cannot be recorded: then it fails.

        """
        call = Call(
            principal=principal,
            action=action,
            arguments=arguments,
            surface=surface,
            started=self._clock.now(),
        )
        outcome = "internal"
        try:
            yield call
            outcome = "ok"
        except ArchivoltError as error:
            outcome = error.code
            raise
        finally:
            self._log.append(_entry(call, outcome, self._clock.now()))


def _entry(call: Call, outcome: str, ended: datetime) -> AuditEntry:
    return AuditEntry(
        principal=call.principal,
        action=_action(call.action),
        at=call.started,
        outcome=outcome,
        surface=call.surface,
        milliseconds=round((ended - call.started).total_seconds() * 1000),
        arguments_digest=digest(call.arguments),
        vault=text_in(call.arguments, "vault"),
        path=text_in(call.arguments, "path") or text_in(call.arguments, "source_path"),
        details=call.details,
    )


def _action(name: str) -> str:
    if len(name) <= _MAX_ACTION_CHARS:
        return _without_secrets(name)
    return redact(name).text[:_MAX_ACTION_CHARS]


# Nearly every name is that of a tool.
@lru_cache(maxsize=1_024)
def _without_secrets(name: str) -> str:
    return redact(name).text[:_MAX_ACTION_CHARS]


def digest(arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of the arguments, in hex."""
    return hashlib.sha256(_CANONICAL.encode(dict(arguments)).encode()).hexdigest()


def text_in(arguments: Mapping[str, Any], name: str) -> str:
    """Return a text among arguments as the log may keep it: bounded, without secrets."""
    value = arguments.get(name)
    if not isinstance(value, str):
        return ""
    # A name may hold a secret; what is longer than a path names nothing.
    return (
        redact(value[: 2 * MAX_PATH_BYTES])
        .text[:MAX_PATH_BYTES]
        .encode("utf-8", "replace")
        .decode()
    )
