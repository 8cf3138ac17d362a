"""The endpoint behind the front door: what a client without a token, or with a bad one, learns."""

import json
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.stack import Stack
from tests.entrypoints.mcp_anything import (
    METHODS,
    TOOLS,
    arguments,
    assert_composed,
    headers,
    messages,
    params,
    with_params,
)
from tests.entrypoints.mcp_messages import initialize, legacy, modern, notification

METADATA = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("token", ["", "x.y.z"])
def test_a_missing_or_bad_token_is_a_true_401_that_says_where_to_go(
    stack: Stack, token: str
) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {"Authorization": ""}
    with stack.client() as http:
        answer = http.post("/mcp", json=initialize().body, headers=headers)

    assert answer.status_code == 401
    assert f'resource_metadata="{stack.url}{METADATA}/mcp"' in answer.headers["www-authenticate"]
    assert answer.json()["error"]["code"] in {"missing_token", "invalid_token"}


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp"])
def test_the_metadata_is_there_without_a_token(stack: Stack, path: str) -> None:
    with stack.client("") as http:
        answer = http.get(path, headers={"Authorization": ""})

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json()["resource"] == f"{stack.url}/mcp"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_the_final_slash_makes_no_difference(stack: Stack, path: str) -> None:
    with stack.client() as http:
        answer = http.post(path, json=legacy("ping").body)

    assert (answer.status_code, answer.json()["result"]) == (200, {})


def test_a_notification_is_accepted_with_nothing_in_the_body(stack: Stack) -> None:
    with stack.client() as http:
        answer = http.post("/mcp", json=notification("notifications/initialized").body)

    assert (answer.status_code, answer.content) == (202, b"")
    assert "json" not in answer.headers["content-type"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_and_no_session(stack: Stack, method: str) -> None:
    with stack.client() as http:
        answer = http.request(method, "/mcp")

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_routing_headers_reach_the_endpoint(stack: Stack) -> None:
    sent = modern("tools/call", {"name": "list_vaults", "arguments": {}})
    with stack.client() as http:
        right = http.post("/mcp", json=sent.body, headers=sent.headers)
        wrong = http.post("/mcp", json=sent.body, headers={**sent.headers, "mcp-name": "other"})

    assert "vaults" in right.json()["result"]["structuredContent"]
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, -32020)


# ------------------------------------------------------------------------- whatever is sent

some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@some
@given(body=st.binary(max_size=200) | messages.map(json.dumps), extra=headers)
def test_any_bytes_are_answered_behind_the_front_door(
    stack: Stack, body: str | bytes, extra: dict[str, str]
) -> None:
    # How long a body is, is the client's to get right: httpx2 would send what is no HTTP.
    sent = {name: value for name, value in extra.items() if name != "content-length"}
    with stack.client() as http:
        answer = http.post(
            "/mcp", content=body, headers={"content-type": "application/json"} | sent
        )

    assert_composed(answer.status_code, answer.content)


@some
@given(
    method=st.sampled_from(METHODS),
    given_params=params
    | st.fixed_dictionaries({"name": st.sampled_from(TOOLS), "arguments": arguments}),
    modern=st.booleans(),
)
def test_any_parameters_are_answered_behind_the_front_door(
    stack: Stack, method: str, given_params: object, modern: bool
) -> None:
    sent = with_params(method, given_params, modern=modern)
    lines = {"content-type": "application/json", **sent.headers}
    with stack.client() as http:
        answer = http.post("/mcp", content=sent.body, headers=lines)

    assert_composed(answer.status_code, answer.content)


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
RAW: list[tuple[str, bytes, bytes]] = [
    ("a header of other letters", b"Mcp-Name: \xd0\x9f\xff\r\n", PING),
    ("the same header twice", b"MCP-Protocol-Version: 2025-06-18\r\n" * 2, PING),
    ("two that differ", b"Mcp-Method: ping\r\nMcp-Method: tools/list\r\n", PING),
    ("a very long header", b"X-Long: " + b"x" * 9_000 + b"\r\n", PING),
    ("very many headers", b"".join(b"X-%d: 1\r\n" % number for number in range(90)), PING),
    ("no length", b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING)),
    ("a compressed body that is none", b"Content-Encoding: gzip\r\n", PING),
    ("an unknown charset", b"Content-Type: application/json; charset=klingon\r\n", PING),
    ("a second token", b"Authorization: Basic \xff\r\n", PING),
    ("a foreign host", b"X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: gopher\r\n", PING),
    ("an upgrade", b"Connection: Upgrade\r\nUpgrade: websocket\r\n", PING),
]


@pytest.mark.parametrize(("lines", "body"), [row[1:] for row in RAW], ids=[row[0] for row in RAW])
def test_odd_http_is_answered_by_the_front_door(stack: Stack, lines: bytes, body: bytes) -> None:
    length = b"" if b"chunked" in lines else b"Content-Length: %d\r\n" % len(body)
    kind = b"" if b"Content-Type" in lines else b"Content-Type: application/json\r\n"
    head = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        b"Authorization: Bearer %b\r\n%b%b%b\r\n" % (stack.token().encode(), kind, length, lines)
    )
    with socket.create_connection(("127.0.0.1", stack.port), timeout=60) as connection:
        connection.sendall(head + body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))

    status = int(answer.split(b" ", 2)[1])
    assert status in {200, 400, 401, 403, 413, 415, 431}, answer
    assert b"Traceback" not in answer
    assert b".py" not in answer
