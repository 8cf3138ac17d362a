"""Empty directories: objects without content whose key ends in a slash."""

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.s3.objects import Bucket, object_key
from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef


def make_directory(bucket: Bucket, vault: VaultRef, path: VaultPath) -> None:
    """Make an empty directory; one that exists stays as it is."""
    exists = ConflictError("path_taken", path=path)
    known: dict[str, ArchivoltError] = dict.fromkeys(
        ("PreconditionFailed", "ConditionalRequestConflict"), exists
    )
    try:
        with translated(known):
            bucket.client.put_object(
                Bucket=bucket.name, Key=_marker(vault, path), Body=b"", IfNoneMatch="*"
            )
    except ConflictError:
        return


def remove_directory(bucket: Bucket, vault: VaultRef, path: VaultPath) -> None:
    """Remove what `make_directory` made; without it, leave no trace."""
    key = _marker(vault, path)
    try:
        with translated({"404": NotFoundError("directory_not_found", path=path)}):
            bucket.client.head_object(Bucket=bucket.name, Key=key)
    except NotFoundError:
        return
    with translated():
        bucket.client.delete_object(Bucket=bucket.name, Key=key)


def _marker(vault: VaultRef, path: VaultPath) -> str:
    return object_key(vault, f"{path}/")
