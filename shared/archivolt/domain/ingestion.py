"""What happens to a document between its change in S3 and its being found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType

from archivolt.domain.embedding_key import KEY_TROUBLES
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRef

Sequencer = NewType("Sequencer", str)
Generation = NewType("Generation", str)

_SEQUENCER_WIDTH = 40
_INSTANT_WIDTH = 16
_WITHDRAWN = "withdrawn"


def sequencer(raw: str) -> Sequencer:
    """Return S3's sequencer in a form whose string order is the order of changes of one key.

    S3 says: pad the shorter one with zeros on the right, then compare as strings (Amazon S3 user
    guide, "Event message structure").
    """
    return Sequencer(raw.upper().ljust(_SEQUENCER_WIDTH, "0"))


def next_generation(now: datetime, *, sha256: str, previous: Generation | None) -> Generation:
    """Return the name of what is read from the store at `now`; string order is the order of reads.

    A clock that lags behind the one that named `previous` still gives a later name. Equal content
    read at the same instant has the same name.
    """
    instant = int(now.timestamp()) * 1_000_000 + now.microsecond
    if previous:
        instant = max(instant, generation_instant(previous) + 1)
    return Generation(f"{instant:0{_INSTANT_WIDTH}d}-{sha256[:8]}")


def generation_instant(generation: Generation) -> int:
    """Return the instant a generation is ordered by, in microseconds since 1970."""
    return int(generation.partition("-")[0])


def is_of_content(generation: Generation, sha256: str) -> bool:
    """Tell whether a generation was read of this content; its name holds the first of the hash."""
    return generation.partition("-")[2] == sha256[:8]


class ChangeKind(StrEnum):
    """What happened to an object."""

    CREATED = "created"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectChange:
    """One change of one document, as S3 announced it or a reconciliation found it.

    `sequencer` is None when a reconciliation found the change: then the store itself is asked for
    the present state. `version` and `etag` may be empty; `size` is in bytes, None if not announced.
    `anew` has what the index holds of it made again, equal content or not; nobody waits for that.
    """

    kind: ChangeKind
    vault: VaultRef
    path: VaultPath
    sequencer: Sequencer | None
    version: str = ""
    etag: str = ""
    size: int | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayChange:
    """A change of what is no document, under a tenant's keys; `vault` is None if none is named."""

    tenant: TenantId
    vault: VaultRef | None


class IndexState(StrEnum):
    """Where a document stands; everything but the first two is final until it changes."""

    PENDING = "pending"
    """Lexically searchable, its vectors are on their way."""
    INDEXED = "indexed"
    NO_TEXT = "no_text"
    OCR_NEEDED = "ocr_needed"
    """A scan or an image that nothing here reads; it is read once there is something."""
    UNSUPPORTED = "unsupported"
    TOO_BIG = "too_big"
    FAILED = "failed"
    DELETED = "deleted"
    """A tombstone: keeps the sequencer so that a late event cannot bring the document back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document that fits the embedding model's budget.

    `text` is what is shown and embedded (without the heading path), `headings` the path of titles
    it stands under, `page` counts from 1 (None where pages have no meaning), `line` is the first
    line in the extracted text, counted from 1.
    """

    number: int
    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """What the index knows of one document.

    `generation` names the passages that are current: a search shows no others (decision 18).
    `sha256` is of the content, hex; equal content means no work (R12). `reason` is a stable code
    that explains a state other than `indexed`, or what an indexed document still lacks. `embedder`
    is the id of the model whose vectors are current, empty until they are. `recipe` names what made
    the passages (extractor, splitter, text analysis): passages of another recipe are made anew.

    `moved_to` is the path that a move carries, or carried, the document to; `moved_over` names the
    entry that stood there before, and `served` the generation that was current here when it went
    (empty while it has not); see `archivolt.domain.moves`. `moved_from` is where it came from.

    `alike_since` is the first of the generations, up to this one, that have the same passages, and
    empty if there is no other: the vectors of any stand for all of them.
    """

    vault: VaultRef
    path: VaultPath
    state: IndexState
    updated_at: datetime
    sequencer: Sequencer | None = None
    reason: str = ""
    generation: Generation = Generation("")
    sha256: str = ""
    etag: str = ""
    version: str = ""
    size: int = 0
    passages: int = 0
    title: str = ""
    embedder: str = ""
    recipe: str = ""
    tags: tuple[str, ...] = ()
    moved_to: VaultPath = ROOT
    moved_over: Generation = Generation("")
    served: Generation = Generation("")
    moved_from: VaultPath = ROOT
    alike_since: Generation = Generation("")

    def has_tag(self, wanted: str) -> bool:
        """Tell whether the document has a tag or one below it (`project/alpha` is a `project`)."""
        name = wanted.strip().strip("#/").casefold()
        return any(tag == name or tag.startswith(f"{name}/") for tag in self.tags)


def read_again(entry: CatalogueEntry, stored: CatalogueEntry | None) -> CatalogueEntry:
    """Return an entry that knows which vectors stand for it, if only its generation is new."""
    if stored is None or not entry.passages:
        return entry
    # The tombstone of what moved away tells what it was, but for the number of passages.
    gone = stored.state is IndexState.DELETED
    lacks = not gone and stored.reason and stored.reason not in KEY_TROUBLES
    if entry.reason or lacks:
        # Of what was read in part, more may be read each time.
        return entry
    passages = entry.passages if gone else stored.passages
    before = stored.sha256, stored.recipe, passages
    if (entry.sha256, entry.recipe, entry.passages) != before:
        return entry
    since = stored.alike_since or (stored.served if gone else stored.generation)
    return replace(entry, alike_since=since, embedder=stored.embedder)


def is_alike(entry: CatalogueEntry, generation: Generation) -> bool:
    """Tell whether an earlier generation of a document has the same passages as its present one."""
    return bool(entry.alike_since) and entry.alike_since <= generation < entry.generation


def withdrawn(
    vault: VaultRef, path: VaultPath, stored: CatalogueEntry | None, *, now: datetime
) -> CatalogueEntry:
    """Return the tombstone of a document whose deletion was acknowledged before its event came."""
    return CatalogueEntry(
        vault=vault,
        path=path,
        state=IndexState.DELETED,
        updated_at=now,
        reason=_WITHDRAWN,
        generation=next_generation(now, sha256="", previous=stored and stored.generation),
        moved_from=stored.moved_from if stored else ROOT,
    )


def leaves_work(entry: CatalogueEntry | None) -> bool:
    """Tell whether the index may hold more of a document that is gone than its tombstone."""
    if entry is None:
        return False
    return entry.state is not IndexState.DELETED or entry.reason == _WITHDRAWN


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingJob:
    """Work for the embedding function: bring the vectors of one document to one generation.

    `users` narrows it to the collections of these members; empty means every member. A job whose
    `path` is the root stands for the whole vault (see `membership_job`).
    """

    vault: VaultRef
    path: VaultPath
    generation: Generation
    bulk: bool = False
    users: tuple[UserId, ...] = ()


def membership_job(vault: VaultRef, user: UserId) -> EmbeddingJob:
    """Return the work that follows when `user` joins or leaves a vault.

    The present membership decides what is done (fill or empty the user's collection), so that
    repeated and reordered jobs end in the right state.
    """
    return EmbeddingJob(vault=vault, path=ROOT, generation=Generation(""), bulk=True, users=(user,))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOutcome:
    """Which messages of a batch have to be delivered again."""

    failed: Sequence[str] = ()
