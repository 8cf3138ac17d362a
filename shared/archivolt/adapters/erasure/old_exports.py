"""Exported files of the audit log that are older than the log, removed by the day in their key.

The bucket's own rule counts from a file's last writing, and an erasure writes it anew.
"""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.s3.objects import Bucket
from archivolt.domain.errors import UnavailableError
from archivolt.observability import logger

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef, ObjectIdentifierTypeDef

_FOLDER: Final = "audit/"
# What one page of versions may still need.
_RESERVE: Final = timedelta(seconds=10)


class OldExports:
    """An `AgedExports` in a bucket: entries of a day and their seal, with all versions."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def remove(self, *, before: date, time_left: Callable[[], timedelta]) -> int:
        """Remove the files of the days before one; return how many versions that were."""
        removed = 0
        for folder in list(self._folders()):
            for page in self._pages(Prefix=folder):
                if time_left() < _RESERVE:
                    return removed
                entries = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
                found: list[ObjectIdentifierTypeDef] = [
                    {"Key": entry.get("Key", ""), "VersionId": entry.get("VersionId", "")}
                    for entry in entries
                ]
                old = [each for each in found if _is_old(each["Key"], folder, before)]
                self._delete(old)
                removed += len(old)
                if len(old) < len(found):
                    break  # keys come in the order of their days
        return removed

    def _folders(self) -> Iterator[str]:
        """Yield the folders of tenants."""
        for page in self._pages(Prefix=_FOLDER, Delimiter="/"):
            for folder in page.get("CommonPrefixes", []):
                yield folder.get("Prefix", "")

    def _pages(self, **wanted: str) -> "Iterator[ListObjectVersionsOutputTypeDef]":
        pages = self._bucket.client.get_paginator("list_object_versions")
        arguments: Any = wanted
        with translated():
            yield from pages.paginate(Bucket=self._bucket.name, **arguments)

    def _delete(self, versions: "list[ObjectIdentifierTypeDef]") -> None:
        if not versions:
            return
        with translated():
            answer = self._bucket.client.delete_objects(
                Bucket=self._bucket.name, Delete={"Objects": versions, "Quiet": True}
            )
        if errors := answer.get("Errors"):
            codes = sorted({error.get("Code", "") for error in errors})
            logger.error("old exports were not removed", extra={"codes": codes})
            raise UnavailableError("unavailable")


def _is_old(key: str, folder: str, before: date) -> bool:
    """Tell whether a file is of an earlier day; one that names none is none of ours."""
    try:
        return date.fromisoformat(key.removeprefix(folder).partition(".")[0]) < before
    except ValueError:
        return False
