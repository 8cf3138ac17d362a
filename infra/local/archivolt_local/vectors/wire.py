"""Between Qdrant's JSON and the embedded engine's objects; it stores nothing.

Reference: Qdrant's OpenAPI description, sections "Points" and "Search". What the engine lacks is
refused by name instead of being ignored: a filter half understood would be a wide search.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import qdrant_edge as edge

from archivolt_local.json_values import JsonObject, JsonValue, json_items

_DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Dot": edge.Distance.Dot,
    "Euclid": edge.Distance.Euclid,
    "Manhattan": edge.Distance.Manhattan,
}
_MATCHES: dict[str, Callable[[Any], Any]] = {
    "value": edge.MatchValue,
    "any": edge.MatchAny,
    "except": edge.MatchExcept,
    "text": edge.MatchText,
    "text_any": edge.MatchTextAny,
    "phrase": edge.MatchPhrase,
}
_SCHEMAS = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "bool": edge.PayloadSchemaType.Bool,
    "datetime": edge.PayloadSchemaType.Datetime,
    "uuid": edge.PayloadSchemaType.Uuid,
    "text": edge.PayloadSchemaType.Text,
}
_FILTER_KEYS = frozenset({"must", "should", "must_not", "min_should"})
# Qdrant's default for reciprocal rank fusion.
_RRF_K = 2


class BadRequestError(Exception):
    """The request is not one that Qdrant (or this façade) understands."""


def collection_config(body: JsonObject) -> edge.EdgeConfig:
    """Return the configuration that a "create collection" body asks for."""
    vectors = cast("JsonObject", body.get("vectors") or {})
    dense = (
        _vector_params(vectors)
        if "size" in vectors
        else {k: _vector_params(v) for k, v in vectors.items()}
    )
    given: JsonObject = body.get("sparse_vectors") or {}
    sparse = {name: _sparse_params(value or {}) for name, value in given.items()}
    return edge.EdgeConfig(vectors=dense or None, sparse_vectors=sparse or None)


def _vector_params(params: JsonObject) -> edge.EdgeVectorParams:
    distance = _DISTANCES.get(str(params.get("distance")))
    if distance is None:
        raise BadRequestError(f"unknown distance: {params.get('distance')}")
    return edge.EdgeVectorParams(size=int(params["size"]), distance=distance)


def _sparse_params(params: JsonObject) -> edge.EdgeSparseVectorParams:
    return edge.EdgeSparseVectorParams(
        modifier=edge.Modifier.Idf if params.get("modifier") == "idf" else None
    )


def index_schema(schema: str | JsonObject) -> edge.PayloadSchemaType:
    """Return the type of a payload index; parameters beyond the type are the engine's default."""
    name = schema if isinstance(schema, str) else str(schema.get("type"))
    if name not in _SCHEMAS:
        raise BadRequestError(f"unknown field_schema: {name}")
    return _SCHEMAS[name]


def vector(value: JsonValue) -> JsonValue:
    """Return a dense, sparse or named vector for the engine."""
    if isinstance(value, Mapping):
        named = cast("JsonObject", value)
        if set(named) == {"indices", "values"}:
            return edge.SparseVector(named["indices"], named["values"])
        return {name: vector(item) for name, item in named.items()}
    return value


def vector_json(value: JsonValue) -> JsonValue:
    """Return an engine's vector as JSON."""
    if isinstance(value, edge.SparseVector):
        return {"indices": value.indices, "values": value.values}
    if isinstance(value, Mapping):
        return {name: vector_json(item) for name, item in cast("JsonObject", value).items()}
    return value


def point(body: JsonObject) -> edge.Point:
    """Return one point to upsert."""
    return edge.Point(body["id"], vector(body.get("vector") or {}), dict(body.get("payload") or {}))


def filter_of(body: JsonObject | None) -> edge.Filter | None:
    """Return a filter; None when there is none.

    Raises:
        BadRequestError: It holds a clause or condition that is not understood.

    """
    if not body:
        return None
    unknown = set(body) - _FILTER_KEYS
    if unknown:
        raise BadRequestError(f"unknown filter clause: {sorted(unknown)}")
    return edge.Filter(
        must=_conditions(body.get("must")),
        should=_conditions(body.get("should")),
        must_not=_conditions(body.get("must_not")),
        min_should=_min_should(body.get("min_should")),
    )


def _min_should(body: JsonObject | None) -> edge.MinShould | None:
    if body is None:
        return None
    return edge.MinShould(_conditions(body["conditions"]) or [], int(body["min_count"]))


def _conditions(clause: JsonValue) -> list[Any] | None:
    if clause is None:
        return None
    return [_condition(item) for item in json_items(clause)]


def _condition(body: JsonObject) -> JsonValue:
    if "has_id" in body:
        return edge.HasIdCondition(set(body["has_id"]))
    if "is_empty" in body:
        return edge.IsEmptyCondition(body["is_empty"]["key"])
    if "is_null" in body:
        return edge.IsNullCondition(body["is_null"]["key"])
    if "nested" in body:
        nested = body["nested"]
        return edge.NestedCondition(nested["key"], filter_of(nested["filter"]) or edge.Filter())
    if "key" in body:
        return _field_condition(body)
    return filter_of(body)


def _field_condition(body: JsonObject) -> edge.FieldCondition:
    unknown = set(body) - {"key", "match", "range"}
    if unknown or not {"match", "range"} & set(body):
        raise BadRequestError(f"unknown condition on {body['key']}: {sorted(body)}")
    match = _match(body["match"]) if body.get("match") else None
    return edge.FieldCondition(body["key"], match=match, range=_range(body.get("range")))


def _match(body: JsonObject) -> JsonValue:
    for kind, build in _MATCHES.items():
        if kind in body:
            return build(body[kind])
    raise BadRequestError(f"unknown match: {sorted(body)}")


def _range(body: JsonObject | None) -> JsonValue:
    if body is None:
        return None
    bounds = {name: value for name, value in body.items() if value is not None}
    dates = any(isinstance(value, str) for value in bounds.values())
    return edge.RangeDateTime(**bounds) if dates else edge.RangeFloat(**bounds)


def query_of(query: JsonValue, using: str | None) -> JsonValue:
    """Return what a query is scored by: a vector, or a fusion of its prefetches."""
    if query is None:
        return None
    if not isinstance(query, Mapping):
        return edge.Query.Nearest(vector(query), using=using)
    body = cast("JsonObject", query)
    if "nearest" in body or set(body) == {"indices", "values"}:
        return edge.Query.Nearest(vector(body.get("nearest", body)), using=using)
    return _fusion(body)


def _fusion(body: JsonObject) -> JsonValue:
    if "rrf" in body:
        return edge.Fusion.Rrf(k=body["rrf"].get("k") or _RRF_K, weights=body["rrf"].get("weights"))
    if body.get("fusion") == "rrf":
        return edge.Fusion.Rrf(k=_RRF_K)
    if body.get("fusion") == "dbsf":
        return edge.Fusion.Dbsf()
    raise BadRequestError(f"unknown query: {sorted(body)}")


def prefetches(clause: JsonValue) -> list[edge.Prefetch] | None:
    """Return the stages a query draws its candidates from."""
    if not clause:
        return None
    return [
        edge.Prefetch(
            limit=body.get("limit") or 10,
            query=query_of(body.get("query"), body.get("using")),
            prefetches=prefetches(body.get("prefetch")),
            filter=filter_of(body.get("filter")),
            score_threshold=body.get("score_threshold"),
        )
        for body in json_items(clause)
    ]


def payload_selector(value: JsonValue) -> JsonValue:
    """Return which payload fields to answer with: a flag, a list, or include/exclude."""
    if isinstance(value, Mapping):
        body = cast("JsonObject", value)
        if "include" in body:
            return edge.PayloadSelector.Include(body["include"])
        return edge.PayloadSelector.Exclude(body["exclude"])
    return value
