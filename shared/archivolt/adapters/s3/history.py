"""The versions that a bucket keeps of its files: of one file, and of those that were deleted.

S3 gives versions and delete markers apart, each the newest first, with the second they were made
in. Where a version and a marker were made in one second, which came first cannot be told; then the
marker counts as the newer one.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.s3.objects import Bucket, etag_of, listable, object_key, prefix_of
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import DeletedFile, DeletedFiles, FileVersion, VaultRef

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef


PAGE_KEYS: Final = 1_000
"""How many versions one answer of S3 holds at most."""


def versions_of(bucket: Bucket, vault: VaultRef, path: VaultPath) -> list[FileVersion]:
    """Return every version of a file, deletions included, the newest first."""
    key = object_key(vault, path)
    # Of all keys that begin with this one, it is the first.
    first = next(_histories(bucket, prefix=key), None)
    return first[1] if first and first[0] == key else []


def deleted_files(
    bucket: Bucket, vault: VaultRef, directory: VaultPath, *, limit: int, after: str | None
) -> DeletedFiles:
    """Return one page of the deleted files below a directory.

    Raises:
        InvalidRequestError: `unknown_page`: S3 takes no such place to start after.

    """
    root = object_key(vault, "")
    files: list[DeletedFile] = []
    histories = _histories(
        bucket, prefix=prefix_of(vault, directory), after=f"{root}{after}" if after else ""
    )
    for key, history in histories:
        path = listable(key.removeprefix(root))
        content = next((version for version in history if not version.deletion), None)
        if path is None or content is None or not history[0].deletion:
            continue
        if len(files) == limit:
            return DeletedFiles(files=files, next_after=files[-1].path)
        files.append(
            DeletedFile(
                path=path,
                deleted_at=history[0].modified,
                version=content.version,
                size=content.size,
                etag=content.etag,
            )
        )
    return DeletedFiles(files=files)


def _histories(
    bucket: Bucket, *, prefix: str, after: str = ""
) -> Iterator[tuple[str, list[FileVersion]]]:
    """Yield each key with all of its versions, in key order; a page may end within a key."""
    start: dict[str, Any] = {"KeyMarker": after} if after else {}
    held: dict[str, list[FileVersion]] = {}
    while True:
        with translated({"InvalidArgument": InvalidRequestError("unknown_page")}):
            page = bucket.client.list_object_versions(
                Bucket=bucket.name, Prefix=prefix, MaxKeys=PAGE_KEYS, **start
            )
        for key, version in _entries(page):
            held.setdefault(key, []).append(version)
        keys = sorted(held)
        more = page.get("IsTruncated", False)
        for key in keys[:-1] if more else keys:
            yield key, sorted(held.pop(key), key=_age)
        if not more:
            return
        start = {"KeyMarker": page.get("NextKeyMarker", "")}
        if marker := page.get("NextVersionIdMarker"):
            start["VersionIdMarker"] = marker


def _age(version: FileVersion) -> tuple[bool, float, bool]:
    return not version.current, -version.modified.timestamp(), not version.deletion


def _entries(page: "ListObjectVersionsOutputTypeDef") -> Iterator[tuple[str, FileVersion]]:
    for entry in page.get("Versions", []):
        yield entry.get("Key", ""), _version(entry, deletion=False)
    for marker in page.get("DeleteMarkers", []):
        yield marker.get("Key", ""), _version(marker, deletion=True)


def _version(entry: Mapping[str, Any], *, deletion: bool) -> FileVersion:
    return FileVersion(
        version=entry["VersionId"],
        modified=entry["LastModified"],
        size=entry.get("Size", 0),
        etag=etag_of(entry.get("ETag", "")),
        current=entry["IsLatest"],
        deletion=deletion,
    )
