"""Between Python's values and DynamoDB's: text, whole numbers, truth, bytes, lists and maps.

Floats are refused: money is whole micro-dollars and sizes are whole bytes here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value = str | int | bool | bytes | None | Sequence["Value"] | Mapping[str, "Value"]
Item = Mapping[str, Value]


def to_attributes(item: Item) -> "dict[str, AttributeValueTypeDef]":
    """Return the item as DynamoDB wants it."""
    return {name: to_attribute(value) for name, value in item.items()}


def from_attributes(attributes: "Mapping[str, AttributeValueTypeDef]") -> dict[str, Any]:
    """Return the item that DynamoDB gave; numbers are whole."""
    return {name: _from_attribute(attribute) for name, attribute in attributes.items()}


def to_attribute(value: Value) -> "AttributeValueTypeDef":  # noqa: PLR0911  one per kind
    """Return one value as DynamoDB wants it.

    Raises:
        TypeError: It is of a kind that is not kept in tables.

    """
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case Mapping():
            return {"M": to_attributes(value)}
        case Sequence():
            return {"L": [to_attribute(entry) for entry in value]}
        case _:
            raise TypeError(f"no {type(value).__name__} is kept in a table")


def _from_attribute(attribute: "AttributeValueTypeDef") -> Any:  # noqa: ANN401  a table's value
    # An answer has hundreds of these, nearly all of them text: no pattern is tried on each.
    [(kind, value)] = cast("Mapping[str, Any]", attribute).items()
    match kind:
        case "S" | "BOOL" | "B":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "M":
            return from_attributes(value)
        case "L":
            return [_from_attribute(entry) for entry in value]
        case _:
            raise TypeError(f"no attribute of kind {kind} is kept in a table")
