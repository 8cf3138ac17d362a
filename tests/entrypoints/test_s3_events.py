"""S3's events as AWS sends them, in both envelopes."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.ingestion import ChangeKind, ObjectChange, sequencer
from archivolt.entrypoints.events.batches import parse_batch
from archivolt.entrypoints.events.object_changes import document_of, parse_changes
from tests.builders import vault_ref
from tests.s3_events import messages_in

EVENTS = Path(__file__).parents[1] / "events"
CORPUS = Path(__file__).parents[3] / "shared" / "data" / "aws"


def golden(name: str) -> dict[str, Any]:
    return json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


def changes_of(name: str) -> list[ObjectChange]:
    parsed, invalid = parse_batch(golden(name), parse_changes)
    assert not invalid
    changes = [change for changes in parsed.values() for change in changes]
    assert all(isinstance(change, ObjectChange) for change in changes)
    return cast("list[ObjectChange]", changes)


def test_a_created_object_is_read_from_eventbridge() -> None:
    assert changes_of("sqs_s3_object_created") == [
        ObjectChange(
            kind=ChangeKind.CREATED,
            vault=vault_ref(),
            path=cast("Any", "Été 2026/à+b (1).md"),
            sequencer=sequencer("0068B5A1B8C1D2E3F4"),
            version="3sL4kqtJlcpXroDTDmJ+rmSpXd3dIbrHY",
            etag="8d777f385d3dfec8815d20f7496026dc",
            size=12,
        )
    ]


def test_a_delete_marker_and_a_permanent_deletion_are_both_deletions_to_be_checked() -> None:
    changes = changes_of("sqs_s3_object_deleted")
    assert [(change.kind, change.path) for change in changes] == [
        (ChangeKind.DELETED, "marked.md"),
        (ChangeKind.DELETED, "purged.md"),
    ]


def test_rights_and_tags_change_no_document() -> None:
    assert changes_of("sqs_s3_object_acl_updated") == []


def test_keys_of_a_direct_notification_are_decoded_with_plus_and_percent_20() -> None:
    changes = changes_of("sqs_s3_notification")
    assert [(change.kind, change.path) for change in changes] == [
        (ChangeKind.CREATED, "Été 2026/à+b (1).md"),
        (ChangeKind.CREATED, "two words.md"),
        (ChangeKind.DELETED, "gone.md"),
        (ChangeKind.DELETED, "expired.md"),
    ]


def test_both_envelopes_say_the_same_of_one_change() -> None:
    [through_eventbridge] = changes_of("sqs_s3_object_created")
    direct = changes_of("sqs_s3_notification")[0]
    assert (direct.path, direct.sequencer, direct.etag, direct.size) == (
        through_eventbridge.path,
        through_eventbridge.sequencer,
        through_eventbridge.etag,
        through_eventbridge.size,
    )


def test_the_test_event_is_acknowledged() -> None:
    assert changes_of("sqs_s3_test_event") == []


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "{}", '{"Records": [{}]}', '"text"'])
def test_what_is_no_event_of_s3_is_invalid(body: str) -> None:
    with pytest.raises(InvalidRequestError):
        parse_changes(body)


def test_an_invalid_message_leaves_the_others_of_its_batch_alone() -> None:
    batch = golden("sqs_s3_object_created")
    batch["Records"].append({"messageId": "broken", "body": "{"})
    parsed, invalid = parse_batch(batch, parse_changes)
    assert list(parsed) == ["message-1"]
    assert invalid == ["broken"]


@pytest.mark.parametrize(
    "key",
    [
        "derived/acme/v1/lexical/00.sqlite",
        "vaults/acme/v1/",
        "vaults/acme/v1/directory/",
        "vaults/acme/v1/a/../b.md",
        "vaults/acme/v1//b.md",
        "vaults/ac me/v1/a.md",
        "vaults/acme/v%201/a.md",
        "vaults/acme",
        "vaults/acme/v1/e\u0301te\u0301.md",
        "vaults/acme/v1/a\nb.md",
    ],
)
def test_a_key_that_is_no_document_is_ignored(key: str) -> None:
    assert document_of(key) is None


@pytest.mark.parametrize("path", ["[[.md", "%.md", "clang++.md", "a/b c/été.md", "..md", "a%20b"])
def test_an_odd_name_is_a_document(path: str) -> None:
    assert document_of(f"vaults/acme/v1/{path}") == (vault_ref(), path)


def _kind(message: dict[str, Any]) -> str:
    records = message.get("Records")
    return records[0]["eventName"] if records else message.get("detail-type", "")


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no recorded events here")
def test_every_recorded_event_of_s3_is_understood() -> None:
    seen: dict[str, int] = {}
    for file in sorted(CORPUS.glob("*.json")):
        for message in messages_in(json.loads(file.read_text(encoding="utf-8"))):
            body = json.dumps(message).replace('"key": "', '"key": "vaults/acme/v1/')
            kind = _kind(message)
            changes = parse_changes(body)
            announced = kind.removeprefix("s3:").startswith(
                ("ObjectCreated", "ObjectRemoved", "LifecycleExpiration:", "Object Cr", "Object D")
            )
            assert len(changes) == announced, (file.name, kind)
            seen[kind] = seen.get(kind, 0) + 1
    assert {"Object Created", "Object Deleted", "ObjectRemoved:DeleteMarkerCreated"} <= set(seen)
    assert {"ObjectTagging:Put", "ObjectAcl:Put", "Object ACL Updated"} <= set(seen)


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no recorded events here")
def test_every_recorded_sqs_batch_is_parsed_or_given_back() -> None:
    batches = 0
    for file in sorted(CORPUS.glob("*sqs*.json")):
        recorded = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(recorded.get("Records"), list) or "messageId" not in str(recorded):
            continue
        parsed, invalid = parse_batch(recorded, parse_changes)
        assert len(parsed) + len(invalid) == len(recorded["Records"])
        batches += 1
    assert batches
