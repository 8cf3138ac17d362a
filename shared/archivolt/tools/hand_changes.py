"""Changes that a person makes with their own hand (decision 26): the tools, without a second step.

Same rights, arguments, previews and effects as when a tool is proposed and applied. The owner's
switch for what agents may destroy is not for people.
"""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_REST_RESULT_CHARS
from archivolt.domain.messages import Language
from archivolt.domain.tool import Risk, Surface, ToolResult
from archivolt.domain.vault import VaultAccess
from archivolt.ports.operations import OperationStore
from archivolt.tools.arguments import read_arguments
from archivolt.tools.by_hand import ByHand
from archivolt.tools.context import Services, ToolContext
from archivolt.tools.permission import require_right
from archivolt.tools.redaction import redacted, without_secrets
from archivolt.tools.registry import Registry, Tool
from archivolt.tools.schemas import ToolInput
from archivolt.tools.truncation import truncate


class ChangesByHand:
    """Makes changes at once.

    Args:
        registry: The tools, and those that only people have.
        services: What they may use.
        by_hand: Counts and records.
        operations: Where changes of many files are noted.

    """

    def __init__(
        self, registry: Registry, services: Services, by_hand: ByHand, operations: OperationStore
    ) -> None:
        self._registry = registry
        self._services = services
        self._by_hand = by_hand
        self._operations = operations

    def change(
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        language: Language,
        operation: str = "",
    ) -> ToolResult:
        """Make a change, and return what the tool of this name gives.

        Args:
            principal: A person.
            name: The tool.
            arguments: As they came; one is the vault.
            language: For errors and notices.
            operation: What an earlier call of the same change left unfinished, to go on with.

        Raises:
            UnavailableError: `operation_unfinished`, with the `operation` to go on with.
            NotFoundError: `operation_not_found`: the person began none of this id.
            ArchivoltError: What the preview or the change of the tool raises.

        """
        with self._by_hand.recording(principal, name, arguments) as call:
            tool = self._registry.get(name)
            access = self._services.vaults.access(principal, str(arguments.get("vault", "")))
            require_right(access, Risk.WRITE)
            self._by_hand.count(call)
            read = read_arguments(tool.arguments, arguments, language)
            context = ToolContext(
                principal=principal,
                language=language,
                surface=Surface.IN_APP,
                services=self._services,
                vault=access,
            )
            with without_secrets():
                confirmed = self._confirmed(tool, context, read, operation)
                call.details["operation"] = confirmed.operation
                return _done(tool, replace(context, confirmation=confirmed), read)

    def _confirmed(
        self, tool: Tool, context: ToolContext, arguments: ToolInput, operation: str
    ) -> Confirmed:
        if operation:
            self._require_begun(context.access, operation)
            return Confirmed(operation=operation, resumed=True)
        if tool.preview is None:
            raise LookupError("only what changes something is done by hand")
        pins = tool.preview(context, arguments).pins
        return Confirmed(operation=uuid.uuid4().hex, pins=pins)

    def _require_begun(self, access: VaultAccess, operation: str) -> None:
        begun = self._operations.get(access.vault.ref, operation)
        if begun is None or begun.user != access.user:
            raise NotFoundError("operation_not_found", operation=operation)


def _done(tool: Tool, context: ToolContext, arguments: ToolInput) -> ToolResult:
    try:
        output = tool.run(context, arguments).model_dump(mode="json")
    except UnavailableError as error:
        if error.code == "operation_unfinished":
            error.details["operation"] = context.confirmed.operation
        raise
    return truncate(redacted(output), tool.cut, context.language, limit=MAX_REST_RESULT_CHARS)
