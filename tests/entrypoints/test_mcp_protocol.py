"""What the endpoint answers at the level of JSON-RPC, to clients of both eras."""

import base64
from typing import Any

import pytest

from tests.entrypoints.mcp_messages import MODERN, Sent, initialize, legacy, modern, notification
from tests.entrypoints.mcp_world import McpWorld, Send
from tests.entrypoints.rest_api import proxy_event

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "заметка.md", "привет")
    return world


# ---------------------------------------------------------------------------- handshake


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_version_is_echoed(world: McpWorld, version: str) -> None:
    answer = world.send(initialize(version))

    assert answer.status == 200
    assert answer.json["result"]["protocolVersion"] == version
    assert answer.json["result"]["serverInfo"]["name"] == "archivolt"


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01"])
def test_a_handshake_for_another_version_gets_our_latest(world: McpWorld, version: str) -> None:
    answer = world.send(initialize(version))

    assert answer.json["result"]["protocolVersion"] == "2025-11-25"


def test_no_change_of_lists_is_promised(world: McpWorld) -> None:
    capabilities = world.send(initialize()).json["result"]["capabilities"]

    assert capabilities["tools"] == {"listChanged": False}
    assert capabilities["resources"] == {"subscribe": False, "listChanged": False}
    assert "logging" not in capabilities


def test_a_request_without_a_version_header_is_of_the_oldest_kind(world: McpWorld) -> None:
    assert world.send(legacy("ping", version=None)).json["result"] == {}


def test_a_session_id_of_long_ago_is_ignored(world: McpWorld) -> None:
    answer = world.send(legacy("ping"), {"mcp-session-id": "of-another-process"})

    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers


def test_one_clients_requests_may_reach_different_processes(world: McpWorld) -> None:
    for _ in range(4):
        assert world.send(initialize()).status == 200
        assert world.send(notification("notifications/initialized")).status == 202
        assert world.send(legacy("tools/list")).status == 200
        assert world.send(modern("server/discover")).status == 200


def test_two_invocations_in_one_process_are_both_answered(world: McpWorld) -> None:
    event = proxy_event(PING, {"authorization": "Bearer alice"})

    answers = [world.processes[0].invoke(event) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json == {"jsonrpc": "2.0", "id": 1, "result": {}}


# ---------------------------------------------------------------------- stateless protocol


def test_discovery_says_which_version_is_spoken(world: McpWorld) -> None:
    result = world.send(modern("server/discover")).json["result"]

    assert result["supportedVersions"] == [MODERN]
    assert result["resultType"] == "complete"
    assert result["capabilities"]["tools"] == {"listChanged": False}
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")


def test_discovery_does_not_exist_before_the_stateless_protocol(world: McpWorld) -> None:
    assert world.send(legacy("server/discover")).json["error"]["code"] == -32601


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "subscriptions/listen", "logging/setLevel", "tasks/get"]
)
def test_a_method_that_is_not_served_is_404(world: McpWorld, method: str) -> None:
    answer = world.send(modern(method, {"notifications": {"toolsListChanged": True}}))

    assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["resources/subscribe", "logging/setLevel"])
def test_an_unserved_method_of_a_handshake_client_is_an_error_in_a_200(
    world: McpWorld, method: str
) -> None:
    params: dict[str, Any] = {
        "uri": "vault://notes",
        "level": "info",
    }
    answer = world.send(legacy(method, params))

    assert (answer.status, answer.json["error"]["code"]) == (200, -32601)


def test_a_stateless_body_without_its_version_header_is_refused(world: McpWorld) -> None:
    sent = modern("tools/list")
    del sent.headers["mcp-protocol-version"]

    answer = world.send(sent)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("header", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_header_that_contradicts_the_body_is_refused(world: McpWorld, header: str) -> None:
    sent = modern("tools/call", {"name": "list_vaults"})
    sent.headers[header] = "2025-06-18" if header == "mcp-protocol-version" else "something"

    answer = world.send(sent)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_a_header_sent_twice_is_refused(world: McpWorld) -> None:
    sent = modern("tools/list")
    event = proxy_event(sent.body, {"authorization": "Bearer alice", **sent.headers})
    event["multiValueHeaders"]["mcp-method"] = ["tools/list", "tools/call"]

    answer = world.invoke(event)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_a_version_header_without_its_envelope_is_refused(world: McpWorld) -> None:
    sent = modern("tools/list")
    del sent.body["params"]["_meta"]

    answer = world.send(sent)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def test_an_unknown_version_is_told_which_one_is_spoken(world: McpWorld) -> None:
    answer = world.send(modern("tools/list", version="2030-01-01"))

    assert answer.status == 400
    assert answer.json["error"]["code"] == -32022
    assert answer.json["error"]["data"] == {"supported": [MODERN], "requested": "2030-01-01"}


def test_a_name_that_is_not_ascii_travels_in_base64(world: McpWorld) -> None:
    uri = "vault://notes/заметка.md"
    sent = modern("resources/read", {"uri": uri})
    sent.headers["mcp-name"] = f"=?base64?{base64.b64encode(uri.encode()).decode()}?="

    answer = world.send(sent)

    assert answer.json["result"]["contents"][0]["text"] == "привет"


# ------------------------------------------------------------------- what needs no answer


@pytest.mark.parametrize("version", [None, "2025-06-18", MODERN])
@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled"])
def test_a_notification_is_accepted_with_nothing_in_the_body(
    world: McpWorld, version: str | None, method: str
) -> None:
    answer = world.send(notification(method, version=version))

    assert (answer.status, answer.body) == (202, b"")
    assert "json" not in answer.headers["content-type"]


def test_an_http_api_does_not_call_the_empty_answer_json_either(world: McpWorld) -> None:
    event = {
        "version": "2.0",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "authorization": "Bearer alice",
            "content-type": "application/json",
            "host": "vault.example.com",
        },
        "requestContext": {
            "http": {"method": "POST", "path": "/mcp", "sourceIp": "203.0.113.7"},
        },
        "body": '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        "isBase64Encoded": False,
    }

    answer = world.invoke(event)

    assert (answer.status, answer.body) == (202, b"")
    assert "json" not in answer.headers["content-type"]


@pytest.mark.parametrize("outcome", [{"result": {}}, {"error": {"code": 1, "message": "no"}}])
def test_a_posted_response_is_accepted_of_old_clients_and_refused_of_new(
    world: McpWorld, outcome: dict[str, Any]
) -> None:
    response = {"jsonrpc": "2.0", "id": 5, **outcome}

    assert world.send(Sent(response)).status == 202
    assert world.send(Sent(response, {"mcp-protocol-version": MODERN})).status == 400


# ----------------------------------------------------------------------- malformed bodies


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{bad", -32700),
        ("", -32700),
        (b"\xff\xfe\x00", -32700),
        ("[" * 100_000, -32700),
        ('{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', -32700),
        ("1" * 5_000, -32700),
        ([PING], -32600),
        ([], -32600),
        ("null", -32600),
        ({**PING, "jsonrpc": "1.0"}, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({**PING, "id": None}, -32600),
        ({**PING, "id": True}, -32600),
        ({**PING, "id": 1.5}, -32600),
        ({**PING, "id": {"a": 1}}, -32600),
        ({**PING, "method": 7}, -32600),
        ({**PING, "params": [1]}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "method": 7}, -32600),
    ],
)
def test_what_is_no_request_is_refused(world: McpWorld, body: object, code: int) -> None:
    answer = world.send(Sent(body))

    assert (answer.status, answer.json["error"]["code"]) == (400, code)


@pytest.mark.parametrize("request_id", ["abc", "", 0, -1, 9_007_199_254_740_993])
@EVERY_ERA
def test_an_id_comes_back_as_it_was_sent(world: McpWorld, send: Send, request_id: object) -> None:
    assert world.send(send("tools/list", request_id=request_id)).json["id"] == request_id


def test_params_of_the_wrong_form_are_invalid(world: McpWorld) -> None:
    answer = world.send(legacy("tools/call", {"name": "read_file", "arguments": "text"}))

    assert answer.json["error"]["code"] == -32602
