"""Every version of every object below a subject's folders, and every mark of a deletion."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.dynamodb.erasures import DynamoErasures, Planned
from archivolt.adapters.s3.objects import Bucket
from archivolt.domain.erasure import Erasure, ErasureScope, Subject
from archivolt.domain.errors import UnavailableError
from archivolt.observability import logger

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef, ObjectIdentifierTypeDef

# What one request lists, and removes, at most.
_AT_ONCE: Final = 1_000


def folders_of(folder: str, *, of_vaults: bool = True) -> Callable[[Subject], Sequence[str]]:
    """Return what gives a subject's prefixes below a folder, which may be of whole tenants."""

    def prefixes(subject: Subject) -> Sequence[str]:
        of_tenant = f"{folder}/{subject.tenant}/"
        if subject.scope is ErasureScope.TENANT:
            return [of_tenant]
        if not of_vaults:
            return []
        return [f"{of_tenant}{vault}/" for vault in subject.vaults]

    return prefixes


class ObjectsEraser:
    """An `Eraser` of a folder of the bucket.

    Removing and counting are no one step here: what is about to be removed is noted first, and
    counted once it is gone. The bucket lists keys in order, so that after a crash all up to the
    last key that was noted is what was left of it.

    Args:
        store: What the receipt calls it.
        bucket: The bucket.
        prefixes: Gives what the keys of a subject begin with.
        records: Counts.

    """

    def __init__(
        self,
        store: str,
        bucket: Bucket,
        prefixes: Callable[[Subject], Sequence[str]],
        records: DynamoErasures,
        *,
        at_once: int = _AT_ONCE,
    ) -> None:
        self._store = store
        self._bucket = bucket
        self._prefixes = prefixes
        self._records = records
        self._at_once = at_once

    @property
    def store(self) -> str:
        """What the receipt calls the folder."""
        return self._store

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Remove one page of versions."""
        prefixes = self._prefixes(erasure.subject)
        number = int(cursor or 0)
        if number >= len(prefixes):
            return None
        self._finish_planned(erasure, prefixes[number])
        found, more = self._versions(prefixes[number])
        if found:
            planned = Planned(len(found), found[-1]["Key"])
            self._records.plan(erasure, self._store, planned)
            remove_versions(self._bucket, found)
            self._records.carried_out(erasure, self._store, planned)
        if more:
            return str(number)
        return str(number + 1) if number + 1 < len(prefixes) else None

    def _finish_planned(self, erasure: Erasure, prefix: str) -> None:
        planned = self._records.planned(erasure, self._store)
        if planned is None:
            return
        found, _ = self._versions(prefix)
        left = [each for each in found if each["Key"] <= planned.upto]
        if left:
            remove_versions(self._bucket, left)
        self._records.carried_out(erasure, self._store, planned)

    def _versions(self, prefix: str) -> "tuple[list[ObjectIdentifierTypeDef], bool]":
        """Return the first versions below a prefix, in order, and whether there are more.

        Of a key whose versions go on with the next page, none is among them: what is planned ends
        with a whole key. One with more versions than a page has goes page by page all the same.
        """
        with translated():
            page = self._bucket.client.list_object_versions(
                Bucket=self._bucket.name, Prefix=prefix, MaxKeys=self._at_once
            )
        found = sorted(versions_in(page), key=lambda each: each["Key"])
        more = page.get("IsTruncated", False)
        if more:
            whole = [each for each in found if each["Key"] != found[-1]["Key"]]
            found = whole or found
        return found, more


def versions_in(
    page: "ListObjectVersionsOutputTypeDef", *, but_latest: bool = False
) -> "list[ObjectIdentifierTypeDef]":
    """Return the versions of a page and its marks of deletions, or those that others followed."""
    entries = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
    return [
        {"Key": entry.get("Key", ""), "VersionId": entry.get("VersionId", "")}
        for entry in entries
        if not (but_latest and entry.get("IsLatest", True))
    ]


def remove_versions(bucket: Bucket, versions: "Sequence[ObjectIdentifierTypeDef]") -> None:
    """Remove the versions of a page for good.

    Raises:
        UnavailableError: Some of them are still there.

    """
    if not versions:
        return
    with translated():
        answer = bucket.client.delete_objects(
            Bucket=bucket.name, Delete={"Objects": list(versions), "Quiet": True}
        )
    if errors := answer.get("Errors"):
        codes = sorted({error.get("Code", "") for error in errors})
        logger.error("versions were not removed", extra={"codes": codes})
        raise UnavailableError("unavailable")
