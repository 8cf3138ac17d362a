"""One search for passages over the shards of some vaults: each is asked three times."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest

from archivolt.adapters.sqlite import shard_file, shard_ranking
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.adapters.sqlite.shard_ranking import Groups, Ranked, Statistics
from archivolt.adapters.sqlite.shard_reader import ShardSession
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import Candidate


def best_passages(
    session: ShardSession, groups: Groups, *, limit: int, prefix: str
) -> list[Candidate]:
    """Return the best passages of all shards, best first."""
    count = partial(shard_ranking.statistics, groups=groups)
    counted = (session.ask(shard, count, Statistics()) for shard in session.shards)
    rank = partial(
        shard_ranking.best,
        groups=groups,
        overall=sum(counted, Statistics()),
        limit=limit,
        prefix=prefix,
    )
    ranked = _best_of_all(session, rank, limit)
    ranked.sort(key=lambda item: (-item[1][0], item[0][0].id, *item[1][1:3]))
    return _candidates(session, ranked[:limit])


def _best_of_all(
    session: ShardSession, rank: Callable[..., list[Ranked]], limit: int
) -> list[tuple[PresentShard, Ranked]]:
    """Return what the shards rank; the best among it are the best of all.

    A shard is asked for nothing that as many as are wanted surpass in those before it.
    """
    ranked: list[tuple[PresentShard, Ranked]] = []
    highest: list[float] = []
    for shard in session.shards:
        least = highest[-1] if len(highest) == limit else 0.0
        rows = session.ask(shard, partial(rank, least=least), [])
        ranked += [(shard, row) for row in rows]
        if rows:
            highest = nlargest(limit, [*highest, *(row[0] for row in rows)])
    return ranked


def _candidates(
    session: ShardSession, ranked: Sequence[tuple[PresentShard, Ranked]]
) -> list[Candidate]:
    ids: dict[PresentShard, list[int]] = defaultdict(list)
    for shard, hit in ranked:
        ids[shard].append(hit[3])
    texts = {
        shard: session.ask(shard, partial(shard_file.passages_by_id, ids=wanted), {})
        for shard, wanted in ids.items()
    }
    return [
        Candidate(
            vault=shard[0],
            path=VaultPath(path),
            generation=texts[shard][passage][0],
            passage=texts[shard][passage][1],
            score=score,
        )
        for shard, (score, path, _, passage) in ranked
        if passage in texts[shard]
    ]
