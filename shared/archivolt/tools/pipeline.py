"""The one way to call a tool, for every door (decision 26).

permission → rate limit → arguments → confirmation → execute → redact → truncate → audit
"""

import copy
from collections.abc import Mapping
from typing import Any

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConfirmationRequiredError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.messages import Language
from archivolt.domain.tool import Surface, ToolResult
from archivolt.ports.clock import Clock
from archivolt.ports.governance import AuditLog
from archivolt.tools.arguments import read_arguments
from archivolt.tools.audit import Call, Recorder
from archivolt.tools.context import Services, ToolContext
from archivolt.tools.permission import require_surface, vault_for
from archivolt.tools.rate_limit import RateLimit
from archivolt.tools.redaction import redacted
from archivolt.tools.registry import Registry, Tool
from archivolt.tools.truncation import truncate


class ToolPipeline:
    """Calls the tools of a registry. Holds no state of a call: threads may share it.

    Args:
        registry: The tools.
        services: What they may use.
        rate_limit: How often they may be called.
        audit: Where each call is recorded; a call that cannot be recorded fails.
        clock: The time.

    """

    def __init__(
        self,
        registry: Registry,
        services: Services,
        *,
        rate_limit: RateLimit,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self.registry = registry
        self._services = services
        self._rate_limit = rate_limit
        self._recorder = Recorder(audit, clock)
        self.max_result_chars = MAX_TOOL_RESULT_CHARS

    def with_room_for(self, characters: int) -> "ToolPipeline":
        """Return this pipeline with another limit on results, for a reader that is no model."""
        roomier = copy.copy(self)
        roomier.max_result_chars = characters
        return roomier

    def call(
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        surface: Surface,
        language: Language,
        confirmation: Confirmed | None = None,
    ) -> ToolResult:
        """Call a tool and return its result, without secrets, in at most 8,000 characters.

        Args:
            principal: The verified caller.
            name: The tool.
            arguments: As the caller sent them.
            surface: The door the call came through.
            language: For errors and notices.
            confirmation: A person confirmed this very call.

        Raises:
            ArchivoltError: Any of its kinds; all say what to do in a sentence.

        """
        with self._recorder.recorded(principal, name, arguments, surface) as call:
            return self._run(call, language, confirmation=confirmation)

    def _run(self, call: Call, language: Language, *, confirmation: Confirmed | None) -> ToolResult:
        tool = self.registry.get(call.action)
        require_surface(tool, call.surface)
        vault = vault_for(tool, call.arguments, call.principal, self._services.vaults)
        self._rate_limit.count(call.principal, tool.name, call.started)
        arguments = read_arguments(tool.arguments, call.arguments, language)
        _require_confirmation(tool, confirmation=confirmation)
        context = ToolContext(
            principal=call.principal,
            language=language,
            surface=call.surface,
            confirmation=confirmation,
            services=self._services,
            vault=vault,
        )
        output = tool.run(context, arguments).model_dump(mode="json")
        return truncate(redacted(output), tool.cut, language, limit=self.max_result_chars)


def _require_confirmation(tool: Tool, *, confirmation: Confirmed | None) -> None:
    if tool.requires_confirmation and confirmation is None:
        raise ConfirmationRequiredError("confirmation_required", tool=tool.name)
