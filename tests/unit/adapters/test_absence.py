"""A 403 of S3 that stands for an absent object, and one that does not."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import get_session
from botocore.stub import Stubber

from archivolt.adapters.s3.absence import tell_absence_from_refusal

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

KEY = "vaults/acme/v/a.md"
PLACE: dict[str, Any] = {"Bucket": "documents", "Key": KEY}
LISTING: dict[str, Any] = {"Bucket": "documents", "Prefix": KEY, "MaxKeys": 1}
VERSIONS: dict[str, Any] = {"Bucket": "documents", "Prefix": KEY}
MATCH: dict[str, Any] = {**PLACE, "IfMatch": '"e"'}
COPY: dict[str, Any] = {"Bucket": "documents", "Key": f"{KEY}.new", "CopySource": PLACE}

Call = Callable[[Any], object]


@pytest.fixture(scope="module")
def s3() -> "S3Client":
    client: Any = get_session().create_client(
        "s3",
        region_name="eu-west-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    tell_absence_from_refusal(client)
    return client


def told(s3: "S3Client", call: Call, refused: str, *then: tuple[str, Any, Any]) -> str:
    """Return the code of a call that S3 refuses; `then` are the looks that follow."""
    with Stubber(s3) as stubber:
        code = "403" if refused == "head_object" else "AccessDenied"
        stubber.add_client_error(refused, code, http_status_code=403)
        for operation, expected, answer in then:
            if isinstance(answer, str):
                stubber.add_client_error(operation, answer, http_status_code=403)
            else:
                stubber.add_response(operation, answer, expected)
        with pytest.raises(ClientError) as error:
            call(s3)
        stubber.assert_no_pending_responses()
    return error.value.response.get("Error", {}).get("Code", "")


CALLS: list[tuple[str, Call, str]] = [
    ("get_object", lambda s3: s3.get_object(**PLACE), "NoSuchKey"),
    ("head_object", lambda s3: s3.head_object(**PLACE), "404"),
    ("put_object", lambda s3: s3.put_object(**MATCH, Body=b""), "NoSuchKey"),
    ("delete_object", lambda s3: s3.delete_object(**MATCH), "NoSuchKey"),
    ("copy_object", lambda s3: s3.copy_object(**COPY), "NoSuchKey"),
]


@pytest.mark.parametrize(("operation", "call", "code"), CALLS)
@pytest.mark.parametrize("listed", [[], [{"Key": f"{KEY}.bak"}]])
def test_what_the_listing_does_not_have_is_absent(
    s3: "S3Client", operation: str, call: Call, code: str, listed: list[dict[str, str]]
) -> None:
    look = ("list_objects_v2", LISTING, {"Contents": listed})
    assert told(s3, call, operation, look) == code


@pytest.mark.parametrize(("operation", "call", "code"), CALLS)
@pytest.mark.parametrize("answer", [{"Contents": [{"Key": KEY}]}, "AccessDenied", "SlowDown"])
def test_what_is_there_or_cannot_be_looked_for_stays_refused(
    s3: "S3Client", operation: str, call: Call, code: str, answer: object
) -> None:
    del code
    refused = "403" if operation == "head_object" else "AccessDenied"
    assert told(s3, call, operation, ("list_objects_v2", LISTING, answer)) == refused


REFUSED_AT = datetime(2026, 9, 1, 12, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "date", "code"),
    [
        (0, "Tue, 01 Sep 2026 12:00:05 GMT", "NoSuchKey"),
        (3, "Tue, 01 Sep 2026 12:00:05 GMT", "NoSuchKey"),
        (-1, "Tue, 01 Sep 2026 12:00:05 GMT", "AccessDenied"),
        (3, "soon", "AccessDenied"),
        (3, "", "AccessDenied"),
    ],
)
def test_what_was_written_since_the_refusal_was_absent(
    s3: "S3Client", seconds: int, date: str, code: str
) -> None:
    written = REFUSED_AT + timedelta(seconds=seconds)
    with Stubber(s3) as stubber:
        stubber.add_client_error(
            "get_object",
            "AccessDenied",
            http_status_code=403,
            response_meta={"HTTPHeaders": {"date": date}},
        )
        there = {"Contents": [{"Key": KEY, "LastModified": written}]}
        stubber.add_response("list_objects_v2", there, LISTING)
        with pytest.raises(ClientError) as error:
            s3.get_object(**PLACE)
    assert error.value.response.get("Error", {}).get("Code") == code


@pytest.mark.parametrize(
    ("known", "cut", "code"),
    [
        ([], False, "NoSuchKey"),
        ([{"Key": KEY, "VersionId": "1"}], False, "NoSuchKey"),
        ([{"Key": KEY, "VersionId": "2"}], False, "AccessDenied"),
        ([{"Key": KEY, "VersionId": "1"}], True, "AccessDenied"),
    ],
)
def test_a_version_is_looked_for_among_versions(
    s3: "S3Client", known: list[dict[str, str]], *, cut: bool, code: str
) -> None:
    look = ("list_object_versions", VERSIONS, {"Versions": known, "IsTruncated": cut})
    assert told(s3, lambda s3: s3.get_object(**PLACE, VersionId="2"), "get_object", look) == code


UNCONDITIONAL: list[tuple[str, Call]] = [
    ("put_object", lambda s3: s3.put_object(**PLACE, Body=b"", IfNoneMatch="*")),
    ("delete_object", lambda s3: s3.delete_object(**PLACE)),
]


@pytest.mark.parametrize(("operation", "call"), UNCONDITIONAL)
def test_who_needs_nothing_to_be_there_was_refused(
    s3: "S3Client", operation: str, call: Call
) -> None:
    assert told(s3, call, operation) == "AccessDenied"


def test_other_answers_are_left_alone(s3: "S3Client") -> None:
    with Stubber(s3) as stubber:
        stubber.add_client_error("get_object", "SlowDown", http_status_code=503)
        with pytest.raises(ClientError, match="SlowDown"):
            s3.get_object(**PLACE)
