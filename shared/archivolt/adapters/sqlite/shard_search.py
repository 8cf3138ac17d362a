"""One search over the shards of some vaults: each is taken once and asked three times."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Final, TypeVar

from archivolt.adapters.sqlite import shard_file, shard_ranking
from archivolt.adapters.sqlite.shard_pool import PresentShard, ShardPool
from archivolt.adapters.sqlite.shard_ranking import Groups, Ranked, Statistics
from archivolt.domain.paths import VaultPath
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import Candidate

# A function may have 1,024 files open; shards beyond these are opened for each question anew.
_MAX_TAKEN: Final = 400

R = TypeVar("R")


class ShardSearch:
    """Use as a context: its end gives the shards back."""

    def __init__(self, pool: ShardPool, shards: Sequence[PresentShard]) -> None:
        self._pool = pool
        self._shards = shards
        self._taken: dict[PresentShard, sqlite3.Connection] = {}

    def __enter__(self) -> "ShardSearch":
        return self

    def __exit__(self, *error: object) -> None:
        for shard, connection in self._taken.items():
            self._pool.give_back(shard, connection)

    def best(self, groups: Groups, *, limit: int, prefix: str) -> list[Candidate]:
        """Return the best passages of all shards, best first."""
        count = partial(shard_ranking.statistics, groups=groups)
        overall = sum((self._ask(s, count, Statistics()) for s in self._shards), Statistics())
        rank = partial(
            shard_ranking.best, groups=groups, overall=overall, limit=limit, prefix=prefix
        )
        ranked = [(hit, shard) for shard in self._shards for hit in self._ask(shard, rank, [])]
        ranked.sort(key=lambda item: (-item[0][0], item[1][0].id, *item[0][1:3]))
        return self._candidates(ranked[:limit])

    def _candidates(self, ranked: Sequence[tuple[Ranked, PresentShard]]) -> list[Candidate]:
        ids: dict[PresentShard, list[int]] = defaultdict(list)
        for hit, shard in ranked:
            ids[shard].append(hit[3])
        texts = {
            shard: self._ask(shard, partial(shard_file.passages_by_id, ids=wanted), {})
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
            for (score, path, _, passage), shard in ranked
            if passage in texts[shard]
        ]

    def _ask(
        self, shard: PresentShard, question: Callable[[sqlite3.Connection], R], nothing: R
    ) -> R:
        """Return a shard's answer, or `nothing` where it is gone or damaged."""
        try:
            if shard in self._taken:
                return question(self._taken[shard])
            connection = self._pool.take(shard)
            if connection is None:
                return nothing
            if len(self._taken) < _MAX_TAKEN:
                self._taken[shard] = connection
                return question(connection)
            with closing(connection):
                return question(connection)
        except sqlite3.DatabaseError as error:
            logger.warning("a damaged shard is left out of a search", extra=failure(error))
            return nothing
