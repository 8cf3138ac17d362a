"""The shards of lexical indexes as objects: `derived/{tenant}/{vault_id}/lexical/{name}`.

The bucket keeps versions, which derived data has no use for: the version that a writer replaced is
removed, so that neither the bucket grows with every change nor a text outlives its document. What
is left behind, the bucket's lifecycle rule for derived data removes.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.s3.objects import etag_of
from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError, UnavailableError
from archivolt.domain.vault import ETag, VaultRef
from archivolt.ports.retrieval import Shard

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

# Amazon S3 user guide, "Conditional writes": a condition that fails, one that meets another write
# in flight, and a condition on an object that is gone.
_CONDITION_FAILED: Final = ("PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey")


class S3Shards:
    """A `ShardStore` in one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def etags(self, vault: VaultRef) -> Mapping[str, ETag]:
        """Return the ETag of every file of a vault by its name, in one look."""
        root = _root(vault)
        with translated():
            page = self._client.list_objects_v2(Bucket=self._bucket, Prefix=root)
        return {
            entry.get("Key", "").removeprefix(root): etag_of(entry.get("ETag", ""))
            for entry in page.get("Contents", [])
        }

    def get(self, vault: VaultRef, name: str) -> Shard | None:
        """Return a file's present content, or None."""
        try:
            with translated({"NoSuchKey": NotFoundError("not_found")}):
                answer = self._client.get_object(Bucket=self._bucket, Key=_root(vault) + name)
                data = answer["Body"].read()
        except NotFoundError:
            return None
        version = answer.get("VersionId", "")
        return Shard(data=data, etag=etag_of(answer["ETag"]), version=version)

    def put(self, vault: VaultRef, name: str, data: bytes, *, replacing: Shard | None) -> None:
        """Write a file in place of the one that was read."""
        key = _root(vault) + name
        condition: dict[str, Any] = (
            {"IfMatch": f'"{replacing.etag}"'} if replacing else {"IfNoneMatch": "*"}
        )
        refused: dict[str, ArchivoltError] = dict.fromkeys(
            _CONDITION_FAILED, ConflictError("conflict")
        )
        with translated(refused):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=data, **condition)
        if replacing and replacing.version:
            # The new file is in place; the old version is the lifecycle rule's if this fails.
            with suppress(ClientError, UnavailableError), translated():
                self._client.delete_object(
                    Bucket=self._bucket, Key=key, VersionId=replacing.version
                )

    def remove(self, vault: VaultRef, name: str) -> None:
        """Remove a file; repeating is no error."""
        with translated():
            self._client.delete_object(Bucket=self._bucket, Key=_root(vault) + name)

    def drop(self, vault: VaultRef) -> None:
        """Remove every file of a vault; repeating is no error."""
        for name in self.etags(vault):
            self.remove(vault, name)


def _root(vault: VaultRef) -> str:
    return f"derived/{vault.tenant}/{vault.id}/lexical/"
