"""The directories of a tree, the empty ones too."""

from collections.abc import Iterator

from archivolt.domain.limits import MAX_LIST_LIMIT
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import Listing, VaultRef
from archivolt.ports.files import FileStore


def directories_of(files: FileStore, vault: VaultRef, directory: VaultPath) -> list[VaultPath]:
    """Return a directory, if it is there, and all below it, each before those in it."""
    found: list[VaultPath] = []
    waiting = [directory]
    while waiting:
        current = waiting.pop()
        below: list[VaultPath] = []
        exists = False
        for page in pages(files, vault, current, recursive=False):
            below += page.directories
            exists = exists or page.exists
        found += [current] if exists else []
        waiting += below[::-1]
    return found


def pages(
    files: FileStore, vault: VaultRef, directory: VaultPath, *, recursive: bool
) -> Iterator[Listing]:
    """Yield what is in a directory, or anywhere below it, page by page in the order of paths."""
    after: str | None = None
    while True:
        page = files.list(vault, directory, recursive=recursive, limit=MAX_LIST_LIMIT, after=after)
        yield page
        after = page.next_after
        if after is None:
            return
