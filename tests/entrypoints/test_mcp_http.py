"""The endpoint's door: types, sizes, methods, tokens, origins, and where to get a token."""

import pytest

from tests.entrypoints.mcp_messages import Sent, initialize, legacy, modern
from tests.entrypoints.mcp_world import ISSUER, PUBLIC_URL, McpWorld

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def world() -> McpWorld:
    return McpWorld()


# ------------------------------------------------------------------------ types and sizes


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_called_json_is_415(world: McpWorld, kind: str) -> None:
    answer = world.send(legacy("ping"), {"content-type": kind})

    assert (answer.status, answer.json["error"]["code"]) == (415, "content_type_not_json")


def test_a_body_without_a_type_is_415(world: McpWorld) -> None:
    assert world.send(legacy("ping"), without=("content-type",)).status == 415


def test_a_charset_does_no_harm(world: McpWorld) -> None:
    answer = world.send(legacy("ping"), {"content-type": "Application/JSON; charset=utf-8"})

    assert answer.status == 200


def test_a_body_over_the_limit_is_413(world: McpWorld) -> None:
    answer = world.send(legacy("tools/call", {"name": "read_file", "x": "x" * 6_000_000}))

    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")


def test_a_body_that_arrives_as_base64_is_read(world: McpWorld) -> None:
    assert world.send(legacy("ping"), as_binary=True).json["result"] == {}


def test_a_client_that_takes_streams_only_gets_one_event(world: McpWorld) -> None:
    answer = world.send(initialize(), {"accept": "text/event-stream"})

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.body.startswith(b'event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{')
    assert answer.body.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*", "text/html"])
def test_any_other_client_gets_json(world: McpWorld, accept: str) -> None:
    answer = world.send(initialize(), {"accept": accept})

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


def test_a_client_that_does_not_say_what_it_takes_gets_json(world: McpWorld) -> None:
    answer = world.send(initialize(), without=("accept",))

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


def test_the_final_slash_makes_no_difference(world: McpWorld) -> None:
    assert world.send(legacy("ping"), path="/mcp/").json["result"] == {}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_only_post_is_allowed(world: McpWorld, method: str, path: str) -> None:
    answer = world.send(Sent(None), method=method, path=path)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_any_other_address_is_not_found(world: McpWorld) -> None:
    answer = world.send(legacy("ping"), path="/mcp/other")

    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


# ------------------------------------------------------------------------------ identity


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_without_a_token_the_answer_says_where_to_get_one(world: McpWorld, method: str) -> None:
    answer = world.send(initialize(), token=None, method=method)

    assert (answer.status, answer.json["error"]["code"]) == (401, "missing_token")
    assert answer.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{PUBLIC_URL}{METADATA}/mcp"'
    )


@pytest.mark.parametrize("scheme", ["Basic YWxpY2U6YQ==", "Bearer", "Bearer ", "alice"])
def test_what_is_no_bearer_token_counts_as_none(world: McpWorld, scheme: str) -> None:
    answer = world.send(initialize(), {"authorization": scheme}, token=None)

    assert (answer.status, answer.json["error"]["code"]) == (401, "missing_token")


def test_a_bad_token_is_called_so(world: McpWorld) -> None:
    answer = world.send(initialize(), token="x.y.z")

    assert (answer.status, answer.json["error"]["code"]) == (401, "invalid_token")
    assert answer.headers["www-authenticate"] == (
        f'Bearer error="invalid_token", resource_metadata="{PUBLIC_URL}{METADATA}/mcp"'
    )


@pytest.mark.parametrize("token", ["alice", "agent"])
def test_a_persons_token_and_an_agents_are_both_good(world: McpWorld, token: str) -> None:
    assert world.send(legacy("ping"), token=token).status == 200


def test_the_scheme_is_not_case_sensitive(world: McpWorld) -> None:
    assert world.send(legacy("ping"), {"authorization": "bearer alice"}, token=None).status == 200


# ------------------------------------------------------------------------------- origins


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "https://vault.example.com.evil.example",
        "https://localhost.evil.example",
        "http://vault.example.com",
        "file://localhost",
        "http://[",
        "",
    ],
)
def test_a_page_of_a_stranger_is_refused(world: McpWorld, origin: str) -> None:
    answer = world.send(legacy("ping"), {"origin": origin})

    assert (answer.status, answer.json["error"]["code"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize(
    "origin",
    [
        PUBLIC_URL,
        "https://app.example.com",
        "http://localhost:6274",
        "http://127.0.0.1",
        "https://[::1]:8443",
    ],
)
def test_our_own_pages_the_listed_ones_and_local_ones_are_served(
    world: McpWorld, origin: str
) -> None:
    assert world.send(legacy("ping"), {"origin": origin}).status == 200


def test_any_host_is_served(world: McpWorld) -> None:
    host = {"host": "a1b2c3.execute-api.eu-west-1.amazonaws.com"}

    assert world.send(legacy("ping"), host).status == 200


# ------------------------------------------------------------- protected resource metadata


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp"])
def test_the_metadata_needs_no_token_and_is_for_every_page(world: McpWorld, path: str) -> None:
    headers = {"origin": "https://anybody.example"}

    answer = world.send(Sent(None), headers, token=None, method="GET", path=path)

    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json == {
        "resource": f"{PUBLIC_URL}/mcp",
        "resource_name": "Archivolt",
        "bearer_methods_supported": ["header"],
        "authorization_servers": [ISSUER],
    }


def test_a_browser_may_ask_beforehand(world: McpWorld) -> None:
    headers = {
        "origin": "https://anybody.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
    }

    answer = world.send(Sent(None), headers, token=None, method="OPTIONS", path=METADATA)

    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")


@pytest.fixture(scope="module")
def signing_in() -> McpWorld:
    world = McpWorld()
    world.signs_in = True
    return world


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp"])
def test_with_our_own_sign_in_we_are_who_gives_tokens(signing_in: McpWorld, path: str) -> None:
    answer = signing_in.send(Sent(None), token=None, method="GET", path=path)

    assert answer.json["authorization_servers"] == [PUBLIC_URL]
    assert answer.json["scopes_supported"] == ["vaults:read", "vaults:write"]
    assert answer.json["resource"] == f"{PUBLIC_URL}/mcp"


@pytest.mark.parametrize("suffix", ["", "/mcp"])
@pytest.mark.parametrize("name", ["oauth-authorization-server", "openid-configuration"])
def test_the_authorization_server_says_what_clients_insist_on(
    signing_in: McpWorld, name: str, suffix: str
) -> None:
    headers = {"origin": "https://anybody.example"}
    path = f"/.well-known/{name}{suffix}"

    answer = signing_in.send(Sent(None), headers, token=None, method="GET", path=path)

    assert answer.headers["access-control-allow-origin"] == "*"
    told = answer.json
    assert told["issuer"] == PUBLIC_URL
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["token_endpoint_auth_methods_supported"] == ["none"]
    assert told["client_id_metadata_document_supported"] is True
    assert told["authorization_response_iss_parameter_supported"] is True
    for endpoint in ("authorization", "token", "registration", "revocation"):
        assert told[f"{endpoint}_endpoint"].startswith(f"{PUBLIC_URL}/oauth/")
    assert "offline_access" not in told["scopes_supported"]


def test_nothing_else_is_well_known(world: McpWorld) -> None:
    answer = world.send(
        Sent(None), token=None, method="GET", path="/.well-known/openid-configuration"
    )

    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
