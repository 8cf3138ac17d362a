"""One search for passages over the shards of some vaults.

Each shard is asked once for its postings, and those that the best passages are in once more for
these.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TypeVar

from archivolt.adapters.sqlite import shard_file, shard_ranking
from archivolt.adapters.sqlite.shard_family import PASSAGES
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.adapters.sqlite.shard_ranking import Groups, Postings, Scorer, Statistics
from archivolt.adapters.sqlite.shard_reader import ShardSession
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate, Within

R = TypeVar("R", bound=tuple[int, *tuple[object, ...]])


class _Scored(NamedTuple):
    """A passage by its id in a shard, and its score."""

    score: float
    shard: PresentShard
    passage: int


def best_passages(
    session: ShardSession, groups: Groups, *, limit: int, prefix: str, within: Within | None = None
) -> list[Candidate]:
    """Return the best passages of all shards, best first."""
    by_shard = None if within is None else _by_shard(within)
    asked: list[tuple[PresentShard, Postings]] = []
    for shard in session.shards:
        only = None if by_shard is None else by_shard.get(shard[:2], ())
        ask = partial(shard_ranking.postings, groups=groups, prefix=prefix, only=only)
        asked.append((shard, session.ask(shard, ask, Postings())))
    overall = sum((postings.statistics for _, postings in asked), Statistics())
    best = _best_of_all(asked, Scorer(overall), limit)
    candidates = _candidates(session, _without_surplus(session, best, limit))
    candidates.sort(key=lambda c: (-c.score, c.vault.id, c.path, c.passage.number))
    return candidates[:limit]


def _by_shard(within: Within) -> Mapping[tuple[VaultRef, str], Sequence[VaultPath]]:
    paths: defaultdict[tuple[VaultRef, str], list[VaultPath]] = defaultdict(list)
    for vault, its_paths in within.items():
        for path in its_paths:
            paths[vault, PASSAGES.name_of(path)].append(path)
    return paths


def _best_of_all(
    asked: Sequence[tuple[PresentShard, Postings]], scorer: Scorer, limit: int
) -> list[_Scored]:
    """Return the passages that at most `limit` others surpass: more where scores are the same."""
    best: list[_Scored] = []
    highest: list[float] = []
    for shard, postings in asked:
        least = highest[-1] if len(highest) == limit else 0.0
        scores = scorer.scores(postings)
        found = [_Scored(score, shard, each) for each, score in scores.items() if score >= least]
        best += found
        highest = sorted([*highest, *(each.score for each in found)], reverse=True)[:limit]
    return [each for each in best if each.score >= highest[-1]]


def _without_surplus(session: ShardSession, best: Sequence[_Scored], limit: int) -> list[_Scored]:
    """Leave out, of those whose score is the lowest, the ones whose path comes too late."""
    if len(best) <= limit:
        return list(best)
    least = min(best, key=itemgetter(0)).score
    certain = [each for each in best if each.score > least]
    last = [each for each in best if each.score == least]
    places = _asked(session, last, shard_file.places_by_id)
    order = sorted(places, key=lambda item: (item[0].shard[0].id, *item[1][1:]))
    return certain + [scored for scored, _ in order[: limit - len(certain)]]


def _candidates(session: ShardSession, best: Sequence[_Scored]) -> list[Candidate]:
    return [
        Candidate(
            vault=scored.shard[0],
            path=VaultPath(path),
            generation=generation,
            passage=passage,
            score=scored.score,
        )
        for scored, (_, path, generation, passage) in _asked(session, best, shard_file.found_by_id)
    ]


def _asked(
    session: ShardSession,
    scored: Sequence[_Scored],
    question: Callable[..., Sequence[R]],
) -> list[tuple[_Scored, R]]:
    """Return the rows of these passages, each with its passage; a row begins with the id."""
    by_shard: dict[PresentShard, dict[int, _Scored]] = defaultdict(dict)
    for each in scored:
        by_shard[each.shard][each.passage] = each
    return [
        (of_shard[row[0]], row)
        for shard, of_shard in by_shard.items()
        for row in session.ask(shard, partial(question, ids=list(of_shard)), [])
    ]
