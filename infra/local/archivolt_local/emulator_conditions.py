"""Tells the emulator the partitions that a DynamoDB request names: it knows no `LeadingKeys`.

Imported by `emulator_process`, in the emulator's own virtual environment. A condition on keys that
a request does not carry is fulfilled ("ForAllValues"), so that without this every role would reach
every partition. Transactions are left out: the emulator asks of their items one by one, and AWS of
each with its own partition.
"""

# Its imports are in that other environment, and have no types there.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ministack.core import iam_actions

_EQUALS = re.compile(r"=\s*(:\w+)")


def tell_leading_keys() -> None:
    """Have the emulator check conditions on partitions."""
    known: Callable[[bytes], dict[str, Any]] = iam_actions.dynamodb_service_context

    def with_partitions(body: bytes) -> dict[str, Any]:
        found = list(dict.fromkeys(partitions(body)))
        return known(body) | ({"dynamodb:LeadingKeys": found} if found else {})

    iam_actions.dynamodb_service_context = with_partitions


def partitions(body: bytes) -> Iterator[str]:
    """Yield the partition of each item that a request names, and of a query."""
    try:
        request = json.loads(body or b"{}")
    except ValueError:
        return
    yield from _of_items([request])
    for wanted in request.get("RequestItems", {}).values():
        if isinstance(wanted, Mapping):
            yield from _of_items({"Key": key} for key in wanted.get("Keys", []))
        else:
            yield from _of_items(write for each in wanted for write in each.values())
    equals = _EQUALS.search(request.get("KeyConditionExpression", ""))
    if equals:
        yield request["ExpressionAttributeValues"][equals[1]]["S"]


def _of_items(holders: Any) -> Iterator[str]:  # noqa: ANN401  JSON of a request
    for holder in holders:
        item = holder.get("Key") or holder.get("Item")
        if item and "pk" in item:
            yield item["pk"]["S"]
