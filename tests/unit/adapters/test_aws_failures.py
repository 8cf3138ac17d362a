"""What AWS refuses, told in our words; and answers that were lost on the way."""

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from botocore.response import StreamingBody
from botocore.session import get_session
from botocore.stub import Stubber

from archivolt.adapters.aws.clients import AwsClients
from archivolt.adapters.aws.errors import translated
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put
from archivolt.adapters.s3.files import S3Files
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import ETag, WriteMarks
from tests.builders import a_conversation, vault_ref
from tests.fakes.clock import START, FrozenClock

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client

NOTE = VaultPath("a.md")
VAULT = vault_ref()


def a_client(service: str) -> Any:  # noqa: ANN401
    return get_session().create_client(
        service,
        region_name="eu-west-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


@contextmanager
def answering(
    client: "S3Client | DynamoDBClient", *answers: tuple[str, str | dict[str, Any], int]
) -> Generator[None]:
    """Script the answers of AWS: an operation, an error code or a result, attempts before it."""
    with Stubber(client) as stubber:
        for operation, answer, retries in answers:
            if isinstance(answer, str):
                stubber.add_client_error(
                    operation,
                    answer,
                    http_status_code=400,
                    response_meta={"RetryAttempts": retries},
                )
            else:
                stubber.add_response(operation, answer)
        yield
        stubber.assert_no_pending_responses()


@pytest.fixture
def s3() -> "S3Client":
    return a_client("s3")


@pytest.fixture
def files(s3: "S3Client") -> S3Files:
    return S3Files(s3, "documents", FrozenClock())


def head_of(data: bytes) -> dict[str, Any]:
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    modified = datetime(2026, 9, 1, tzinfo=UTC)
    return {"ETag": f'"{digest}"', "ContentLength": len(data), "LastModified": modified}


@pytest.mark.parametrize("code", ["SlowDown", "InternalError", "ServiceUnavailable", "Throttling"])
def test_a_service_that_cannot_answer_is_unavailable(
    s3: "S3Client", files: S3Files, code: str
) -> None:
    with answering(s3, ("head_object", code, 2)), pytest.raises(UnavailableError) as refused:
        files.head(VAULT, NOTE)

    assert refused.value.code == "unavailable"
    assert isinstance(refused.value.__cause__, ClientError)


@pytest.mark.parametrize(
    "lost",
    [
        EndpointConnectionError(endpoint_url="http://127.0.0.1:1"),
        ConnectTimeoutError(endpoint_url="http://127.0.0.1:1"),
        ReadTimeoutError(endpoint_url="http://127.0.0.1:1"),
    ],
)
def test_a_service_out_of_reach_is_unavailable(lost: Exception) -> None:
    with pytest.raises(UnavailableError), translated():
        raise lost


@pytest.mark.parametrize("code", ["403", "AccessDenied", "AccessDeniedException"])
def test_a_missing_right_is_a_fault_of_the_deployment_and_its_log_says_which(
    s3: "S3Client", files: S3Files, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    with answering(s3, ("head_object", code, 0)), pytest.raises(ClientError):
        files.head(VAULT, NOTE)

    [record] = caplog.records
    assert (record.message, vars(record)["operation"]) == ("access_denied", "HeadObject")
    assert NOTE not in str(vars(record))


def test_what_an_adapter_expects_is_not_logged_as_a_missing_right(
    s3: "S3Client", files: S3Files, caplog: pytest.LogCaptureFixture
) -> None:
    with answering(s3, ("head_object", "404", 0)), pytest.raises(NotFoundError):
        files.head(VAULT, NOTE)

    assert caplog.records == []


def test_a_page_key_that_s3_does_not_know_is_refused(s3: "S3Client", files: S3Files) -> None:
    with (
        answering(s3, ("list_objects_v2", "InvalidArgument", 0)),
        pytest.raises(InvalidRequestError) as refused,
    ):
        files.list(VAULT, ROOT, recursive=True, limit=10, after="made up")

    assert refused.value.code == "unknown_page"


def test_a_write_whose_answer_was_lost_is_no_conflict_with_itself(
    s3: "S3Client", files: S3Files
) -> None:
    written = head_of(b"text")
    with answering(
        s3,
        ("put_object", "PreconditionFailed", 1),
        ("head_object", written, 0),
    ):
        info = files.create(VAULT, NOTE, b"text")

    assert info.size == 4


def test_somebody_elses_write_is_a_conflict_even_after_a_retry(
    s3: "S3Client", files: S3Files
) -> None:
    with (
        answering(s3, ("put_object", "PreconditionFailed", 1), ("head_object", head_of(b"b"), 0)),
        pytest.raises(ConflictError) as refused,
    ):
        files.create(VAULT, NOTE, b"text")

    assert refused.value.code == "file_exists"


def test_equal_content_of_somebody_else_is_still_a_conflict(s3: "S3Client", files: S3Files) -> None:
    with (
        answering(s3, ("put_object", "PreconditionFailed", 0)),
        pytest.raises(ConflictError),
    ):
        files.create(VAULT, NOTE, b"text")


def test_a_write_that_met_another_is_repeated(s3: "S3Client", files: S3Files) -> None:
    with answering(
        s3,
        ("put_object", "ConditionalRequestConflict", 0),
        ("put_object", {"ETag": '"e"', "VersionId": "v"}, 0),
    ):
        assert files.create(VAULT, NOTE, b"text").etag == "e"


def test_a_write_that_always_meets_another_is_a_conflict(s3: "S3Client", files: S3Files) -> None:
    met = ("put_object", "ConditionalRequestConflict", 0)
    with answering(s3, met, met, met, met), pytest.raises(ConflictError):
        files.replace(VAULT, NOTE, b"text", expected=ETag("e"))


def test_a_deletion_whose_answer_was_lost_is_done(s3: "S3Client", files: S3Files) -> None:
    with answering(s3, ("delete_object", "NoSuchKey", 1), ("head_object", "404", 0)):
        files.delete(VAULT, NOTE, expected=ETag("e"))


def a_large_copy(*, attempts: int, there: dict[str, Any]) -> tuple[tuple[str, Any, int], ...]:
    """Return the answers to a copy that S3 is asked for and that finds its target in place."""
    source = head_of(b"large") | {"Body": StreamingBody(BytesIO(b"large"), 5)}
    return (
        ("get_object", source, 0),
        ("head_object", "404", 0),
        ("copy_object", "PreconditionFailed", attempts),
        *([("head_object", there, 0)] if attempts else []),
    )


@pytest.mark.parametrize(
    ("attempts", "operation", "copied"),
    [(1, "mine", True), (1, "another's", False), (0, "", False)],
)
def test_a_large_copy_whose_answer_was_lost_knows_itself_by_its_mark(
    s3: "S3Client", attempts: int, operation: str, *, copied: bool
) -> None:
    files = S3Files(s3, "documents", FrozenClock(), small_bytes=4)
    there = head_of(b"large") | {"Metadata": {"archivolt-operation": operation}}
    expected = ETag(head_of(b"large")["ETag"].strip('"'))
    marks = WriteMarks(operation="mine")
    with answering(s3, *a_large_copy(attempts=attempts, there=there)):
        if copied:
            info = files.copy(VAULT, NOTE, VaultPath("b.md"), expected=expected, marks=marks)
            assert (info.path, info.operation) == ("b.md", "mine")
        else:
            with pytest.raises(ConflictError) as refused:
                files.copy(VAULT, NOTE, VaultPath("b.md"), expected=expected, marks=marks)
            assert refused.value.code == "file_exists"


@pytest.mark.parametrize("path_style", [True, False])
def test_an_upload_goes_to_the_buckets_own_region(
    monkeypatch: pytest.MonkeyPatch, *, path_style: bool
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-3")
    files = S3Files(AwsClients(path_style=path_style).s3, "documents", FrozenClock())

    form = files.upload_form(VAULT, NOTE, size=1, content_type="text/plain", seconds=60)

    address = urlsplit(form.url)
    assert (address.hostname or "").endswith("s3.eu-west-3.amazonaws.com")
    [signed] = parse_qs(address.query)["X-Amz-SignedHeaders"]
    assert signed == "content-length;content-type;host;if-none-match"


@pytest.fixture
def dynamodb() -> "DynamoDBClient":
    return a_client("dynamodb")


@pytest.fixture
def table(dynamodb: "DynamoDBClient") -> DynamoTable:
    return DynamoTable(dynamodb, "table")


def test_a_throttled_table_is_unavailable(dynamodb: "DynamoDBClient", table: DynamoTable) -> None:
    with (
        answering(dynamodb, ("get_item", "ProvisionedThroughputExceededException", 2)),
        pytest.raises(UnavailableError),
    ):
        table.get(Key("a", "b"))


def cancelled(*codes: str) -> dict[str, Any]:
    return {"CancellationReasons": [{"Code": code} for code in codes]}


@contextmanager
def transactions(dynamodb: "DynamoDBClient", *answers: dict[str, Any] | None) -> Generator[None]:
    with Stubber(dynamodb) as stubber:
        for reasons in answers:
            if reasons is None:
                stubber.add_response("transact_write_items", {})
            else:
                stubber.add_client_error(
                    "transact_write_items",
                    "TransactionCanceledException",
                    modeled_fields=reasons,
                )
        yield
        stubber.assert_no_pending_responses()


PUT = Put(item={"pk": "a", "sk": "b"}, condition=ABSENT)


def test_a_transaction_that_met_another_is_repeated(
    dynamodb: "DynamoDBClient", table: DynamoTable
) -> None:
    with transactions(dynamodb, cancelled("None", "TransactionConflict"), None):
        table.transact([PUT, PUT])


def test_a_wish_to_stop_that_met_the_end_of_the_answer_is_repeated(
    dynamodb: "DynamoDBClient", table: DynamoTable
) -> None:
    with transactions(dynamodb, cancelled("TransactionConflict"), None):
        DynamoConversations(table).ask_stop(a_conversation(), START)


def test_a_failed_condition_is_never_repeated(
    dynamodb: "DynamoDBClient", table: DynamoTable
) -> None:
    reasons = cancelled("TransactionConflict", "ConditionalCheckFailed")
    with transactions(dynamodb, reasons), pytest.raises(ConditionFailedError) as refused:
        table.transact([PUT, PUT])

    assert refused.value.positions == {1}


def test_a_transaction_refused_for_another_reason_is_a_fault(
    dynamodb: "DynamoDBClient",
    table: DynamoTable,
) -> None:
    with transactions(dynamodb, cancelled("ValidationError")), pytest.raises(ClientError):
        table.transact([PUT])


def test_reads_left_undone_are_done_again(dynamodb: "DynamoDBClient", table: DynamoTable) -> None:
    def an_item(sk: str) -> dict[str, Any]:
        return {"pk": {"S": "a"}, "sk": {"S": sk}}

    rest = {"table": {"Keys": [an_item("2")], "ConsistentRead": True}}
    with answering(
        dynamodb,
        ("batch_get_item", {"Responses": {"table": [an_item("1")]}, "UnprocessedKeys": rest}, 0),
        ("batch_get_item", {"Responses": {"table": [an_item("2")]}}, 0),
    ):
        found = table.get_many([Key("a", "1"), Key("a", "2"), Key("a", "1")])

    assert set(found) == {Key("a", "1"), Key("a", "2")}
