"""Exported files of the audit log that are older than the log, removed by the day in their key.

The bucket's own rule counts from a file's last writing, and an erasure writes it anew.
"""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.erasure.objects import remove_versions, versions_in
from archivolt.adapters.s3.objects import Bucket

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef

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
                found = versions_in(page)
                old = [each for each in found if _is_old(each["Key"], folder, before)]
                remove_versions(self._bucket, old)
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


def _is_old(key: str, folder: str, before: date) -> bool:
    """Tell whether a file is of an earlier day; one that names none is none of ours."""
    try:
        return date.fromisoformat(key.removeprefix(folder).partition(".")[0]) < before
    except ValueError:
        return False
