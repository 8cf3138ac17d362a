"""The single list of tools behind chat, REST, MCP and agent runs (O1, O9).

A tool is a function marked with `@tool`; its parameters and result are the Pydantic models of its
signature. Declaring a tool registers nothing: a `Registry` is made of the tools it is given, in
the order in which callers will see them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, get_type_hints

from archivolt.domain.confirmation import Preview
from archivolt.domain.errors import NotFoundError
from archivolt.domain.messages import Language
from archivolt.domain.tool import Risk, Surface, ToolSpec
from archivolt.tools.arguments import read_arguments
from archivolt.tools.context import ToolContext
from archivolt.tools.labels import step_label
from archivolt.tools.schemas import ToolInput, ToolOutput, input_schema, result_schema
from archivolt.tools.truncation import Cut

EVERY_SURFACE = frozenset(Surface)

InputT = TypeVar("InputT", bound=ToolInput)
Body = Callable[[ToolContext, InputT], ToolOutput]
PreviewOf = Callable[[ToolContext, Any], Preview]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool and the function that does its work.

    `cut` says what of a result gives way when it is too long, and how a caller reads on. `preview`
    shows what a call would change and changes nothing; it checks all that `run` will need. Reads
    have none, but for those that are `open_world`: what they would tell strangers can be shown.
    Unless it `names_vaults`, an argument `vault` means something else to it.
    """

    name: str
    description: str
    risk: Risk
    scopes: frozenset[Surface]
    cut: Cut
    arguments: type[ToolInput]
    result: type[ToolOutput]
    run: Callable[[ToolContext, Any], ToolOutput]
    preview: PreviewOf | None = None
    open_world: bool = False
    names_vaults: bool = True

    def read(self, arguments: Mapping[str, Any], language: Language) -> ToolInput:
        """Return the arguments as `run` takes them.

        Raises:
            InvalidRequestError: `invalid_arguments`.

        """
        return read_arguments(self.arguments, arguments, language)

    @property
    def requires_confirmation(self) -> bool:
        """Whether a person confirms each call: whatever changes something (O62)."""
        return self.risk is not Risk.READ

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as callers see it; made when first asked for, as schemas take time."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=input_schema(self.arguments),
            result=result_schema(self.result),
            risk=self.risk,
            requires_confirmation=self.requires_confirmation,
            scopes=self.scopes,
            label=step_label(self.name),
            open_world=self.open_world,
            private=not self.open_world,
        )


def tool(
    *,
    description: str,
    cut: Cut,
    risk: Risk = Risk.READ,
    scopes: frozenset[Surface] = EVERY_SURFACE,
    preview: PreviewOf | None = None,
    open_world: bool = False,
) -> Callable[[Body[Any]], Tool]:
    """Declare the decorated function as the tool of its name.

    The function takes a `ToolContext` and a `ToolInput`, and returns a `ToolOutput`; the two
    models of its annotations give the schemas. `description` tells a model when to use it. A tool
    that changes something, or is `open_world`, has a `preview`.
    """
    if (risk is not Risk.READ or open_world) is not (preview is not None):
        raise ValueError("a tool that changes something or reaches out has a preview, no other")

    def declare(function: Body[Any]) -> Tool:
        hints = get_type_hints(function)
        result = hints.pop("return")
        _, arguments = hints.values()
        return Tool(
            name=function.__name__,
            description=" ".join(description.split()),
            risk=risk,
            scopes=scopes,
            cut=cut,
            arguments=arguments,
            result=result,
            run=function,
            preview=preview,
            open_world=open_world,
        )

    return declare


class Registry:
    """Tools by name, in a stable order."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool_ in tools:
            if tool_.name in self._tools:
                raise ValueError(f"two tools are named {tool_.name}")
            self._tools[tool_.name] = tool_

    def get(self, name: str) -> Tool:
        """Return a tool.

        Raises:
            NotFoundError: `tool_not_found`.

        """
        if name not in self._tools:
            raise NotFoundError("tool_not_found", tool=name)
        return self._tools[name]

    def and_more(self, tools: "Iterable[Tool]") -> "Registry":
        """Return a registry of these tools too, after its own (L12)."""
        return Registry([*self, *tools])

    def specs(self, surface: Surface) -> list[ToolSpec]:
        """Return the tools that may be called through `surface`, always in the same order."""
        return [tool_.spec for tool_ in self if surface in tool_.scopes]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
