"""Absent or refused: S3 says 403 of an absent object to who may list some of a bucket only.

To who may list all of it, it says 404 (Amazon S3 API reference, "GetObject"). A condition on the
prefix is never met by a read, which has none (decision 0010). So after a 403 the one name is looked
for among those that may be listed: if it is not there, the answer becomes that of an absent object.
What is there stays refused, and what cannot be looked for does too. What somebody wrote since the
refusal was absent when it was asked for.
"""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_FORBIDDEN: Final = 403
_PLACE: Final = "archivolt_place"
_READS: Final = ("HeadObject", "GetObject")
_CONDITIONAL: Final = ("PutObject", "DeleteObject")


class _Place(NamedTuple):
    """What a request has to find; `version` is "" for the present one."""

    bucket: str
    key: str
    version: str


def tell_absence_from_refusal(client: "S3Client") -> None:
    """Have a client tell absent objects as if it might list the whole bucket."""

    def look(
        http_response: Any,  # noqa: ANN401  botocore's own, which has no stubs
        parsed: dict[str, Any],
        context: Mapping[str, Any],
        **_: object,
    ) -> None:
        place: _Place | None = context.get(_PLACE)
        if http_response.status_code != _FORBIDDEN or not place:
            return
        if _is_absent(client, place, _refused_at(parsed)):
            without_body = parsed["Error"].get("Code") == str(_FORBIDDEN)
            parsed["Error"]["Code"] = "404" if without_body else "NoSuchKey"

    for operation in (*_READS, *_CONDITIONAL, "CopyObject"):
        client.meta.events.register(f"provide-client-params.s3.{operation}", _remember)
        client.meta.events.register(f"after-call.s3.{operation}", look)


def _remember(
    params: Mapping[str, Any],
    model: Any,  # noqa: ANN401  as above
    context: dict[str, Any],
    **_: object,
) -> None:
    name: str = model.name
    found = params.get("CopySource") if name == "CopyObject" else params
    if found and (name not in _CONDITIONAL or "IfMatch" in params):
        version = found.get("VersionId", "")
        context[_PLACE] = _Place(found["Bucket"], found["Key"], version)


def _refused_at(parsed: Mapping[str, Any]) -> datetime | None:
    """Return the second in which S3 says that it answered."""
    said: str = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date", "")
    try:
        return parsedate_to_datetime(said)
    except ValueError:
        return None


def _is_absent(client: "S3Client", place: _Place, refused_at: datetime | None) -> bool:
    """Tell whether the listing, which begins with the name itself, did not have it."""
    try:
        if not place.version:
            page = client.list_objects_v2(Bucket=place.bucket, Prefix=place.key, MaxKeys=1)
            found = [each for each in page.get("Contents", []) if each.get("Key") == place.key]
            written = found[0].get("LastModified") if found else None
            return not found or bool(written and refused_at and written >= refused_at)
        answer = client.list_object_versions(Bucket=place.bucket, Prefix=place.key)
    except (BotoCoreError, ClientError):
        return False
    versions = answer.get("Versions", [])
    there = (place.key, place.version) in [
        (each.get("Key"), each.get("VersionId")) for each in versions
    ]
    return not there and not answer["IsTruncated"]
