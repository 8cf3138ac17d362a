"""The versions of a file (O39, O40, O54): listing, comparing, restoring, deleted files included."""

from collections.abc import Sequence

from archivolt.domain.confirmation import Affected, Change, Confirmed, Preview
from archivolt.domain.errors import (
    ConflictError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.language import Message
from archivolt.domain.limits import (
    MAX_BACKUP_DIFF_LINES,
    MAX_DOCUMENT_BYTES,
    MAX_INLINE_CONTENT_BYTES,
)
from archivolt.domain.partial_reads import whole_etag
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo, FileVersion, VaultAccess, VaultRef, WriteMarks
from archivolt.ports.files import FileStore
from archivolt.vaults.confirmed_writes import NO_FILE, ConfirmedWrites, pin_of
from archivolt.vaults.content_types import content_type_of
from archivolt.vaults.diffs import Diff, redacted_diff
from archivolt.vaults.files import require_writer
from archivolt.vaults.mutations import with_note
from archivolt.vaults.places import Places
from archivolt.vaults.text_form import TextForm


class BackupService:
    """Reads old versions for members, and restores them for those who may write."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._writes = ConfirmedWrites(store)
        self._places = Places(store)

    def versions(self, access: VaultAccess, path: VaultPath) -> Sequence[FileVersion]:
        """Return every version of a file, deletions included, the newest first.

        Raises:
            NotFoundError: `file_not_found`: there never was one.

        """
        versions = self._store.versions(access.vault.ref, path)
        if not versions:
            raise NotFoundError("file_not_found", path=path)
        return versions

    def diff(
        self, access: VaultAccess, path: VaultPath, version: str, *, compare_with: str = ""
    ) -> Diff:
        """Return how a version became another one, by default the current one, without secrets.

        Raises:
            NotFoundError: `version_not_found`, or `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large`.

        """
        vault = access.vault.ref
        old, before = self._dated_text(vault, path, version)
        if compare_with:
            new, after = self._dated_text(vault, path, compare_with)
        else:
            new, after = self._current(vault, path)
        return redacted_diff(
            old, new, old_name=before, new_name=after, max_lines=MAX_BACKUP_DIFF_LINES
        )

    def preview_restore(
        self, access: VaultAccess, path: VaultPath, version: str, *, etag: str | None = None
    ) -> Preview:
        """Return what `restore` would do.

        Raises:
            NotFoundError: `version_not_found`.
            ConflictError: `conflict`: `etag` is given and not current; `path_taken`.
            TooLargeError: `file_too_large`.

        """
        require_writer(access)
        vault = access.vault.ref
        old = self._restorable(vault, path, version)
        current = self._writes.head(vault, path)
        if etag and (current is None or whole_etag(etag) != current.etag):
            raise self._writes.conflict_since(vault, path, whole_etag(etag))
        if current is None:
            self._places.require_free_for_file(vault, path)
        diff = self._restoring_diff(vault, path, old, current)
        day = f"{old.modified:%Y-%m-%d %H:%M}"
        summary = Message(
            f"Restore the file {path} as it was on {day} UTC.",
            f"Restaurer le fichier {path} tel qu'il était le {day} UTC.",
        )
        change = Change.EDIT if current else Change.CREATE
        return Preview(
            summary=with_note(summary, diff),
            diff=diff.text,
            affected=[Affected(path=path, change=change)],
            affected_total=1,
            pins=pin_of(current, path),
        )

    def restore(
        self, access: VaultAccess, path: VaultPath, version: str, confirmed: Confirmed
    ) -> FileInfo:
        """Make an old version's content the newest one, of a file that is deleted too.

        Raises:
            NotFoundError: `version_not_found`.
            TooLargeError: `file_too_large`.
            ConflictError: `conflict`, with `etag` and `diff`: the file is not as it was confirmed;
                `path_taken`: a directory has its name by now.

        """
        require_writer(access)
        vault = access.vault.ref
        old = self._restorable(vault, path, version)
        current = self._writes.head(vault, path)
        if confirmed.resumed or current is None or current.etag != confirmed.pins.get(path):
            own = self._writes.own_effect(vault, path, confirmed)
            if own is not None:
                return own
        if current is None:
            return self._bring_back(vault, old, version, confirmed)
        if current.etag != confirmed.pins.get(path):
            raise self._writes.conflict_since(vault, path, confirmed.pins.get(path, ""))
        return current if current.etag == old.etag else self._put(vault, old, current, confirmed)

    def _bring_back(
        self, vault: VaultRef, old: FileInfo, version: str, confirmed: Confirmed
    ) -> FileInfo:
        if confirmed.pins.get(old.path):
            raise ConflictError("conflict", etag="", diff="")
        self._places.require_free_for_file(vault, old.path)
        marks = WriteMarks(operation=confirmed.operation)
        try:
            return self._store.copy(
                vault, old.path, old.path, expected=old.etag, version=version, marks=marks
            )
        except ConflictError as error:
            own = self._writes.own_effect(vault, old.path, confirmed)
            if own is None:
                raise self._writes.conflict_since(vault, old.path, "") from error
            return own

    def _put(
        self, vault: VaultRef, old: FileInfo, current: FileInfo, confirmed: Confirmed
    ) -> FileInfo:
        content = self._store.read(vault, old.path, version=old.version)
        marks = WriteMarks(
            created=current.created,
            operation=confirmed.operation,
            moved_from=current.moved_from,
        )
        try:
            return self._store.replace(
                vault,
                old.path,
                content.data,
                expected=current.etag,
                content_type=content_type_of(old.path),
                marks=marks,
            )
        except ConflictError as error:
            raise self._writes.conflict_since(vault, old.path, current.etag) from error

    def _restorable(self, vault: VaultRef, path: VaultPath, version: str) -> FileInfo:
        old = self._store.head(vault, path, version=version)
        if old.size > MAX_DOCUMENT_BYTES:
            raise _too_large(path, old.size, MAX_DOCUMENT_BYTES)
        return old

    def _restoring_diff(
        self, vault: VaultRef, path: VaultPath, old: FileInfo, current: FileInfo | None
    ) -> Diff:
        """Return how the file would change; nothing where it is no text, or too long a one."""
        try:
            after = self._text(vault, path, old.version)
            before = self._text(vault, path, "") if current else ""
        except (UnsupportedContentError, TooLargeError):
            return Diff("", 0, 0)
        return redacted_diff(before, after, old_name=path if current else NO_FILE, new_name=path)

    def _current(self, vault: VaultRef, path: VaultPath) -> tuple[str, str]:
        try:
            return self._dated_text(vault, path, "")
        except NotFoundError:
            return "", NO_FILE

    def _text(self, vault: VaultRef, path: VaultPath, version: str) -> str:
        return self._dated_text(vault, path, version)[0]

    def _dated_text(self, vault: VaultRef, path: VaultPath, version: str) -> tuple[str, str]:
        """Return the text of a version, and its name in a diff: its path, a tab and its date.

        The id of a version would look like a secret beside a path such as `passwords.md`.
        """
        content = self._store.read(vault, path, version=version, max_bytes=MAX_INLINE_CONTENT_BYTES)
        if content.truncated:
            raise _too_large(path, content.info.size, MAX_INLINE_CONTENT_BYTES)
        form = TextForm.of(content.data)
        if form is None:
            raise UnsupportedContentError("file_not_text", path=path)
        return form.text, f"{path}\t{content.info.modified:%Y-%m-%d %H:%M:%S} UTC"


def _too_large(path: VaultPath, size: int, limit: int) -> TooLargeError:
    return TooLargeError("file_too_large", path=path, size=size, limit=limit)
