"""Events of S3 in each form in which they reach the indexing queue, and the function behind it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import quote_plus

from archivolt.entrypoints.events.indexing import build_indexing
from archivolt.ingestion.announced import IndexAnnounced, by_tenant
from archivolt.ingestion.per_tenant import TenantBatches
from archivolt.ingestion.stray_changes import StrayChanges
from archivolt.ingestion.sync_requests import LeasedSyncRequests
from tests.fakes.sync import InMemorySyncLeases, InMemorySyncQueue
from tests.index_world import IndexWorld

# The same things in the words of EventBridge and of direct notifications.
KINDS: Final = {
    "put": ("Object Created", "ObjectCreated:Put"),
    "copy": ("Object Created", "ObjectCreated:Copy"),
    "multipart": ("Object Created", "ObjectCreated:CompleteMultipartUpload"),
    "marker": ("Object Deleted", "ObjectRemoved:DeleteMarkerCreated"),
    "purge": ("Object Deleted", "ObjectRemoved:Delete"),
    "expiry": ("Object Deleted", "LifecycleExpiration:Delete"),
    "acl": ("Object ACL Updated", "ObjectAcl:Put"),
    "tags": ("Object Tags Added", "ObjectTagging:Put"),
    "no_tags": ("Object Tags Deleted", "ObjectTagging:Delete"),
    "restore": ("Object Restore Completed", "ObjectRestore:Completed"),
    "storage": ("Object Storage Class Changed", "LifecycleTransition"),
    "tier": ("Object Access Tier Changed", "IntelligentTiering"),
}
_DELETION_TYPES: Final = {"marker": "Delete Marker Created", "purge": "Permanently Deleted"}
_REPORTED: Final = {"put", "copy", "multipart", "marker", "acl", "tags", "no_tags", "restore"}
_UNORDERED: Final = {"acl", "tags", "no_tags", "storage", "tier"}


def through_eventbridge(kind: str, key: str, *, sequencer: str, size: int = 12) -> str:
    """Return the event as EventBridge puts it into a queue: keys as they are."""
    about = _object(kind, sequencer=sequencer, size=size, etag="etag", version="version-id")
    detail = {"version": "0", "bucket": {"name": "documents"}, "object": {"key": key, **about}}
    if kind in _DELETION_TYPES:
        detail |= {"reason": "DeleteObject", "deletion-type": _DELETION_TYPES[kind]}
    event = {"version": "0", "id": "e", "source": "aws.s3", "detail-type": KINDS[kind][0]}
    return json.dumps(event | {"detail": detail})


def as_notification(kind: str, key: str, *, sequencer: str, size: int = 12) -> str:
    """Return the event as S3 itself puts it into a queue: keys URL-encoded, `+` for a space."""
    about = _object(kind, sequencer=sequencer, size=size, etag="eTag", version="versionId")
    s3 = {"bucket": {"name": "documents"}, "object": {"key": quote_plus(key), **about}}
    record = {"eventVersion": "2.1", "eventSource": "aws:s3", "eventName": KINDS[kind][1]}
    return json.dumps({"Records": [record | {"s3": s3}]})


def with_percent_20(kind: str, key: str, *, sequencer: str, size: int = 12) -> str:
    """Return the same with `%20` for a space, as some recordings have it."""
    return as_notification(kind, key, sequencer=sequencer, size=size).replace("+", "%20")


def by_way_of_a_topic(kind: str, key: str, *, sequencer: str, size: int = 12) -> str:
    """Return a notification in the envelope of SNS."""
    return wrapped(as_notification(kind, key, sequencer=sequencer, size=size))


FORMS: Final[Sequence[Callable[..., str]]] = (
    through_eventbridge,
    as_notification,
    with_percent_20,
    by_way_of_a_topic,
)


def wrapped(message: str) -> str:
    """Return a message in the envelope of SNS."""
    return json.dumps({"Type": "Notification", "MessageId": "s", "Message": message})


def batch(*bodies: str | None, source: str = "archivolt-indexing") -> dict[str, Any]:
    """Return messages as SQS delivers them, named `m0`, `m1` and so on; None has no body."""
    arn = f"arn:aws:sqs:eu-west-1:123456789012:{source}"
    records: list[dict[str, Any]] = []
    for number, body in enumerate(bodies):
        record = {"messageId": f"m{number}", "eventSource": "aws:sqs", "eventSourceARN": arn}
        records.append(record if body is None else record | {"body": body})
    return {"Records": records}


def messages_in(value: object) -> Iterator[dict[str, Any]]:
    """Yield whatever looks like a message of S3 in a recording, as SQS would carry it."""
    if isinstance(value, list):
        for each in cast("list[object]", value):
            yield from messages_in(each)
    elif isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if found.get("source") == "aws.s3" or found.get("Event") == "s3:TestEvent":
            yield found
        elif found.get("eventSource") == "aws:s3":
            yield {"Records": [found]}
        elif found.get("eventSource") == "aws:sqs" and _is_json(found.get("body")):
            yield from messages_in(json.loads(found["body"]))
        else:
            for each in found.values():
                yield from messages_in(each)


class IndexingFunction:
    """The indexing function over a world; what it has synchronised waits in `jobs`."""

    def __init__(self, world: IndexWorld) -> None:
        self.jobs = InMemorySyncQueue()
        requests = LeasedSyncRequests(InMemorySyncLeases(world.clock), self.jobs)
        strays = StrayChanges(world.directory, requests, world.clock)
        self._world = world
        worker = TenantBatches(by_tenant, lambda _: IndexAnnounced(strays, world.index_changes))
        self._handler = build_indexing(lambda: worker)

    def __call__(self, event: Mapping[str, Any]) -> list[str]:
        """Deliver a batch, and work off what follows; return the messages that come again."""
        answer = self._handler(event, self)
        self._world.embed()
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def get_remaining_time_in_millis(self) -> int:
        """Return the time of an invocation that has just begun."""
        return 240_000


def _object(kind: str, *, sequencer: str, size: int, etag: str, version: str) -> dict[str, Any]:
    about: dict[str, Any] = {version: "3sL4kqtJlcpXroDTDmJ"}
    if kind in _REPORTED:
        about |= {etag: "8d777f385d3dfec8815d20f7496026dc"}
    if KINDS[kind][0] == "Object Created":
        about |= {"size": size}
    # Changes of rights and tags are in no order.
    return about if kind in _UNORDERED else about | {"sequencer": sequencer}


def _is_json(text: str | None) -> bool:
    try:
        json.loads(text or "")
    except ValueError:
        return False
    return True
