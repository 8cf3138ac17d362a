"""Creating, editing and extending files (O50 to O53): changes that lose nothing.

Each change has a preview, which checks all that the change will need and changes nothing, and the
change itself, bound to what the preview saw (`Confirmed.pins`). A change that is done already, by
an attempt that did not live to tell, is told again and not done twice.
"""

from contextlib import suppress

from archivolt.domain.code_check import code_language
from archivolt.domain.confirmation import Affected, Change, Confirmed, Preview
from archivolt.domain.errors import ConflictError, InvalidRequestError
from archivolt.domain.language import Message
from archivolt.domain.limits import MAX_APPEND_ATTEMPTS
from archivolt.domain.partial_reads import is_of_part, whole_etag
from archivolt.domain.paths import VaultPath
from archivolt.domain.placeholders import first_placeholder, restored
from archivolt.domain.redaction import redact
from archivolt.domain.vault import FileContent, FileInfo, VaultAccess
from archivolt.ports.files import FileStore
from archivolt.vaults.confirmed_writes import (
    NO_FILE,
    ConfirmedWrites,
    conflict_between,
    pin_of,
    require_size,
    text_of,
)
from archivolt.vaults.diffs import Diff, redacted_diff
from archivolt.vaults.files import require_writer
from archivolt.vaults.partial_edits import is_of_a_part
from archivolt.vaults.places import Places
from archivolt.vaults.text_form import TextForm, utf8


class MutationService:
    """Changes single files of a vault, for a caller who may write in it.

    Every method raises `ForbiddenError` `vault_read_only` for one who may not.
    """

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._writes = ConfirmedWrites(store)
        self._places = Places(store)

    def preview_create(self, access: VaultAccess, path: VaultPath, content: str) -> Preview:
        """Return what `create` would do; it raises what `create` raises."""
        require_writer(access)
        data = utf8(content)
        require_size(data)
        self._places.require_free_for_file(access.vault.ref, path)
        if self._writes.head(access.vault.ref, path):
            raise ConflictError("file_exists", path=path)
        diff = redacted_diff("", content, old_name=NO_FILE, new_name=path)
        summary = Message(f"Create the file {path}.", f"Créer le fichier {path}.")
        return _preview(summary, diff, Affected(path=path, change=Change.CREATE), None, data)

    def create(
        self, access: VaultAccess, path: VaultPath, content: str, confirmed: Confirmed
    ) -> FileInfo:
        """Write a new text file, in UTF-8.

        Raises:
            TooLargeError: `content_too_large`.
            InvalidRequestError: `invalid_request`: the content is not Unicode.
            ConflictError: `file_exists`; or `path_taken`: a directory has that name, or a file has
                the name of one of its directories.

        """
        require_writer(access)
        data = utf8(content)
        require_size(data)
        if confirmed.resumed:
            # It may be done, and undone since: somebody may have deleted the file on purpose.
            own = self._writes.own_effect(access.vault.ref, path, confirmed)
            if own is not None:
                return own
        self._places.require_free_for_file(access.vault.ref, path)
        return self._writes.create(access.vault.ref, path, data, confirmed)

    def preview_directory(self, access: VaultAccess, path: VaultPath) -> Preview:
        """Return what `create_directory` would do.

        Raises:
            ConflictError: `directory_exists`, or `path_taken`.

        """
        require_writer(access)
        self._places.require_free_for_directory(access.vault.ref, path)
        if self._places.is_directory(access.vault.ref, path):
            raise ConflictError("directory_exists", path=path)
        summary = Message(f"Create the directory {path}.", f"Créer le dossier {path}.")
        affected = Affected(path=f"{path}/", change=Change.CREATE)
        return Preview(summary=summary, affected=[affected], affected_total=1)

    def create_directory(self, access: VaultAccess, path: VaultPath) -> None:
        """Make an empty directory; one that exists stays as it is.

        Raises:
            ConflictError: `path_taken`: a file has that name, or that of a directory above it.

        """
        require_writer(access)
        self._places.require_free_for_directory(access.vault.ref, path)
        self._store.make_directory(access.vault.ref, path)

    def preview_edit(
        self, access: VaultAccess, path: VaultPath, content: str, *, etag: str | None = None
    ) -> Preview:
        """Return what `edit` would make of the file.

        Raises:
            ConflictError: `conflict`: `etag` is given and not current.
            InvalidRequestError: `edit_of_partial_read`: the content lacks a part of the file that
                its author did not see, or `etag` came with a part.

        """
        require_writer(access)
        current = self._writes.read(access.vault.ref, path)
        require_current(current, etag, wanted=content)
        form = text_of(current)
        shown = redact(form.text).text if first_placeholder(content) else form.text
        if etag is None and is_of_a_part(content, shown):
            raise InvalidRequestError("edit_of_partial_read", path=path)
        data = _edited(form, content)
        require_size(data)
        diff = redacted_diff(form.text, content, old_name=path, new_name=path)
        summary = Message(f"Change the file {path}.", f"Modifier le fichier {path}.")
        if not diff.text:
            summary = _unseen(summary, changed=data != current.data)
        affected = Affected(path=path, change=Change.EDIT)
        return _preview(summary, diff, affected, current.info, data)

    def edit(
        self, access: VaultAccess, path: VaultPath, content: str, confirmed: Confirmed
    ) -> FileInfo:
        """Replace the text of a file; its form stays, and secrets the content only names.

        Raises:
            NotFoundError: `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large` or `content_too_large`.
            InvalidRequestError: `edit_of_partial_read`: the pinned ETag came with a part of the
                file; `placeholder_unknown`; `invalid_request`: the content is not Unicode.
            ConflictError: `conflict`, with `etag` and `diff`.

        """
        require_writer(access)
        if is_of_part(confirmed.pins.get(path, "")):
            raise InvalidRequestError("edit_of_partial_read", path=path)
        current = self._writes.pinned(access, path, confirmed, wanted=content)
        if isinstance(current, FileInfo):
            return current
        data = _edited(text_of(current), content)
        if data == current.data:
            return current.info
        return self._writes.replace(access, current.info, data, confirmed)

    def preview_append(
        self, access: VaultAccess, path: VaultPath, content: str, *, etag: str | None = None
    ) -> Preview:
        """Return what `append` would make of the file; it raises what `append` raises."""
        require_writer(access)
        current = self._writes.read(access.vault.ref, path)
        require_current(current, etag, wanted=None)
        data = _extended(current, content)
        require_size(data)
        before, after = text_of(current).text, TextForm.of(data)
        diff = redacted_diff(before, after.text if after else before, old_name=path, new_name=path)
        summary = Message(f"Add to the file {path}.", f"Compléter le fichier {path}.")
        affected = Affected(path=path, change=Change.EDIT)
        return _preview(summary, diff, affected, current.info, data)

    def append(
        self, access: VaultAccess, path: VaultPath, content: str, confirmed: Confirmed
    ) -> FileInfo:
        """Add text on a line of its own at the end of a file, whatever the file is by now.

        Raises:
            NotFoundError: `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large` or `content_too_large`.
            InvalidRequestError: `placeholder_unknown`; `invalid_request`: not Unicode.
            ConflictError: `conflict`: others write to the file all the time.

        """
        require_writer(access)
        for _ in range(MAX_APPEND_ATTEMPTS - 1):
            with suppress(ConflictError):
                return self._append(access, path, content, confirmed)
        return self._append(access, path, content, confirmed)

    def _append(
        self, access: VaultAccess, path: VaultPath, content: str, confirmed: Confirmed
    ) -> FileInfo:
        done = self._appended(access, path, confirmed)
        if done is not None:
            return done
        current = self._writes.read(access.vault.ref, path)
        return self._writes.replace(access, current.info, _extended(current, content), confirmed)

    def _appended(
        self, access: VaultAccess, path: VaultPath, confirmed: Confirmed
    ) -> FileInfo | None:
        """Return the version that an earlier attempt wrote, if it did."""
        info = self._writes.head(access.vault.ref, path)
        is_pinned = info is not None and info.etag == confirmed.pins.get(path)
        if is_pinned and not confirmed.resumed:
            return None
        return self._writes.own_effect(access.vault.ref, path, confirmed)


def require_current(current: FileContent, etag: str | None, *, wanted: str | None) -> None:
    """Check an ETag that a caller gave, if they did; one of a part will do where nothing is cut.

    Raises:
        InvalidRequestError: `edit_of_partial_read`: a text is wanted and it came with a part.
        ConflictError: `conflict`, with `etag` and `diff`.

    """
    if not etag:
        return
    if wanted is not None and is_of_part(etag):
        raise InvalidRequestError("edit_of_partial_read", path=current.info.path)
    if whole_etag(etag) != current.info.etag:
        raise conflict_between(current, wanted)


def _edited(form: TextForm, content: str) -> bytes:
    utf8(content)
    return form.written(restored(content, form.text))


def _extended(current: FileContent, content: str) -> bytes:
    """Return the file with the content at its end, the secrets it names in place."""
    form = text_of(current)
    utf8(content)
    placeholder = first_placeholder(content)
    if placeholder is not None:
        shown = redact(form.text).text
        before = f"{form.text}\n"
        whole = restored(f"{shown}\n{content}", form.text)
        if not whole.startswith(before):
            raise InvalidRequestError("placeholder_unknown", placeholder=placeholder)
        content = whole.removeprefix(before)
    return form.appended(content)


def _unseen(summary: Message, *, changed: bool) -> Message:
    """Return a summary that says why the diff is empty."""
    if changed:
        return Message(
            f"{summary.en} Only secrets, which are not shown, or line ends change.",
            f"{summary.fr} Seuls changent des secrets, qui ne sont pas montrés, ou des fins de "
            "ligne.",
        )
    return Message(f"{summary.en} Nothing changes.", f"{summary.fr} Rien ne change.")


def _preview(
    summary: Message, diff: Diff, affected: Affected, current: FileInfo | None, data: bytes
) -> Preview:
    code = TextForm.of(data) if code_language(affected.path) else None
    return Preview(
        summary=with_note(summary, diff),
        diff=diff.text,
        affected=[affected],
        affected_total=1,
        pins=pin_of(current, VaultPath(affected.path)),
        contents={affected.path: code.text} if code else {},
    )


def with_note(summary: Message, diff: Diff) -> Message:
    """Return a summary that says when the diff does not show all."""
    if not diff.is_cut:
        return summary
    return Message(
        f"{summary.en} The diff shows {diff.shown} of {diff.total} lines.",
        f"{summary.fr} Le diff montre {diff.shown} lignes sur {diff.total}.",
    )
