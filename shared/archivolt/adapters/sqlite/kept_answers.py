"""The last answers to questions about whole vaults, for as long as their shards stay the same."""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import Lock
from typing import Any, Final, TypeVar, cast

from archivolt.adapters.sqlite.shard_reader import ShardSession

_MAX_KEPT: Final = 8

R = TypeVar("R")
T = TypeVar("T")


class KeptAnswers:
    """Asks every shard of a session, or gives the answer again that the same shards gave."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def merged(
        self,
        session: ShardSession,
        question: Callable[[sqlite3.Connection], Sequence[R]],
        merge: Callable[[Iterable[R]], T],
    ) -> T:
        """Return what `merge` makes of the rows of all shards; it must not be changed.

        What a shard that could not be read leaves incomplete is not kept.
        """
        key = (question, *session.shards)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
        answers = [session.ask(shard, question, None) for shard in session.shards]
        merged = merge(row for answer in answers if answer for row in answer)
        if None not in answers:
            self._keep(key, merged)
        return merged

    def _keep(self, key: Hashable, answer: object) -> None:
        with self._lock:
            self._kept[key] = answer
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
