"""Vectors: a user's collections, and the points of a vault in everybody's."""

import re
from collections.abc import Sequence
from typing import Any, Final

from archivolt.adapters.dynamodb.erasures import DynamoErasures, Planned
from archivolt.adapters.qdrant.rest import NoCollectionError, QdrantRest
from archivolt.adapters.qdrant.vectors import prefix_of
from archivolt.domain.erasure import Erasure, ErasureScope, Subject

# As `QdrantVectors.collection` names them: whose, and for which model.
_OURS: Final = re.compile(r"user_[0-9a-f]{32}_[0-9a-f]{8}")


class VectorsEraser:
    """An `Eraser` of the vector store, for the models of today and of before.

    A collection tells neither tenant nor user by its name: points of a vault are looked for in all
    of ours, as former members may have left some. One that has points of a tenant is one of its
    users', and goes with the tenant.
    """

    store = "vectors"

    def __init__(self, server: QdrantRest, records: DynamoErasures) -> None:
        self._server = server
        self._records = records

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Remove what belongs to the subject from one collection."""
        self._finish_planned(erasure)
        names = sorted(filter(_OURS.fullmatch, self._names()))
        # Those before the place were seen to; some of them are gone since.
        name = next((each for each in names if each > cursor), None)
        if name is not None:
            self._remove(erasure, name)
        return name

    def _names(self) -> list[str]:
        found: list[dict[str, Any]] = self._server.call("GET", "/collections")["collections"]
        return [each["name"] for each in found]

    def _remove(self, erasure: Erasure, name: str) -> None:
        whole = self._is_whole(erasure.subject, name)
        number = self._count(name, None if whole else erasure.subject.vaults)
        if number:
            self._records.plan(erasure, self.store, Planned(number, name))
            self._finish_planned(erasure)
        elif whole:
            self._drop(name, None)

    def _finish_planned(self, erasure: Erasure) -> None:
        planned = self._records.planned(erasure, self.store)
        if planned is None:
            return
        whole = self._is_whole(erasure.subject, planned.upto)
        self._drop(planned.upto, None if whole else erasure.subject.vaults)
        self._records.carried_out(erasure, self.store, planned)

    def _is_whole(self, subject: Subject, name: str) -> bool:
        """Tell whether a collection goes with all that is in it."""
        if subject.user is not None and name.startswith(prefix_of(subject.tenant, subject.user)):
            return True
        return subject.scope is ErasureScope.TENANT and self._count(name, subject.vaults) > 0

    def _count(self, name: str, vaults: Sequence[str] | None) -> int:
        if vaults is not None and not vaults:
            return 0
        asked = {**_filter(vaults), "exact": True}
        try:
            answer = self._server.call("POST", f"/collections/{name}/points/count", asked)
        except NoCollectionError:
            return 0
        return int(answer["count"])

    def _drop(self, name: str, vaults: Sequence[str] | None) -> None:
        try:
            if vaults is None:
                self._server.call("DELETE", f"/collections/{name}")
            else:
                path = f"/collections/{name}/points/delete?wait=true"
                self._server.call("POST", path, _filter(vaults))
        except NoCollectionError:
            return


def _filter(vaults: Sequence[str] | None) -> dict[str, Any]:
    if vaults is None:
        return {}
    return {"filter": {"must": [{"key": "space_id", "match": {"any": list(vaults)}}]}}
