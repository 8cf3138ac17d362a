"""Which names are free in a vault: no name is both a file and a directory."""

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath, parents_of
from archivolt.domain.vault import VaultRef
from archivolt.ports.files import FileStore


class Places:
    """Looks up what stands at a path."""

    def __init__(self, store: FileStore) -> None:
        self._store = store

    def is_file(self, vault: VaultRef, path: VaultPath) -> bool:
        """Tell whether a file has this path."""
        try:
            self._store.head(vault, path)
        except NotFoundError:
            return False
        return True

    def is_directory(self, vault: VaultRef, path: VaultPath) -> bool:
        """Tell whether a directory has this path, empty or not; the root always is one."""
        return self._store.list(vault, path, recursive=False, limit=1).exists

    def require_free_for_file(self, vault: VaultRef, path: VaultPath) -> None:
        """Check that a file may be made here; whether there is one is the store's to say.

        Raises:
            ConflictError: `path_taken`: a directory has that name, or a file has the name of one
                of its directories.

        """
        if self.is_directory(vault, path):
            raise ConflictError("path_taken", path=path)
        self._require_directories(vault, path)

    def require_free_for_directory(self, vault: VaultRef, path: VaultPath) -> None:
        """Check that a directory may be here; whether there is one does not matter.

        Raises:
            ConflictError: `path_taken`: a file has that name, or that of a directory above it.

        """
        if self.is_file(vault, path):
            raise ConflictError("path_taken", path=path)
        self._require_directories(vault, path)

    def _require_directories(self, vault: VaultRef, path: VaultPath) -> None:
        for parent in parents_of(path):
            if self.is_file(vault, parent):
                raise ConflictError("path_taken", path=parent)
