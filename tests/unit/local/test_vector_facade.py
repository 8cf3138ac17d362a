"""The façade answers as a Qdrant server does, over HTTP."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from archivolt_local.addresses import LOOPBACK
from archivolt_local.vectors.collections import Collections
from archivolt_local.vectors.server import VectorServer

KEY = "the-key"
POINTS = [
    {"id": 1, "vector": [1.0, 0.0], "payload": {"space_id": "a", "path": "x.md", "page": 1}},
    {"id": 2, "vector": [0.8, 0.6], "payload": {"space_id": "a", "path": "y.md", "page": 2}},
    {"id": 3, "vector": [0.0, 1.0], "payload": {"space_id": "b", "path": "x.md"}},
]


def only(key: str, value: object) -> dict[str, Any]:
    return {"must": [{"key": key, "match": {"value": value}}]}


class Facade:
    """A running façade, which can be restarted on the same folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.start()

    def start(self) -> None:
        self._collections = Collections(self._folder)
        self._server = VectorServer(0, self._collections, KEY)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        port = self._server.server_address[1]
        self.http = httpx2.Client(
            base_url=f"http://{LOOPBACK}:{port}", headers={"api-key": KEY}, trust_env=False
        )

    def stop(self) -> None:
        self.http.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._collections.close()

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        answer = self.http.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"] == "ok"
        return answer.json()["result"]

    def query(self, **body: object) -> list[int]:
        asked = {"query": [1.0, 0.0], "limit": 10, **body}
        found = self.call("POST", "/collections/c/points/query", asked)
        return [point["id"] for point in found["points"]]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Facade]:
    facade = Facade(tmp_path / "vectors")
    yield facade
    facade.stop()


@pytest.fixture
def facade(empty: Facade) -> Facade:
    empty.call("PUT", "/collections/c", {"vectors": {"size": 2, "distance": "Cosine"}})
    for field in ("space_id", "path"):
        empty.call("PUT", "/collections/c/index", {"field_name": field, "field_schema": "keyword"})
    empty.call("PUT", "/collections/c/points?wait=true", {"points": POINTS})
    return empty


def test_without_the_key_nothing_is_told(facade: Facade) -> None:
    for key in ("", "wrong"):
        answer = facade.http.get("/collections", headers={"api-key": key})
        assert answer.status_code == 401
        assert "result" not in answer.json()


def test_the_key_may_come_as_a_bearer_token(facade: Facade) -> None:
    headers = {"api-key": "", "Authorization": f"Bearer {KEY}"}
    assert facade.http.get("/collections", headers=headers).status_code == 200


def test_a_collection_is_there_once_it_was_created_and_not_after_it_was_deleted(
    facade: Facade,
) -> None:
    assert facade.call("GET", "/collections") == {"collections": [{"name": "c"}]}
    assert facade.call("GET", "/collections/c/exists") == {"exists": True}
    again = {"vectors": {"size": 2, "distance": "Cosine"}}
    assert facade.http.put("/collections/c", json=again).status_code == 409
    assert facade.call("DELETE", "/collections/c") is True
    assert facade.call("GET", "/collections/c/exists") == {"exists": False}
    assert facade.http.get("/collections/c").status_code == 404


def test_a_collection_tells_its_shape(facade: Facade) -> None:
    told = facade.call("GET", "/collections/c")
    assert told["points_count"] == 3
    assert told["config"]["params"]["vectors"] == {"size": 2, "distance": "Cosine"}
    assert told["payload_schema"]["space_id"]["data_type"] == "keyword"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/collections/none/points/query", {"query": [1.0, 0.0]}),
        ("PUT", "/collections/none/points", {"points": POINTS}),
        ("POST", "/collections/c/points/unknown", {}),
        ("GET", "/elsewhere", None),
    ],
)
def test_what_is_absent_is_404(facade: Facade, method: str, path: str, body: object) -> None:
    answer = facade.http.request(method, path, json=body)
    assert answer.status_code == 404
    assert answer.json()["status"]["error"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("query", {"query": [1.0, 0.0, 0.0]}),
        ("query", {"query": [1.0, 0.0], "filter": {"musst": []}}),
        ("query", {"query": [1.0, 0.0], "filter": {"must": [{"key": "p", "mach": {"value": 1}}]}}),
        ("query", {"query": [1.0, 0.0], "filter": {"must": [{"key": "p", "match": {"like": 1}}]}}),
        ("query", {"query": {"unknown": 1}}),
        ("delete", {}),
        ("delete", {"filter": {}}),
    ],
)
def test_a_filter_or_query_that_is_not_understood_is_refused_and_never_ignored(
    facade: Facade, path: str, body: object
) -> None:
    answer = facade.http.post(f"/collections/c/points/{path}", json=body)
    assert answer.status_code in {400, 500}
    assert facade.call("POST", "/collections/c/points/count", {"exact": True}) == {"count": 3}


def test_the_nearest_come_first_with_their_cosine(facade: Facade) -> None:
    found = facade.call(
        "POST", "/collections/c/points/query", {"query": [1.0, 0.0], "with_payload": True}
    )["points"]
    assert [point["id"] for point in found] == [1, 2, 3]
    assert [point["score"] for point in found] == pytest.approx([1.0, 0.8, 0.0])
    assert found[0]["payload"] == POINTS[0]["payload"]


def test_a_filter_and_a_threshold_narrow_the_search(facade: Facade) -> None:
    assert facade.query(filter=only("space_id", "b")) == [3]
    any_of = {"must": [{"key": "space_id", "match": {"any": ["a", "b"]}}]}
    assert facade.query(filter=any_of) == [1, 2, 3]
    assert facade.query(filter={"must_not": [{"key": "path", "match": {"value": "x.md"}}]}) == [2]
    assert facade.query(filter={"must": [{"key": "page", "range": {"gte": 2}}]}) == [2]
    assert facade.query(score_threshold=0.7) == [1, 2]
    assert facade.query(limit=1) == [1]


def test_prefetched_lists_are_fused(facade: Facade) -> None:
    lists = [
        {"query": [0.0, 1.0], "limit": 2},
        {"query": [1.0, 0.0], "limit": 1, "filter": only("space_id", "b")},
    ]
    assert facade.query(query={"fusion": "rrf"}, prefetch=lists) == [3, 2]


def test_points_are_read_by_id(facade: Facade) -> None:
    asked = {"ids": [3, 9], "with_payload": ["path"], "with_vector": True}
    (point,) = facade.call("POST", "/collections/c/points", asked)
    assert point["id"] == 3
    assert point["payload"] == {"path": "x.md"}
    assert point["vector"] == pytest.approx([0.0, 1.0])
    assert facade.call("GET", "/collections/c/points/1")["payload"] == POINTS[0]["payload"]
    assert facade.http.get("/collections/c/points/9").status_code == 404


def test_points_are_deleted_by_id_and_by_filter(facade: Facade) -> None:
    facade.call("POST", "/collections/c/points/delete", {"points": [1]})
    assert facade.query() == [2, 3]
    facade.call("POST", "/collections/c/points/delete", {"filter": only("space_id", "a")})
    assert facade.query() == [3]


def test_a_payload_is_changed_by_id_and_by_filter(facade: Facade) -> None:
    by_id = {"payload": {"path": "z.md"}, "points": [1]}
    facade.call("POST", "/collections/c/points/payload", by_id)
    by_filter = {"payload": {"path": "w.md"}, "filter": only("space_id", "b")}
    facade.call("POST", "/collections/c/points/payload", by_filter)
    assert facade.query(filter=only("path", "z.md")) == [1]
    assert facade.query(filter=only("path", "w.md")) == [3]


def test_scrolling_gives_every_point_once(facade: Facade) -> None:
    seen: list[int] = []
    offset: object = None
    while True:
        page = facade.call("POST", "/collections/c/points/scroll", {"limit": 2, "offset": offset})
        seen += [point["id"] for point in page["points"]]
        offset = page["next_page_offset"]
        if offset is None:
            break
    assert seen == [1, 2, 3]


def test_counting_honours_a_filter(facade: Facade) -> None:
    asked = {"filter": only("space_id", "a"), "exact": True}
    assert facade.call("POST", "/collections/c/points/count", asked) == {"count": 2}


def test_identifiers_may_be_uuids(facade: Facade) -> None:
    identifier = "6f3c1c0e-0f0e-4d7a-9a53-0c6d3c1f8b11"
    facade.call(
        "PUT", "/collections/c/points", {"points": [{"id": identifier, "vector": [1.0, 0.1]}]}
    )
    found = facade.call("POST", "/collections/c/points", {"ids": [identifier]})
    assert [point["id"] for point in found] == [identifier]


def test_everything_is_there_after_a_restart(facade: Facade) -> None:
    facade.stop()
    facade.start()
    assert facade.query(filter=only("space_id", "a")) == [1, 2]


def test_a_name_cannot_leave_the_folder(facade: Facade) -> None:
    for name in ("..%2Fc", "%2e%2e", "a%2Fb"):
        assert facade.http.get(f"/collections/{name}/exists").status_code in {400, 404}
