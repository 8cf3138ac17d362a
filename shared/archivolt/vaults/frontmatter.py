"""Changing the properties of a note without touching a byte of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from archivolt.domain.confirmation import Affected, Change, Confirmed, Preview
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.language import Message
from archivolt.domain.paths import VaultPath
from archivolt.domain.placeholders import first_placeholder
from archivolt.domain.vault import FileInfo, VaultAccess
from archivolt.ports.files import FileStore
from archivolt.vaults.confirmed_writes import ConfirmedWrites, pin_of, text_of
from archivolt.vaults.diffs import redacted_diff
from archivolt.vaults.files import require_writer
from archivolt.vaults.frontmatter_text import FrontMatter, PropertyValue
from archivolt.vaults.mutations import require_current, with_note


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChanges:
    """Properties to set and to remove, and tags to add, in this order."""

    set: Mapping[str, PropertyValue] = field(default_factory=dict[str, PropertyValue])
    remove: Sequence[str] = ()
    add_tags: Sequence[str] = ()


class FrontmatterService:
    """Changes properties for a caller who may write; others get `vault_read_only`."""

    def __init__(self, store: FileStore) -> None:
        self._writes = ConfirmedWrites(store)

    def preview(
        self,
        access: VaultAccess,
        path: VaultPath,
        changes: PropertyChanges,
        *,
        etag: str | None = None,
    ) -> Preview:
        """Return what `update` would do; it raises what `update` raises."""
        require_writer(access)
        current = self._writes.read(access.vault.ref, path)
        require_current(current, etag, wanted=None)
        old = text_of(current).text
        diff = redacted_diff(old, _changed(old, path, changes), old_name=path, new_name=path)
        summary = Message(f"Change properties of {path}.", f"Modifier des propriétés de {path}.")
        return Preview(
            summary=with_note(summary, diff),
            diff=diff.text,
            affected=[Affected(path=path, change=Change.EDIT)],
            affected_total=1,
            pins=pin_of(current.info, path),
        )

    def update(
        self, access: VaultAccess, path: VaultPath, changes: PropertyChanges, confirmed: Confirmed
    ) -> FileInfo:
        """Change properties of a note; every other byte stays.

        Raises:
            NotFoundError: `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large`.
            InvalidRequestError: `frontmatter_invalid`: the front matter is not valid YAML, or the
                change cannot be made without touching more; `placeholder_unknown`: a value has one.
            ConflictError: `conflict`, with `etag` and `diff`.

        """
        require_writer(access)
        current = self._writes.pinned(access, path, confirmed)
        if isinstance(current, FileInfo):
            return current
        form = text_of(current)
        data = form.written(_changed(form.text, path, changes), line_ends_as_given=True)
        if data == current.data:
            return current.info
        return self._writes.replace(access, current.info, data, confirmed)


def _changed(text: str, path: VaultPath, changes: PropertyChanges) -> str:
    placeholder = first_placeholder(str([changes.set, changes.add_tags]))
    if placeholder is not None:
        raise InvalidRequestError("placeholder_unknown", placeholder=placeholder)
    front_matter = FrontMatter(text, path)
    for name, value in changes.set.items():
        front_matter.set(name, value)
    for name in changes.remove:
        front_matter.remove(name)
    front_matter.add_tags(changes.add_tags)
    return front_matter.text
