"""The collections on disk: one shard of the embedded engine each, opened on first use.

The engine belongs to one process; an update of a collection runs alone, searches run side by side.
"""

import json
import re
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from archivolt_local.vectors import wire

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,255}")
_SHAPE = "collection.json"


class NoSuchCollectionError(Exception):
    """There is no collection of that name."""


class CollectionExistsError(Exception):
    """There is one already."""


class Collection:
    """One open collection."""

    def __init__(self, folder: Path) -> None:
        self.shape: Mapping[str, Any] = json.loads((folder / _SHAPE).read_text(encoding="utf-8"))
        self.shard = edge.EdgeShard.load(str(folder / "shard"))
        self._updating = threading.Lock()

    def update(self, operation: edge.UpdateOperation) -> None:
        """Apply one change."""
        with self._updating:
            self.shard.update(operation)

    def count(self, condition: edge.Filter | None = None) -> int:
        """Return the exact number of points that satisfy `condition`."""
        return self.shard.count(edge.CountRequest(exact=True, filter=condition))

    def payload_types(self) -> dict[str, str]:
        """Return the type of every payload index."""
        schema = self.shard.info().payload_schema
        return {
            name: str(index.data_type).rpartition(".")[2].lower() for name, index in schema.items()
        }


class Collections:
    """Every collection below one folder."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root
        self._open: dict[str, Collection] = {}
        self._changing = threading.RLock()

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(shape.parent.name for shape in self._root.glob(f"*/{_SHAPE}"))

    def exists(self, name: str) -> bool:
        """Tell whether there is such a collection."""
        return (self._folder(name) / _SHAPE).exists()

    def create(self, name: str, body: Mapping[str, Any]) -> None:
        """Create a collection; its shape is written last, so that half of one is none.

        Raises:
            CollectionExistsError: The name is taken.
            wire.BadRequestError: The body describes no collection.

        """
        with self._changing:
            if self.exists(name):
                raise CollectionExistsError
            config = wire.collection_config(body)
            folder = self._folder(name)
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "shard").mkdir(parents=True)
            edge.EdgeShard.create(str(folder / "shard"), config).close()
            (folder / _SHAPE).write_text(json.dumps(body), encoding="utf-8")

    def get(self, name: str) -> Collection:
        """Return an open collection.

        Raises:
            NoSuchCollectionError: It does not exist.

        """
        with self._changing:
            if name not in self._open:
                if not self.exists(name):
                    raise NoSuchCollectionError
                self._open[name] = Collection(self._folder(name))
            return self._open[name]

    def delete(self, name: str) -> bool:
        """Delete a collection; False when there was none."""
        with self._changing:
            existed = self.exists(name)
            opened = self._open.pop(name, None)
            if opened is not None:
                opened.shard.close()
            (self._folder(name) / _SHAPE).unlink(missing_ok=True)
            shutil.rmtree(self._folder(name), ignore_errors=True)
            return existed

    def close(self) -> None:
        """Write everything and let the files go."""
        with self._changing:
            for collection in self._open.values():
                collection.shard.close()
            self._open.clear()

    def _folder(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise wire.BadRequestError(f"collection name is not allowed: {name!r}")
        return self._root / name
