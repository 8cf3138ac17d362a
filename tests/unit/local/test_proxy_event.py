import base64
import json
from pathlib import Path

from archivolt_local.gateway.api import Route, RouteMatch
from archivolt_local.gateway.proxy_event import (
    IncomingRequest,
    authorizer_event,
    method_arn,
    proxy_event,
)
from tests.fakes.clock import FrozenClock

EVENTS = Path(__file__).parents[2] / "events"
MATCH = RouteMatch(
    route=Route(
        resource="/api/v1/{proxy+}",
        function="archivolt-tools",
        authorized=True,
        streaming=False,
        timeout=29,
    ),
    parameters={"proxy": "file/a%2Fb"},
)


def a_request(**changes: object) -> IncomingRequest:
    values: dict[str, object] = {
        "method": "POST",
        "raw_path": "/api/v1/file/a%2Fb",
        "query": "tag=a&tag=b%20c&empty=",
        "headers": [
            ("host", "archivolt.example"),
            ("authorization", "Bearer t"),
            ("accept", "text/html"),
            ("accept", "application/json"),
            ("x-forwarded-for", "203.0.113.9"),
        ],
        "client": "127.0.0.1",
    }
    return IncomingRequest(**{**values, **changes})  # type: ignore[arg-type]


def test_the_event_has_the_keys_that_aws_sends() -> None:
    golden = json.loads((EVENTS / "rest_api_post_mcp.json").read_text())
    event = proxy_event(a_request(), MATCH, b"{}", {"principalId": "u"}, FrozenClock())
    assert set(event) == set(golden)
    assert set(event["requestContext"]) == set(golden["requestContext"])
    assert set(event["requestContext"]["identity"]) == set(golden["requestContext"]["identity"])
    assert {name for name in golden["headers"] if name.startswith("X-")} <= set(event["headers"])


def test_the_path_is_passed_as_the_client_encoded_it() -> None:
    event = proxy_event(a_request(), MATCH, b"", {}, FrozenClock())
    assert event["path"] == "/api/v1/file/a%2Fb"
    assert event["pathParameters"] == {"proxy": "file/a%2Fb"}
    assert event["requestContext"]["path"] == "/live/api/v1/file/a%2Fb"


def test_query_parameters_are_decoded_and_the_last_value_stands_alone() -> None:
    event = proxy_event(a_request(), MATCH, b"", {}, FrozenClock())
    assert event["queryStringParameters"] == {"tag": "b c", "empty": ""}
    assert event["multiValueQueryStringParameters"] == {"tag": ["a", "b c"], "empty": [""]}


def test_what_is_absent_is_null_and_not_empty() -> None:
    match = RouteMatch(route=MATCH.route, parameters={})
    event = proxy_event(a_request(query=""), match, b"", {}, FrozenClock())
    absent = ("queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "body")
    assert [event[name] for name in absent] == [None] * 4
    assert "authorizer" not in event["requestContext"]


def test_a_header_sent_twice_keeps_both_values() -> None:
    event = proxy_event(a_request(), MATCH, b"", {}, FrozenClock())
    assert event["headers"]["Accept"] == "application/json"
    assert event["multiValueHeaders"]["Accept"] == ["text/html", "application/json"]


def test_a_client_cannot_hide_its_address() -> None:
    event = proxy_event(a_request(), MATCH, b"", {}, FrozenClock())
    assert event["headers"]["X-Forwarded-For"] == "203.0.113.9, 127.0.0.1"
    assert event["requestContext"]["identity"]["sourceIp"] == "127.0.0.1"


def test_a_body_travels_in_base64_byte_for_byte() -> None:
    event = proxy_event(a_request(), MATCH, b"\x00\xff", {}, FrozenClock())
    assert event["isBase64Encoded"] is True
    assert base64.b64decode(event["body"]) == b"\x00\xff"


def test_the_authorizers_words_reach_the_function() -> None:
    event = proxy_event(a_request(), MATCH, b"", {"principalId": "u"}, FrozenClock())
    assert event["requestContext"]["authorizer"] == {"principalId": "u"}


def test_the_authorizer_is_asked_about_one_method_of_one_path() -> None:
    event = authorizer_event(a_request(), MATCH, FrozenClock())
    assert event["type"] == "REQUEST"
    assert event["methodArn"] == method_arn(a_request())
    assert event["methodArn"].endswith("/live/POST/api/v1/file/a%2Fb")
    assert event["headers"]["Authorization"] == "Bearer t"
