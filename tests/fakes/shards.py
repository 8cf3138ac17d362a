"""The files of lexical indexes in a dictionary, with the conditions on writes of the port."""

import hashlib
from collections.abc import Callable, Mapping
from threading import Lock

from archivolt.domain.errors import ConflictError
from archivolt.domain.vault import ETag, VaultRef
from archivolt.ports.retrieval import Shard


class InMemoryShards:
    """A `ShardStore` that lives as long as the test; it counts the files it handed out.

    `between` is called once between the next read and the write after it, as another writer would.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[VaultRef, str], Shard] = {}
        self.between: Callable[[], object] | None = None
        self.fetched = 0
        self._one_write = Lock()

    def etags(self, vault: VaultRef) -> Mapping[str, ETag]:
        return {name: shard.etag for (owner, name), shard in self._kept.items() if owner == vault}

    def get(self, vault: VaultRef, name: str) -> Shard | None:
        self.fetched += 1
        return self._kept.get((vault, name))

    def put(self, vault: VaultRef, name: str, data: bytes, *, replacing: Shard | None) -> None:
        meanwhile, self.between = self.between, None
        if meanwhile:
            meanwhile()
        with self._one_write:
            held = self._kept.get((vault, name))
            if (held and held.etag) != (replacing and replacing.etag):
                raise ConflictError("conflict")
            self._kept[vault, name] = Shard(data=data, etag=ETag(hashlib.sha256(data).hexdigest()))

    def remove(self, vault: VaultRef, name: str) -> None:
        self._kept.pop((vault, name), None)

    def drop(self, vault: VaultRef) -> None:
        for key in [key for key in self._kept if key[0] == vault]:
            del self._kept[key]
