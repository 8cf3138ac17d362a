"""The audit step: one entry per call, refusals included; never content (O68)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_PATH_BYTES
from archivolt.domain.tool import Surface
from archivolt.ports.governance import AuditEntry, AuditLog

# A name that no tool has is the caller's text: what is kept of it is bounded.
_MAX_ACTION_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """What is known of a call before it runs."""

    principal: Principal
    tool: str
    arguments: Mapping[str, Any]
    surface: Surface
    started: datetime

    def write(self, log: AuditLog, *, outcome: str, ended: datetime) -> None:
        """Append the call to `log` with its outcome: "ok" or the code of an error."""
        log.append(
            AuditEntry(
                principal=self.principal,
                action=self.tool[:_MAX_ACTION_CHARS],
                at=self.started,
                outcome=outcome,
                surface=self.surface,
                milliseconds=round((ended - self.started).total_seconds() * 1000),
                arguments_digest=digest(self.arguments),
                vault=_text(self.arguments, "vault"),
                path=_text(self.arguments, "path"),
            )
        )


def digest(arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of the arguments, in hex."""
    canonical = json.dumps(dict(arguments), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        return ""
    return value[:MAX_PATH_BYTES].encode("utf-8", "replace").decode()
