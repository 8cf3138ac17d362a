"""The endpoint behind the front door: what a client without a token, or with a bad one, learns."""

import pytest

from tests.e2e.stack import Stack
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
