"""The writes a table takes, alone or in a transaction, with the condition under which they hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from boto3.dynamodb.conditions import Attr, ConditionBase, ConditionExpressionBuilder

from archivolt.adapters.dynamodb.values import Item, Value, to_attribute, to_attributes

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


class Key(NamedTuple):
    """Where an item is."""

    pk: str
    sk: str


ABSENT = Attr("pk").not_exists()
PRESENT = Attr("pk").exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write a whole item."""

    item: Item
    condition: ConditionBase | None = None

    def request(self, table: str) -> "TransactWriteItemTypeDef":
        """Return the entry of a transaction."""
        return _entry("Put", table, self.arguments())

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `put_item`, without the table."""
        return {"Item": to_attributes(self.item), **condition_arguments(self.condition)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Change attributes of an item, or make it: set some, add to numbers, remove some."""

    key: Key
    set: Mapping[str, Value] = field(default_factory=dict[str, Value])
    add: Mapping[str, int] = field(default_factory=dict[str, int])
    remove: Sequence[str] = ()
    condition: ConditionBase | None = None

    def request(self, table: str) -> "TransactWriteItemTypeDef":
        """Return the entry of a transaction."""
        return _entry("Update", table, self.arguments())

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `update_item`, without the table."""
        conditional = condition_arguments(self.condition)
        names: dict[str, str] = conditional.pop("ExpressionAttributeNames", {})
        values: dict[str, Any] = conditional.pop("ExpressionAttributeValues", {})
        clauses: list[str] = []
        for verb, joint, changes in (("SET", " = ", self.set), ("ADD", " ", self.add)):
            pairs: list[str] = []
            for name, value in changes.items():
                number = len(names)
                names[f"#u{number}"], values[f":u{number}"] = name, to_attribute(value)
                pairs.append(f"#u{number}{joint}:u{number}")
            clauses += [f"{verb} {', '.join(pairs)}"] if pairs else []
        if self.remove:
            removed = {f"#r{number}": name for number, name in enumerate(self.remove)}
            names |= removed
            clauses.append(f"REMOVE {', '.join(removed)}")
        return {
            "Key": to_attributes(self.key._asdict()),
            "UpdateExpression": " ".join(clauses),
            **conditional,
            **_if_any("ExpressionAttributeNames", names),
            **_if_any("ExpressionAttributeValues", values),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Remove an item; without a condition, an absent one is no error."""

    key: Key
    condition: ConditionBase | None = None

    def request(self, table: str) -> "TransactWriteItemTypeDef":
        """Return the entry of a transaction."""
        return _entry("Delete", table, self.arguments())

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `delete_item`, without the table."""
        return {"Key": to_attributes(self.key._asdict()), **condition_arguments(self.condition)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Hold a transaction to the state of an item that it does not change."""

    key: Key
    condition: ConditionBase

    def request(self, table: str) -> "TransactWriteItemTypeDef":
        """Return the entry of a transaction."""
        key = {"Key": to_attributes(self.key._asdict())}
        return _entry("ConditionCheck", table, key | condition_arguments(self.condition))


Write = Put | Update | Delete | Check


def _entry(kind: str, table: str, arguments: Mapping[str, Any]) -> "TransactWriteItemTypeDef":
    entry: Any = {kind: {**arguments, "TableName": table}}
    return entry


def condition_arguments(
    condition: ConditionBase | None, *, argument: str = "ConditionExpression", is_key: bool = False
) -> dict[str, Any]:
    """Return a condition as arguments of a request; empty for none."""
    if condition is None:
        return {}
    built = ConditionExpressionBuilder().build_expression(condition, is_key_condition=is_key)
    values = {
        name: to_attribute(value) for name, value in built.attribute_value_placeholders.items()
    }
    return {
        argument: built.condition_expression,
        **_if_any("ExpressionAttributeNames", built.attribute_name_placeholders),
        **_if_any("ExpressionAttributeValues", values),
    }


def _if_any(argument: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    return {argument: dict(entries)} if entries else {}
