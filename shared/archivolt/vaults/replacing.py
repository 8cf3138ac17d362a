"""Finding and replacing in the files of a vault (O58).

The index tells which files may have the text; each is read fresh and written only as the version
that was confirmed. Secrets are out of reach: no pattern sees one, so that none can be spelled out,
and what would take a piece of one away is left as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from archivolt.domain.confirmation import Affected, Change, Confirmed, Preview
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from archivolt.domain.globs import path_globs
from archivolt.domain.language import Message
from archivolt.domain.limits import (
    MAX_DIFF_LINES,
    MAX_FILE_DIFF_LINES,
    MAX_INLINE_CONTENT_BYTES,
    MAX_LIST_LIMIT,
    MAX_REPLACED_BYTES,
    MAX_REPLACED_FILES,
    MAX_SHOWN_FILES,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.placeholders import first_placeholder
from archivolt.domain.secret_positions import uncovers
from archivolt.domain.vault import ETag, FileContent, FileInfo, VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import NoteIndex, ScanSort, TextScan
from archivolt.ports.patterns import Pattern, PatternCompiler
from archivolt.vaults.confirmed_writes import ConfirmedWrites
from archivolt.vaults.diffs import Diff, redacted_diff
from archivolt.vaults.files import require_writer
from archivolt.vaults.many_files import deadline_of, work_through
from archivolt.vaults.moved_notes import PathFilter, led_along
from archivolt.vaults.mutations import with_note
from archivolt.vaults.replaced_text import NewText, Replacing, new_text
from archivolt.vaults.replacing_summary import replacing_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedFile:
    """A file with replacements, and how it changes."""

    path: VaultPath
    etag: ETag
    occurrences: int
    size: int
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What is, or would be, replaced; `skipped` files have the text and stay, each for a reason."""

    files: Sequence[ReplacedFile]
    skipped: Sequence[Affected] = field(default_factory=list[Affected])

    @property
    def occurrences(self) -> int:
        """How many replacements there are."""
        return sum(file.occurrences for file in self.files)


class ReplacingService:
    """Replaces for a caller who may write; others get `ForbiddenError` `vault_read_only`."""

    def __init__(
        self,
        store: FileStore,
        notes: NoteIndex,
        catalogue: Catalogue,
        patterns: PatternCompiler,
        clock: Clock,
    ) -> None:
        self._writes = ConfirmedWrites(store)
        self._notes = notes
        self._catalogue = catalogue
        self._patterns = patterns
        self._clock = clock

    def preview(self, access: VaultAccess, asked: Replacing) -> Preview:
        """Return what `replace` would do; it raises what `dry_run` raises."""
        found = self.dry_run(access, asked)
        shown = found.files[:MAX_SHOWN_FILES]
        diff = _first_lines("".join(file.diff for file in found.files))
        return Preview(
            summary=with_note(_summary(asked, found), diff),
            diff=diff.text,
            affected=[
                *(Affected(path=file.path, change=Change.EDIT) for file in shown),
                *found.skipped[:MAX_SHOWN_FILES],
            ],
            affected_total=len(found.files) + len(found.skipped),
            pins={file.path: file.etag for file in found.files},
        )

    def dry_run(self, access: VaultAccess, asked: Replacing) -> Replaced:
        """Return what would be replaced, with a diff of each file, and change nothing.

        Raises:
            InvalidRequestError: `invalid_pattern`; `placeholder_unknown`: the replacement has one.
            TooLargeError: `too_many_files`.
            UnavailableError: The index cannot be read.

        """
        require_writer(access)
        deadline = deadline_of(self._clock)
        pattern = self._pattern(asked)
        paths = self._candidates(access.vault.ref, asked)
        outcomes = work_through(
            paths,
            lambda path: self._seen(access.vault.ref, path, pattern, asked),
            clock=self._clock,
            deadline=deadline,
        )
        if len(outcomes) < len(paths):
            raise TooLargeError("too_many_files", count=len(paths), limit=len(outcomes))
        found = _sorted_out(outcomes)
        _require_bytes(found.files)
        return found

    def replace(self, access: VaultAccess, asked: Replacing, confirmed: Confirmed) -> Replaced:
        """Replace in the files that were confirmed, as they were confirmed.

        Raises:
            InvalidRequestError: `invalid_pattern` or `placeholder_unknown`.
            UnavailableError: `operation_unfinished`, with `done` and `total`: call again to go on.

        """
        require_writer(access)
        pattern = self._pattern(asked)
        paths = [VaultPath(path) for path in sorted(confirmed.pins)]
        outcomes = work_through(
            paths,
            lambda path: self._written(access, path, pattern, asked, confirmed),
            clock=self._clock,
            deadline=deadline_of(self._clock),
        )
        if len(outcomes) < len(paths):
            raise UnavailableError("operation_unfinished", done=len(outcomes), total=len(paths))
        return _sorted_out(outcomes)

    def _pattern(self, asked: Replacing) -> Pattern:
        placeholder = first_placeholder(asked.replace)
        if placeholder is not None:
            raise InvalidRequestError("placeholder_unknown", placeholder=placeholder)
        pattern = self._patterns.compile(
            asked.find,
            regex=asked.regex,
            case_sensitive=asked.case_sensitive,
            whole_word=asked.whole_word,
        )
        list(pattern.replacements("", asked.replace))  # says now if it names an unknown group
        return pattern

    def _candidates(self, vault: VaultRef, asked: Replacing) -> list[VaultPath]:
        scan = TextScan(
            pattern=asked.find,
            regex=asked.regex,
            case_sensitive=asked.case_sensitive,
            whole_word=asked.whole_word,
            include_paths=path_globs(asked.include_paths),
            exclude_paths=path_globs(asked.exclude_paths),
            sort=ScanSort.PATH,
        )
        paths: list[VaultPath] = []
        while True:
            page = self._notes.scan([vault], scan, limit=MAX_LIST_LIMIT, offset=len(paths))
            paths += [hit.note.path for hit in page.hits]
            if len(paths) > MAX_REPLACED_FILES or not page.complete:
                raise TooLargeError("too_many_files", count=len(paths), limit=MAX_REPLACED_FILES)
            if not page.more:
                break
        led = led_along(self._catalogue, vault, paths)
        passing = PathFilter(self._patterns, scan.include_paths, scan.exclude_paths)
        return sorted(path for path in led if passing.passes(path))

    def _seen(
        self, vault: VaultRef, path: VaultPath, pattern: Pattern, asked: Replacing
    ) -> ReplacedFile | Affected | None:
        try:
            content = self._writes.read(vault, path)
        except NotFoundError:
            return None
        except TooLargeError:
            return _skipped(path, "too_large_to_change")
        new = new_text(content, pattern, asked)
        if new is not None and not new.occurrences:
            return None
        obstacle = _obstacle(new)
        if new is None or obstacle:
            return _skipped(path, obstacle)
        return ReplacedFile(
            path=path,
            etag=content.info.etag,
            occurrences=new.occurrences,
            size=content.info.size,
            diff=_diff(path, new).text,
        )

    def _written(
        self,
        access: VaultAccess,
        path: VaultPath,
        pattern: Pattern,
        asked: Replacing,
        confirmed: Confirmed,
    ) -> ReplacedFile | Affected | None:
        try:
            content = self._writes.pinned(access, path, confirmed)
            if not isinstance(content, FileContent):
                return self._done(access.vault.ref, content, pattern, asked, confirmed)
            new = new_text(content, pattern, asked)
            if new is None or not new.occurrences:
                return None
            info = self._writes.replace(access, content.info, new.data, confirmed)
        except (ConflictError, NotFoundError, TooLargeError):
            return _skipped(path, "changed_since")
        return _replaced(info, new.occurrences)

    def _done(
        self,
        vault: VaultRef,
        info: FileInfo,
        pattern: Pattern,
        asked: Replacing,
        confirmed: Confirmed,
    ) -> ReplacedFile:
        """Return what an earlier attempt did to a file."""
        before = self._writes.version_of(vault, info.path, confirmed.pins[info.path])
        new = new_text(before, pattern, asked) if before else None
        occurrences = new.occurrences if new else 0
        return _replaced(info, occurrences)


def _replaced(info: FileInfo, occurrences: int) -> ReplacedFile:
    return ReplacedFile(path=info.path, etag=info.etag, occurrences=occurrences, size=info.size)


def _require_bytes(files: Sequence[ReplacedFile]) -> None:
    """Check that a call gets through the files even when it has to read all of them again."""
    fitting = sum(total <= MAX_REPLACED_BYTES for total in accumulate(file.size for file in files))
    if fitting < len(files):
        raise TooLargeError("too_many_files", count=len(files), limit=fitting)


def _obstacle(new: NewText | None) -> str:
    """Return the reason why a file stays as it is; "" if there is none."""
    if new is None:
        return "not_a_text"
    if len(new.data) > MAX_INLINE_CONTENT_BYTES:
        return "too_large_to_change"
    return "secret_would_show" if uncovers(new.form.text, new.text) else ""


def _diff(path: VaultPath, new: NewText) -> Diff:
    return redacted_diff(
        new.form.text, new.text, old_name=path, new_name=path, max_lines=MAX_FILE_DIFF_LINES
    )


def _skipped(path: VaultPath, reason: str) -> Affected:
    return Affected(path=path, change=Change.SKIP, reason=reason)


def _sorted_out(outcomes: Sequence[ReplacedFile | Affected | None]) -> Replaced:
    return Replaced(
        files=[outcome for outcome in outcomes if isinstance(outcome, ReplacedFile)],
        skipped=[outcome for outcome in outcomes if isinstance(outcome, Affected)],
    )


def _summary(asked: Replacing, found: Replaced) -> Message:
    return replacing_summary(
        asked.find,
        asked.replace,
        occurrences=found.occurrences,
        files=len(found.files),
        skipped=len(found.skipped),
    )


def _first_lines(diff: str) -> Diff:
    lines = diff.split("\n")
    shown = lines[:MAX_DIFF_LINES]
    return Diff("\n".join(shown), len(shown), len(lines))
