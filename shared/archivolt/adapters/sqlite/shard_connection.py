"""A connection to one state of a shard, for as long as that is open."""

import sqlite3


class ShardConnection(sqlite3.Connection):
    """Reads a shard that nobody changes: what was counted in it once stays true.

    `total` is how many passages there are and their terms altogether; None until that was counted.
    """

    total: tuple[int, int] | None = None
