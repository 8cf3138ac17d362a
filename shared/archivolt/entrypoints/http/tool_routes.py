"""The tools, listed and called (decision 7)."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, Field

from archivolt.domain.tool import Risk, Surface, ToolSpec
from archivolt.entrypoints.http.authentication import CurrentPrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.services import ServicesOf, surface_of


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


def tool_router(services: ServicesOf) -> APIRouter:
    """Return the routes of the tools."""
    router = APIRouter(tags=["tools"])

    @router.get("/tools", summary="List the tools", operation_id="list_tools")
    def list_tools(principal: CurrentPrincipal) -> ToolList:  # pyright: ignore[reportUnusedFunction]
        specs = services().pipeline.registry.specs(surface_of(principal))
        return ToolList(tools=[_described(spec) for spec in specs])

    @router.post("/tools/{name}", summary="Call a tool", operation_id="call_tool")
    def call_tool(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        name: str,
        principal: CurrentPrincipal,
        arguments: Annotated[
            dict[str, Any] | None, Body(description="The arguments, as the tool's schema has them.")
        ] = None,
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

    return router


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
