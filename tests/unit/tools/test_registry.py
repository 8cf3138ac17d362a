"""What the registry says of a tool, whoever asks."""

from enum import StrEnum

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.errors import NotFoundError
from archivolt.domain.messages import Message
from archivolt.domain.tool import Risk, Surface
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import Registry, tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    """A nested object."""

    title: str
    page: int | None = None


class Arguments(ToolInput):
    """What the tool takes."""

    q: str = Field(description="What to look for.", min_length=1)
    colour: Colour = Field(default=Colour.RED, description="Which one.")
    tag: str | None = Field(default=None, description="Only this tag.")
    paths: list[str] = Field(default_factory=list[str], description="Only these.")


class Places(ToolOutput):
    """What the tool gives."""

    places: list[Place]
    note: str | None = None


@tool(description="Finds places.", cut=Cut(field="places"))
def list_vaults(context: ToolContext, arguments: Arguments) -> Places:
    return Places(places=[Place(title=arguments.q)])


def _shown(context: ToolContext, arguments: Arguments) -> Preview:
    return Preview(summary=Message("Change it", "Le modifier"))


@tool(
    description="Changes   the\n  world.",
    cut=Cut(field="places"),
    risk=Risk.DANGEROUS,
    scopes=frozenset({Surface.IN_APP}),
    preview=_shown,
)
def read_file(context: ToolContext, arguments: Arguments) -> Places:
    return Places(places=[])


REGISTRY = Registry([list_vaults, read_file])


def test_parameters_are_a_closed_object_without_references_or_titles() -> None:
    parameters = dict(list_vaults.spec.parameters)

    Draft202012Validator.check_schema(parameters)
    assert parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["q"],
        "properties": {
            "q": {"type": "string", "minLength": 1, "description": "What to look for."},
            "colour": {
                "type": "string",
                "enum": ["red", "blue"],
                "default": "red",
                "description": "Which one.",
            },
            "tag": {"type": "string", "description": "Only this tag."},
            "paths": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only these.",
            },
        },
    }


def test_the_result_is_an_object_whose_schema_holds_for_what_the_tool_gives() -> None:
    schema = dict(list_vaults.spec.result)
    given = Places(places=[Place(title="a")], note="cut").model_dump(mode="json")

    assert schema["type"] == "object"
    assert "$ref" not in str(schema)
    assert Draft202012Validator(schema).is_valid(given)  # pyright: ignore[reportUnknownMemberType]


def test_a_tool_that_changes_something_asks_for_a_confirmation() -> None:
    assert not list_vaults.spec.requires_confirmation
    assert read_file.spec.requires_confirmation


def test_a_description_is_one_line_whatever_its_layout_in_the_source() -> None:
    assert read_file.spec.description == "Changes the world."


def test_each_door_sees_its_tools_in_the_order_of_the_registry() -> None:
    assert [spec.name for spec in REGISTRY.specs(Surface.IN_APP)] == ["list_vaults", "read_file"]
    assert [spec.name for spec in REGISTRY.specs(Surface.MCP)] == ["list_vaults"]


def test_an_unknown_tool_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="tool_not_found"):
        REGISTRY.get("read_minds")


def test_a_change_that_nobody_could_see_before_cannot_be_declared() -> None:
    with pytest.raises(ValueError, match="preview"):
        tool(description="Changes.", cut=Cut(field="places"), risk=Risk.WRITE)
    with pytest.raises(ValueError, match="preview"):
        tool(description="Reads.", cut=Cut(field="places"), preview=_shown)
    with pytest.raises(ValueError, match="preview"):
        tool(description="Asks strangers.", cut=Cut(field="places"), open_world=True)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="list_vaults"):
        Registry([list_vaults, list_vaults])
