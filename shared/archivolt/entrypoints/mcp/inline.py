"""A change that is asked about and made in one call (multi-round-trip requests, MCP 2026-07-28).

The answer to the first round waits as an ordinary proposal; what the client carries to the second
is its token, sealed. Refuses to know how it is sealed and what any tool does.
"""

from enum import Enum, auto
from typing import Final, cast

from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from archivolt.domain.display import on_one_line, plainly
from archivolt.domain.errors import (
    ConfirmationRequiredError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
)
from archivolt.domain.limits import MAX_QUESTION_CHARS
from archivolt.domain.messages import Language, Message
from archivolt.domain.tool import JsonObject, Surface, ToolSpec
from archivolt.entrypoints.mcp.caller import Caller, RequestContext, caller_of
from archivolt.governance.human_confirmation import YesRule
from archivolt.tools.pipeline import ToolPipeline
from archivolt.tools.previews import IN_VAULT, more_affected
from archivolt.tools.schemas import Schema

TOKEN: Final = "confirmation_token"  # noqa: S105  the name of an argument
DECLINED: Final[JsonObject] = {"status": "declined"}

_QUESTION: Final = "confirm"
_LABEL: Final = Message("Make this change", "Faire ce changement")
_ON_PAGE: Final = Message(
    "See the change on this page and agree or decline there; it waits for you.",
    "Voyez le changement sur cette page et acceptez-le ou refusez-le ; il vous attend.",
)
_CUT: Final = Message(
    "(The rest of the preview is left out here.)", "(Le reste de l'aperçu est omis ici.)"
)


class Way(Enum):
    """How a client puts a question to its person."""

    FORM = auto()
    PAGE = auto()
    """It opens an address in their browser, and learns nothing of what they do there."""


class InlineConfirmation:
    """The handler of every `apply_<tool>`."""

    def __init__(self, pipeline: ToolPipeline) -> None:
        self._pipeline = pipeline

    def apply(
        self, context: RequestContext, params: CallToolRequestParams, tool: str
    ) -> JsonObject | InputRequiredResult:
        """Make the change a token confirms; without one, ask the person first where possible.

        Raises:
            InvalidRequestError: `confirmation_ambiguous`: a token and arguments beside it.
            ConfirmationRequiredError: `confirmation_unasked`: the client cannot ask a person, or
                what it would ask is no yes here.
            ArchivoltError: Whatever the pipeline or the tool refuses.

        """
        caller, arguments = caller_of(context), dict(params.arguments or {})
        token = arguments.get(TOKEN)
        if token is not None and token != "":
            if len(arguments) > 1:
                raise InvalidRequestError("confirmation_ambiguous", tool=tool)
            return caller.apply(self._pipeline, tool, arguments)
        shown = _shown_by(context)
        if not shown:
            raise ConfirmationRequiredError("confirmation_unasked", tool=tool)
        arguments.pop(TOKEN, None)
        way = self._way(caller, shown)
        answer = (params.input_responses or {}).get(_QUESTION)
        if params.request_state is None or answer is None:
            return self._asked(caller, tool, arguments, way)
        return self._answered(caller, tool, params.request_state, answer, way)

    def _way(self, caller: Caller, shown: frozenset[Way]) -> Way | None:
        """Return how this caller's person is asked; None: no way of their client is a yes here."""
        yes = self._pipeline.yes
        rule = yes.rule(caller.principal, Surface.MCP)
        if rule is not YesRule.PRODUCT and Way.FORM in shown:
            return Way.FORM
        sees_pages = yes.has_pages and rule is not YesRule.NONE
        return Way.PAGE if sees_pages and Way.PAGE in shown else None

    def _asked(
        self, caller: Caller, tool: str, arguments: JsonObject, way: Way | None
    ) -> InputRequiredResult:
        if way is None:
            raise ConfirmationRequiredError("confirmation_unasked", tool=tool)
        proposed = caller.propose(self._pipeline, tool, arguments)
        asked = _page if way is Way.PAGE else _form
        return InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=asked(proposed, caller.language))},
            request_state=proposed[TOKEN],
        )

    def _answered(
        self, caller: Caller, tool: str, token: str, answer: object, way: Way | None
    ) -> JsonObject:
        """Make the change if the person said yes, in so many words; else never make it."""
        accepted = isinstance(answer, ElicitResult) and answer.action == "accept"
        if accepted and way is Way.PAGE:
            return self._once_agreed(caller, tool, token)
        if accepted and (cast("ElicitResult", answer).content or {}).get(_QUESTION) is True:
            return caller.apply(self._pipeline, tool, {TOKEN: token}, asked=True)
        caller.decline(self._pipeline, tool, token)
        return dict(DECLINED)

    def _once_agreed(self, caller: Caller, tool: str, token: str) -> JsonObject:
        """Make the change when its person agrees on the page that they went to."""
        try:
            return caller.apply(self._pipeline, tool, {TOKEN: token}, waits=True)
        except ConflictError as error:
            if error.code != "confirmation_declined":
                raise
            return dict(DECLINED)
        except ForbiddenError as error:
            if error.code != "human_confirmation_required":
                raise
            # They take longer than a call may: the agent goes on with the token.
            raise ForbiddenError(error.code, **error.details, **{TOKEN: token}) from error


def arguments_or_token(spec: ToolSpec, token: Schema) -> Schema:
    """Return the schema of arguments of `apply_<tool>`: the tool's own, or a token alone.

    Which of the two is for us to check: model providers refuse alternatives at a schema's root.
    """
    own = dict(spec.parameters)
    own.pop("required", None)
    return own | {"properties": {TOKEN: token, **own["properties"]}}


def result_or_declined(spec: ToolSpec) -> Schema:
    """Return the schema of results of `apply_<tool>`: the tool's own, or that it was declined."""
    own = dict(spec.result)
    status: Schema = {
        "type": "string",
        "enum": [DECLINED["status"]],
        "description": "Present only when the person declined: nothing was changed.",
    }
    alternatives: list[Schema] = [
        {"required": list(own.pop("required", []))},
        {"required": ["status"]},
    ]
    return own | {"properties": {**own["properties"], "status": status}, "anyOf": alternatives}


def _shown_by(context: RequestContext) -> frozenset[Way]:
    """Return what the client shows; no mode named means forms (MCP, "Elicitation")."""
    if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        return frozenset()
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    if elicitation is None:
        return frozenset()
    pages = elicitation.url is not None
    forms = elicitation.form is not None or not pages
    return frozenset([Way.FORM] * forms + [Way.PAGE] * pages)


def _page(proposed: JsonObject, language: Language) -> ElicitRequestURLParams:
    summary = plainly(str(proposed["preview"]["summary"]))
    return ElicitRequestURLParams(
        mode="url",
        message=f"{summary}\n{_ON_PAGE.spoken(language)}",
        url=proposed["approval_url"],
    )


def _form(proposed: JsonObject, language: Language) -> ElicitRequestFormParams:
    return ElicitRequestFormParams(
        message=_question(proposed["preview"], language), requested_schema=_yes_or_no(language)
    )


def _question(preview: JsonObject, language: Language) -> str:
    """Return what the person is asked: what happens where, to which files, and the diff."""
    diff: str = preview["diff"]
    vault = on_one_line(str(preview.get("vault") or ""))
    lines = [IN_VAULT.spoken(language).format(vault=vault)] if vault else []
    lines.append(str(preview["summary"]))
    if not diff or preview["affected_total"] > 1:
        affected = cast("list[JsonObject]", preview["affected"])
        lines += [_affected(one) for one in affected]
        lines += filter(None, [more_affected(preview, language)])
    if preview.get("note"):
        lines.append(str(preview["note"]))
    text = plainly("\n".join([*lines, "", diff] if diff else lines))
    if len(text) <= MAX_QUESTION_CHARS:
        return text
    cut = _CUT.spoken(language)
    kept, _, _ = text[: MAX_QUESTION_CHARS - len(cut) - 1].rpartition("\n")
    return f"{kept}\n{cut}"


def _affected(affected: JsonObject) -> str:
    path, new_path = affected["path"], affected.get("new_path")
    return f"- {affected['change']}: {path}" + (f" → {new_path}" if new_path else "")


def _yes_or_no(language: Language) -> JsonObject:
    return {
        "type": "object",
        "properties": {_QUESTION: {"type": "boolean", "title": _LABEL.spoken(language)}},
        "required": [_QUESTION],
    }
