"""What each address of Qdrant's REST API does: functions from a request to a result."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import qdrant_edge as edge

from archivolt_local.json_values import JsonObject, JsonValue
from archivolt_local.vectors import wire
from archivolt_local.vectors.collections import Collection, Collections

_DONE = {"operation_id": 0, "status": "completed"}


class Request(NamedTuple):
    """One call: the collection's name, what else the path names, and the body."""

    collection: str
    point: str
    body: JsonObject


Operation = Callable[[Collections, Request], JsonValue]


def list_collections(collections: Collections, _: Request) -> JsonValue:
    """GET /collections."""
    return {"collections": [{"name": name} for name in collections.names()]}


def collection_exists(collections: Collections, request: Request) -> JsonValue:
    """GET /collections/{name}/exists."""
    return {"exists": collections.exists(request.collection)}


def create_collection(collections: Collections, request: Request) -> JsonValue:
    """PUT /collections/{name}."""
    collections.create(request.collection, request.body)
    return True


def delete_collection(collections: Collections, request: Request) -> JsonValue:
    """DELETE /collections/{name}."""
    return collections.delete(request.collection)


def describe_collection(collections: Collections, request: Request) -> JsonValue:
    """GET /collections/{name}."""
    collection = collections.get(request.collection)
    params = {
        "vectors": collection.shape.get("vectors"),
        "sparse_vectors": collection.shape.get("sparse_vectors"),
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": collection.count(),
        "segments_count": 1,
        "config": {"params": {name: value for name, value in params.items() if value}},
        "payload_schema": {
            name: {"data_type": kind} for name, kind in collection.payload_types().items()
        },
    }


def create_index(collections: Collections, request: Request) -> JsonValue:
    """PUT /collections/{name}/index."""
    schema = wire.index_schema(request.body["field_schema"])
    operation = edge.UpdateOperation.create_field_index(request.body["field_name"], schema)
    collections.get(request.collection).update(operation)
    return _DONE


def upsert_points(collections: Collections, request: Request) -> JsonValue:
    """PUT /collections/{name}/points."""
    points = [wire.point(body) for body in request.body["points"]]
    collections.get(request.collection).update(edge.UpdateOperation.upsert_points(points))
    return _DONE


def retrieve_points(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points."""
    found = _retrieve(collections.get(request.collection), request.body["ids"], request.body)
    return [_record(item) for item in found]


def retrieve_point(collections: Collections, request: Request) -> JsonValue:
    """GET /collections/{name}/points/{id}."""
    identifier = int(request.point) if request.point.isdigit() else request.point
    found = _retrieve(collections.get(request.collection), [identifier], {"with_vector": True})
    if not found:
        raise LookupError(f"Not found: Point with id {request.point} does not exists!")
    return _record(found[0])


def _retrieve(collection: Collection, ids: list[Any], body: JsonObject) -> list[edge.Record]:
    return collection.shard.retrieve(
        ids,
        with_payload=wire.payload_selector(body.get("with_payload", True)),
        with_vector=body.get("with_vector", False),
    )


def delete_points(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/delete, by ids or by filter."""
    if "points" in request.body:
        operation = edge.UpdateOperation.delete_points(request.body["points"])
    else:
        operation = edge.UpdateOperation.delete_points_by_filter(_required_filter(request.body))
    collections.get(request.collection).update(operation)
    return _DONE


def set_payload(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/payload, by ids or by filter."""
    payload = dict(request.body["payload"])
    if request.body.get("points"):
        operation = edge.UpdateOperation.set_payload(request.body["points"], payload)
    else:
        condition = _required_filter(request.body)
        operation = edge.UpdateOperation.set_payload_by_filter(condition, payload)
    collections.get(request.collection).update(operation)
    return _DONE


def _required_filter(body: JsonObject) -> edge.Filter:
    condition = wire.filter_of(body.get("filter"))
    if condition is None:
        raise wire.BadRequestError("neither points nor a filter")
    return condition


def count_points(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/count; always exact."""
    condition = wire.filter_of(request.body.get("filter"))
    return {"count": collections.get(request.collection).count(condition)}


def scroll_points(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/scroll."""
    body = request.body
    found, following = collections.get(request.collection).shard.scroll(
        edge.ScrollRequest(
            offset=body.get("offset"),
            limit=body.get("limit") or 10,
            filter=wire.filter_of(body.get("filter")),
            with_payload=wire.payload_selector(body.get("with_payload", True)),
            with_vector=body.get("with_vector", False),
        )
    )
    return {"points": [_record(item) for item in found], "next_page_offset": _id(following)}


def query_points(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/query."""
    return {"points": _query(collections.get(request.collection), request.body)}


def query_batch(collections: Collections, request: Request) -> JsonValue:
    """POST /collections/{name}/points/query/batch."""
    collection = collections.get(request.collection)
    return [{"points": _query(collection, body)} for body in request.body["searches"]]


def _query(collection: Collection, body: JsonObject) -> list[dict[str, Any]]:
    found = collection.shard.query(
        edge.QueryRequest(
            limit=body.get("limit") or 10,
            offset=body.get("offset") or 0,
            query=wire.query_of(body.get("query"), body.get("using")),
            prefetches=wire.prefetches(body.get("prefetch")),
            filter=wire.filter_of(body.get("filter")),
            score_threshold=body.get("score_threshold"),
            with_payload=wire.payload_selector(body.get("with_payload", False)),
            with_vector=body.get("with_vector", False),
        )
    )
    return [{**_record(item), "version": item.version, "score": item.score} for item in found]


def _record(item: edge.Record | edge.ScoredPoint) -> dict[str, Any]:
    record: dict[str, Any] = {"id": _id(item.id), "payload": item.payload}
    if item.vector is not None:
        record["vector"] = wire.vector_json(item.vector)
    return record


def _id(value: JsonValue) -> JsonValue:
    return value if value is None or isinstance(value, int) else str(value)


OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("GET", ""): list_collections,
    ("GET", "exists"): collection_exists,
    ("PUT", "*"): create_collection,
    ("GET", "*"): describe_collection,
    ("DELETE", "*"): delete_collection,
    ("PUT", "index"): create_index,
    ("PUT", "points"): upsert_points,
    ("POST", "points"): retrieve_points,
    ("GET", "points/*"): retrieve_point,
    ("POST", "points/delete"): delete_points,
    ("POST", "points/payload"): set_payload,
    ("POST", "points/count"): count_points,
    ("POST", "points/scroll"): scroll_points,
    ("POST", "points/query"): query_points,
    ("POST", "points/query/batch"): query_batch,
}
