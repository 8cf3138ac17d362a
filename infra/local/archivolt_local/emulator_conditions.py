"""What the emulator does not know of IAM: `dynamodb:LeadingKeys`, and who is told of absence by S3.

Imported by `emulator_process`, in the emulator's own virtual environment.

- A condition on keys that a request does not carry is fulfilled ("ForAllValues"): without the
  partitions of requests every role would reach every partition. Transactions are left out: the
  emulator asks of their items one by one, and AWS of each with its own partition.
- Of an absent object S3 says 404 to who may list the whole bucket, and 403 to others. Those others
  are here who have a session policy with a condition on the prefix.
"""

# Its imports are in that other environment, and have no types there.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from email.utils import formatdate
from typing import Any

from ministack.core import iam_actions
from ministack.services import sts

_NOT_FOUND = 404
_REFUSAL = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
_ACCESS_KEY = re.compile(rb"Credential=([^/]+)/")
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


Message = dict[str, Any]
App = Callable[[Message, Any, Callable[[Message], Awaitable[None]]], Awaitable[None]]


def refusing_absence(app: App) -> App:
    """Return an ASGI application that says 403 in place of 404 to who may not list everything."""

    async def answered(
        scope: Message, receive: object, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        refused = False

        async def sent(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] == _NOT_FOUND:
                refused = True
                when = formatdate(usegmt=True).encode()
                headers = [(b"content-type", b"application/xml"), (b"date", when)]
                message = {**message, "status": 403, "headers": headers}
            elif refused and message["type"] == "http.response.body":
                body = b"" if scope["method"] == "HEAD" else _REFUSAL
                message = {"type": "http.response.body", "body": body}
            await send(message)

        await app(scope, receive, sent if _lists_by_prefix(scope) else send)

    return answered


def _lists_by_prefix(scope: Message) -> bool:
    headers = dict(scope.get("headers", []))
    access_key = _ACCESS_KEY.search(headers.get(b"authorization", b""))
    # ministack tells nobody else which policy a session was given.
    session = sts._sessions.get(access_key[1].decode()) if access_key else None  # noqa: SLF001
    policies = (session or {}).get("SessionPolicies") or {}
    return "s3:prefix" in (policies.get("Policy") or "")
