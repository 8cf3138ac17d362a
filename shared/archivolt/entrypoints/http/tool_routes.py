"""The tools, listed and called; those that change something in two steps (decisions 7 and 12)."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.tool import Risk, Surface, ToolSpec
from archivolt.entrypoints.http.authentication import CurrentPrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.tools.previews import ProposalAnswer


class Label(BaseModel):
    """The text shown while a tool runs; places such as `{path}` stand for arguments."""

    fr: str
    en: str


class ToolInList(BaseModel):
    """A tool, as the contract has it."""

    name: str
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments.")
    risk: Risk
    requires_confirmation: bool
    scopes: list[Surface]
    label: Label


class ToolList(BaseModel):
    """Every tool the caller may use, in a stable order."""

    tools: list[ToolInList]


class ToolAnswer(BaseModel):
    """What a tool gave."""

    result: dict[str, Any]


class Confirmation(BaseModel):
    """What confirms a change, or declines it."""

    model_config = ConfigDict(extra="forbid")

    confirmation_token: str = Field(description="As `propose` gave it.")


Arguments = Annotated[
    dict[str, Any] | None, Body(description="The arguments, as the tool's schema has them.")
]


def tool_router(services: ServicesOf) -> APIRouter:
    """Return the routes of the tools."""
    router = APIRouter(tags=["tools"])
    _add_calls(router, services)
    _add_proposals(router, services)
    _add_confirmations(router, services)
    return router


def _add_calls(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/tools", summary="List the tools", operation_id="list_tools")
    def list_tools(principal: CurrentPrincipal) -> ToolList:  # pyright: ignore[reportUnusedFunction]
        specs = services().pipeline.registry.specs(surface_of(principal))
        return ToolList(tools=[_described(spec) for spec in specs])

    @router.post("/tools/{name}", summary="Call a tool", operation_id="call_tool")
    def call_tool(  # pyright: ignore[reportUnusedFunction]
        request: Request, name: str, principal: CurrentPrincipal, arguments: Arguments = None
    ) -> ToolAnswer:
        """One that changes something answers 409 `confirmation_required`."""
        result = services().pipeline.call(
            principal,
            name,
            arguments or {},
            surface=surface_of(principal),
            language=language_for(request),
        )
        return ToolAnswer(result=result.value)


def _add_proposals(router: APIRouter, services: ServicesOf) -> None:
    @router.post("/tools/{name}/propose", summary="Preview a change", operation_id="propose_change")
    def propose_change(  # pyright: ignore[reportUnusedFunction]
        request: Request, name: str, principal: CurrentPrincipal, arguments: Arguments = None
    ) -> ProposalAnswer:
        """Nothing is changed. The token confirms this very change, once, for ten minutes."""
        proposed = services().pipeline.propose(
            principal,
            name,
            arguments or {},
            surface=surface_of(principal),
            language=language_for(request),
        )
        return proposed.answer


def _add_confirmations(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/tools/{name}/apply", summary="Make a previewed change", operation_id="apply_change"
    )
    def apply_change(  # pyright: ignore[reportUnusedFunction]
        request: Request, name: str, principal: CurrentPrincipal, body: Confirmation
    ) -> ToolAnswer:
        """It is made once; a retry gets the same answer."""
        result = services().pipeline.apply(
            principal,
            name,
            body.confirmation_token,
            surface=surface_of(principal),
            language=language_for(request),
        )
        return ToolAnswer(result=result.value)

    @router.post(
        "/tools/{name}/decline",
        status_code=204,
        summary="Decline a previewed change",
        operation_id="decline_change",
    )
    def decline_change(  # pyright: ignore[reportUnusedFunction]
        name: str, principal: CurrentPrincipal, body: Confirmation
    ) -> Response:
        """It can never be applied then."""
        services().pipeline.decline(
            principal, name, body.confirmation_token, surface=surface_of(principal)
        )
        return Response(status_code=204)


def _described(spec: ToolSpec) -> ToolInList:
    return ToolInList(
        name=spec.name,
        description=spec.description,
        parameters=dict(spec.parameters),
        risk=spec.risk,
        requires_confirmation=spec.requires_confirmation,
        scopes=sorted(spec.scopes),
        label=Label(fr=spec.label.fr, en=spec.label.en),
    )
