"""What S3 announces, in both of its envelopes, as changes of documents.

EventBridge gives keys as they are; a direct notification gives them URL-encoded (Amazon S3 user
guide, "Event message structure"), and may come by way of a topic. An event is a hint that a key
changed: what is true now, the store itself is asked later, so that a permanent deletion of an old
version deletes nothing.
"""

import re
from typing import Annotated, Literal
from urllib.parse import unquote_plus

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from archivolt.domain.errors import ArchivoltError, InvalidRequestError
from archivolt.domain.identity import tenant_id
from archivolt.domain.ingestion import ChangeKind, ObjectChange, StrayChange, sequencer
from archivolt.domain.paths import VaultPath, resolve_path
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.observability import logger

_KEY = re.compile(r"vaults/([^/]+)/([A-Za-z0-9_-]{1,64})/(.+)", re.DOTALL)
_TENANT_KEY = re.compile(r"vaults/([^/]+)/(?:([A-Za-z0-9_-]{1,64})/)?.*", re.DOTALL)

# Other kinds (ACL, tags, restores, storage classes, replication) change no content.
_EVENTBRIDGE_KINDS = {"Object Created": ChangeKind.CREATED, "Object Deleted": ChangeKind.DELETED}
_NOTIFICATION_KINDS = {
    "ObjectCreated": ChangeKind.CREATED,
    "ObjectRemoved": ChangeKind.DELETED,
    "LifecycleExpiration": ChangeKind.DELETED,
}


class _Read(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True)


class _EventObject(_Read):
    key: str
    size: int | None = None
    etag: str = ""
    version: Annotated[str, Field(alias="version-id")] = ""
    sequencer: str = ""


class _EventDetail(_Read):
    object: _EventObject


class _Event(_Read):
    """S3 through EventBridge (Amazon S3 user guide, "EventBridge event message structure")."""

    source: Literal["aws.s3"]
    detail_type: Annotated[str, Field(alias="detail-type")]
    detail: _EventDetail


class _NotificationObject(_Read):
    key: str
    size: int | None = None
    etag: Annotated[str, Field(alias="eTag")] = ""
    version: Annotated[str | None, Field(alias="versionId")] = None
    sequencer: str = ""


class _NotificationEntity(_Read):
    object: _NotificationObject


class _Record(_Read):
    source: Annotated[Literal["aws:s3"], Field(alias="eventSource")]
    name: Annotated[str, Field(alias="eventName")]
    s3: _NotificationEntity


class _Notification(_Read):
    records: Annotated[list[_Record], Field(alias="Records")]


class _TestEvent(_Read):
    """What S3 sends when a notification is configured: it has no records."""

    event: Annotated[Literal["s3:TestEvent"], Field(alias="Event")]


class _FromTopic(_Read):
    """A message that came by way of a topic (Amazon SNS developer guide, "Fanout to SQS")."""

    kind: Annotated[Literal["Notification"], Field(alias="Type")]
    message: Annotated[str, Field(alias="Message")]


_FromS3 = _Event | _Notification | _TestEvent
_Announcement = TypeAdapter[_FromS3](_FromS3)
_Message = TypeAdapter[_FromS3 | _FromTopic](_FromS3 | _FromTopic)

Announced = ObjectChange | StrayChange


def parse_changes(body: str) -> list[Announced]:
    """Return the changes that one message announces; none for a test event.

    Raises:
        InvalidRequestError: `invalid_request`: it is no message of S3.

    """
    try:
        message = _Message.validate_json(body)
        if isinstance(message, _FromTopic):
            message = _Announcement.validate_json(message.message)
    except ValidationError as error:
        raise InvalidRequestError("invalid_request", problem="event_not_of_s3") from error
    if isinstance(message, _Event):
        return _from_event(message)
    if isinstance(message, _Notification):
        return [change for record in message.records for change in _from_record(record)]
    return []


def _from_event(event: _Event) -> list[Announced]:
    kind = _EVENTBRIDGE_KINDS.get(event.detail_type)
    announced = event.detail.object
    return _change(kind, announced.key, announced)


def _from_record(record: _Record) -> list[Announced]:
    kind = _NOTIFICATION_KINDS.get(record.name.removeprefix("s3:").partition(":")[0])
    return _change(kind, unquote_plus(record.s3.object.key), record.s3.object)


def _change(
    kind: ChangeKind | None, key: str, announced: _EventObject | _NotificationObject
) -> list[Announced]:
    if kind is None:
        return []
    document = document_of(key)
    if document is None:
        logger.info("a key is no document", extra={"kind": kind.value})
        return _stray(key)
    return [
        ObjectChange(
            kind=kind,
            vault=document[0],
            path=document[1],
            sequencer=sequencer(announced.sequencer) if announced.sequencer else None,
            version=announced.version or "",
            etag=announced.etag,
            size=announced.size,
        )
    ]


def document_of(key: str) -> tuple[VaultRef, VaultPath] | None:
    """Return the document that an object key `vaults/{tenant}/{vault_id}/{path}` stands for.

    None when it stands for none: a directory's marker, a path that no door would accept, or one
    that is not in the normal form in which every door asks for it.
    """
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    try:
        tenant, path = tenant_id(match[1]), resolve_path(match[3])
    except ArchivoltError:
        return None
    if path != match[3]:
        return None
    return VaultRef(tenant=tenant, id=VaultId(match[2])), path


def _stray(key: str) -> list[Announced]:
    match = _TENANT_KEY.fullmatch(key)
    try:
        tenant = tenant_id(match and match[1])
    except ArchivoltError:
        return []
    vault = VaultRef(tenant=tenant, id=VaultId(match[2])) if match and match[2] else None
    return [StrayChange(tenant=tenant, vault=vault)]
