"""The one way to call a tool, for every door (decision 26).

permission → rate limit → arguments → confirmation → execute → redact → truncate → audit

A tool that changes something is called in two steps, proposed and applied, and each goes this way.
"""

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from archivolt.domain.confirmation import Confirmed, Preview
from archivolt.domain.errors import (
    ConfirmationRequiredError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.federation import McpAnswers
from archivolt.domain.identity import Principal
from archivolt.domain.limits import (
    CONFIRMATION_SECONDS,
    MAX_CONFIRMATION_TOKEN_CHARS,
    MAX_TOOL_RESULT_CHARS,
)
from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject, Surface, ToolResult
from archivolt.governance.human_confirmation import HumanConfirmation, YesRule
from archivolt.ports.audit import AuditLog
from archivolt.ports.clock import Clock
from archivolt.tools.audit import Call, Recorder
from archivolt.tools.code_checks import with_code_checked
from archivolt.tools.confirmations import Confirmations
from archivolt.tools.context import Services, ToolContext
from archivolt.tools.permission import require_surface, vault_for
from archivolt.tools.persons_yes import PersonsYes
from archivolt.tools.previews import shown
from archivolt.tools.proposals import OpenedProposal, ProposedCall
from archivolt.tools.proposed import Proposed
from archivolt.tools.rate_limit import RateLimit
from archivolt.tools.redaction import redacted, without_secrets
from archivolt.tools.registry import Registry, Tool
from archivolt.tools.schemas import ToolInput
from archivolt.tools.truncation import truncate

# What stands beside a preview: the token, its end, and their names.
_TOKEN_ROOM: Final = MAX_CONFIRMATION_TOKEN_CHARS + 200


class ToolPipeline:
    """Calls the tools of a registry. Holds no state of a call: threads may share it.

    Args:
        registry: The tools.
        services: What they may use.
        rate_limit: How often they may be called.
        audit: Where each call is recorded; a call that cannot be recorded fails.
        clock: The time.
        confirmations: Gives what stands between a proposal and its change, when first needed.
        human: Tells which changes take a person's yes; None: none do.

    """

    def __init__(
        self,
        registry: Registry,
        services: Services,
        *,
        rate_limit: RateLimit,
        audit: AuditLog,
        clock: Clock,
        confirmations: Callable[[], Confirmations],
        human: HumanConfirmation | None = None,
    ) -> None:
        self.registry = registry
        self._services = services
        self._rate_limit = rate_limit
        self._recorder = Recorder(audit, clock)
        self._confirmations = confirmations
        self.yes = PersonsYes(human)
        self.max_result_chars = MAX_TOOL_RESULT_CHARS
        self.answers: McpAnswers | None = None

    def with_room_for(self, characters: int) -> "ToolPipeline":
        """Return this pipeline with another limit on results, for a reader that is no model."""
        roomier = copy.copy(self)
        roomier.max_result_chars = characters
        return roomier

    def with_tools(self, tools: Iterable[Tool]) -> "ToolPipeline":
        """Return this pipeline with further tools, those of others, after its own (L12)."""
        richer = copy.copy(self)
        richer.registry = self.registry.and_more(tools)
        return richer

    def answering(self, answers: McpAnswers) -> "ToolPipeline":
        """Return this pipeline for a call that goes on with a person's answers."""
        informed = copy.copy(self)
        informed.answers = answers
        return informed

    def call(
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        surface: Surface,
        language: Language,
    ) -> ToolResult:
        """Call a tool that reads; return its result, without secrets, in at most 8,000 characters.

        Args:
            principal: The verified caller.
            name: The tool.
            arguments: As the caller sent them.
            surface: The door the call came through.
            language: For errors and notices.

        Raises:
            ConfirmationRequiredError: The tool changes something: `propose` and `apply` it.
            ArchivoltError: Any of its kinds; all say what to do in a sentence.

        """
        with self._recorder.recorded(principal, name, arguments, surface) as call:
            tool = self._tool(name, surface)
            context, read = self._admitted(call, tool, language)
            if tool.requires_confirmation:
                raise ConfirmationRequiredError("confirmation_required", tool=tool.name)
            return self._run(tool, context, read, limit=self.max_result_chars)

    def propose(
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        surface: Surface,
        language: Language,
        seconds: int = CONFIRMATION_SECONDS,
        refuse_broken: bool = False,
    ) -> Proposed:
        """Show what a call would change, change nothing, and return what confirms this very call.

        `seconds` is how long the confirmation may wait; the rest is as in `call`. Errors in code
        that the change would leave are noted in the preview, unless they are to be refused.

        Raises:
            InvalidRequestError: `confirmation_needless`: the tool only reads.
            ArchivoltError: Whatever would keep `apply` from working.

        """
        with self._recorder.recorded(principal, f"propose:{name}", arguments, surface) as call:
            tool = self._tool(name, surface)
            context, read = self._admitted(call, tool, language)
            if tool.preview is None:
                raise InvalidRequestError("confirmation_needless", tool=tool.name)
            with without_secrets():
                preview = tool.preview(context, read)
            preview = with_code_checked(self._services, preview, refuse=refuse_broken)
            proposed = ProposedCall(
                tool=tool.name,
                arguments=call.arguments,
                vault=context.vault_id,
                pins=preview.pins,
                surface=surface,
            )
            told = self._told(context, preview)
            asks = self.yes.rule(principal, surface) is not YesRule.NONE
            token, proposal = self._confirmations().proposals.propose(
                principal, proposed, seconds=seconds, preview=json.dumps(told) if asks else ""
            )
            call.details["confirmation"] = proposal.id
            return Proposed(
                id=proposal.id,
                tool=tool.name,
                token=token,
                expires_at=proposal.expires_at,
                preview=told,
                approval_url=self.yes.address(proposal),
            )

    def apply(
        self,
        principal: Principal,
        name: str,
        token: str,
        *,
        surface: Surface,
        language: Language,
        asked: bool = False,
        waits: bool = False,
    ) -> ToolResult:
        """Make the change that a token confirms, once, and return its result to every retry.

        The caller has to be the one who proposed it, with the rights that it takes now. `asked`:
        the door has just had a person's yes to it; `waits`: it sent them to where they say it.

        Raises:
            InvalidRequestError: `confirmation_invalid`.
            ConflictError: `confirmation_expired`, `confirmation_declined`.
            ForbiddenError: `human_confirmation_required`.
            ArchivoltError: What the change came to; the same for every retry.

        """
        with self._recorder.recorded(principal, f"apply:{name}", {}, surface) as call:
            tool = self._tool(name, surface)
            opened = self._opened(call, tool, token)
            if waits:
                self._rate_limit.count(principal, tool.name, call.started)
                opened = self._confirmations().answered(opened)
            context, read = self._admitted(call, tool, language)
            if context.vault_id != opened.call.vault:
                raise NotFoundError("vault_not_found", vault=str(call.arguments.get("vault")))
            self.yes.require(principal, surface, opened.proposal, asked=asked, now=call.started)

            def run(confirmed: Confirmed) -> ToolResult:
                # As a model takes it, whoever applies: it is kept for every retry.
                limit = MAX_TOOL_RESULT_CHARS
                return self._run(tool, replace(context, confirmation=confirmed), read, limit=limit)

            return self._confirmations().apply(opened, run)

    def decline(self, principal: Principal, name: str, token: str, *, surface: Surface) -> None:
        """Make sure that a proposed change is never made.

        Raises:
            InvalidRequestError: `confirmation_invalid`.
            ConflictError: `confirmation_expired`, or `confirmation_done`: it is made already.
            UnavailableError: `confirmation_running`.

        """
        with self._recorder.recorded(principal, f"decline:{name}", {}, surface) as call:
            tool = self._tool(name, surface)
            self._rate_limit.count(principal, tool.name, call.started)
            self._confirmations().decline(self._opened(call, tool, token))

    def _tool(self, name: str, surface: Surface) -> Tool:
        tool = self.registry.get(name)
        require_surface(tool, surface)
        return tool

    def _opened(self, call: Call, tool: Tool, token: str) -> OpenedProposal:
        opened = self._confirmations().proposals.open(
            call.principal, tool.name, token, call.surface
        )
        call.arguments = opened.call.arguments
        call.details["confirmation"] = opened.proposal.id
        return opened

    def _admitted(
        self, call: Call, tool: Tool, language: Language
    ) -> tuple[ToolContext, ToolInput]:
        """Let a call through permission, rate limit and arguments, in this order."""
        vault = vault_for(tool, call.arguments, call.principal, self._services.vaults)
        self._rate_limit.count(call.principal, tool.name, call.started)
        read = tool.read(call.arguments, language)
        context = ToolContext(
            principal=call.principal,
            language=language,
            surface=call.surface,
            services=self._services,
            answers=self.answers,
            vault=vault,
        )
        return context, read

    def _told(self, context: ToolContext, preview: Preview) -> JsonObject:
        vault = context.vault and context.vault.vault.name
        limit = self.max_result_chars - _TOKEN_ROOM
        return shown(preview, context.language, limit=limit, vault=vault)

    def _run(
        self, tool: Tool, context: ToolContext, arguments: ToolInput, *, limit: int
    ) -> ToolResult:
        with without_secrets():
            output = tool.run(context, arguments).model_dump(mode="json")
        return truncate(redacted(output), tool.cut, context.language, limit=limit)
