"""Which documents of a list by words that by meaning could not have (decisions 97 and 98).

No model has read them yet, or one that did not answer; or one has, and their vectors are still on
their way into the collection of a member who joined the vault lately.
"""

from collections.abc import Iterable, Sequence, Set
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from archivolt.domain.limits import NEW_MEMBER_DAYS
from archivolt.domain.moves import Place
from archivolt.domain.vault import VaultAccess, VaultRef
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.current import CurrentPassages
from archivolt.retrieval.meaning import Nearest

_NEW: Final = timedelta(days=NEW_MEMBER_DAYS)


class Unread(NamedTuple):
    """Those documents, and the codes of what the reader should know of them."""

    documents: Set[Place] = frozenset()
    codes: Sequence[str] = ()


def joined_lately(accesses: Iterable[VaultAccess], *, now: datetime) -> frozenset[VaultRef]:
    """Return the vaults whose documents may not all be in the collection of this member."""
    return frozenset(
        access.vault.ref for access in accesses if access.since and now - access.since < _NEW
    )


def unread(
    by_words: Iterable[Candidate],
    dense: Iterable[Candidate],
    near: Nearest,
    current: CurrentPassages,
) -> Unread:
    """Return the documents of a list by words that the list by meaning could not have.

    Args:
        by_words: The list, as it was proposed.
        dense: What is shown of the list by meaning.
        near: What that was made of; without a model that answered there is no such list.
        current: What the catalogue says of both.

    """
    if not near.models:
        return Unread()
    found = {(each.vault, each.path) for each in dense}
    of_no_model = set[Place]()
    read: dict[Place, Candidate] = {}
    for each in by_words:
        placed, entry = current.placed(each), current.entry_of(each)
        if placed is None or entry is None or (placed.vault, placed.path) in found:
            continue
        if entry.embedder not in near.models:
            of_no_model.add((placed.vault, placed.path))
        elif entry.embedder != near.former_model:
            read.setdefault((placed.vault, placed.path), each)
    lacking = _places_of(near.lacking(list(read.values())), read) if read else set[Place]()
    return Unread(of_no_model | lacking, ["vectors_on_their_way"] if lacking else [])


def _places_of(passages: Sequence[Candidate], read: dict[Place, Candidate]) -> set[Place]:
    return {place for place, each in read.items() if each in passages}
