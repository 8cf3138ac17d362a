"""Token, registration and revocation, as programs call them."""

import json
from typing import Any

import pytest

from archivolt.domain.limits import MAX_REGISTRATIONS_PER_ADDRESS, OAUTH_ACCESS_SECONDS
from tests.entrypoints.browser_world import BrowserWorld
from tests.entrypoints.rest_api import Answer
from tests.oauth import PUBLIC_URL, REDIRECT, VERIFIER


@pytest.fixture
def world() -> BrowserWorld:
    return BrowserWorld()


def exchange(world: BrowserWorld, **changed: str) -> Answer:
    form = {
        "grant_type": "authorization_code",
        "client_id": world.oauth.client.id,
        "code": changed.pop("code", None) or world.oauth.code(),
        "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER,
        "resource": f"{PUBLIC_URL}/mcp",
    }
    return world.post("/oauth/token", form | changed)


def register(world: BrowserWorld, metadata: object) -> Answer:
    body = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    return world.send("POST", "/oauth/register", body, {"Content-Type": "application/json"})


def error_of(answer: Answer) -> tuple[int, str]:
    assert set(answer.json) == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"
    return answer.status, answer.json["error"]


def test_a_code_is_exchanged_for_tokens_that_nobody_keeps(world: BrowserWorld) -> None:
    answer = exchange(world)

    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    tokens: dict[str, Any] = answer.json
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == OAUTH_ACCESS_SECONDS
    assert tokens["scope"] == "vaults:read vaults:write"
    assert world.oauth.tokens.verify(tokens["access_token"])


def test_tokens_are_renewed_and_an_old_one_ends_all(world: BrowserWorld) -> None:
    first = exchange(world).json
    form = {"grant_type": "refresh_token", "client_id": world.oauth.client.id}

    second = world.post("/oauth/token", {**form, "refresh_token": first["refresh_token"]})
    again = world.post("/oauth/token", {**form, "refresh_token": first["refresh_token"]})
    dead = world.post("/oauth/token", {**form, "refresh_token": second.json["refresh_token"]})

    assert second.status == 200
    assert error_of(again) == error_of(dead) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"grant_type": ""}, (400, "invalid_request")),
        ({"client_id": ""}, (400, "invalid_request")),
        ({"client_id": "avc_gone"}, (401, "invalid_client")),
        ({"client_id": "https://other.example/c.json"}, (400, "invalid_grant")),
        ({"code": "x"}, (400, "invalid_grant")),
        ({"code_verifier": ""}, (400, "invalid_request")),
        ({"code_verifier": "w" * 43}, (400, "invalid_grant")),
        ({"redirect_uri": "http://127.0.0.1:1/callback"}, (400, "invalid_grant")),
        ({"resource": "https://other.example/mcp"}, (400, "invalid_target")),
    ],
)
def test_what_is_wrong_is_told_in_the_form_of_oauth(
    world: BrowserWorld, changed: dict[str, str], told: tuple[int, str]
) -> None:
    assert error_of(exchange(world, **changed)) == told


def test_a_parameter_sent_twice_is_refused(world: BrowserWorld) -> None:
    body = b"grant_type=refresh_token&client_id=a&client_id=b"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    assert error_of(world.send("POST", "/oauth/token", body, headers)) == (400, "invalid_request")


def test_a_body_that_is_no_form_is_refused(world: BrowserWorld) -> None:
    headers = {"Content-Type": "application/json"}

    assert world.send("POST", "/oauth/token", b"{}", headers).status == 415
    assert world.send("GET", "/oauth/token").status == 405


def test_a_client_registers_and_is_told_what_it_may_use(world: BrowserWorld) -> None:
    answer = register(
        world,
        {
            "client_name": "Claude",
            "redirect_uris": ["https://claude.example/callback"],
            "token_endpoint_auth_method": "client_secret_post",
            "scope": "anything",
        },
    )

    assert answer.status == 201
    assert answer.json["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer.json
    assert answer.json["client_name"] == "Claude"
    assert world.oauth.clients.find(answer.json["client_id"]).name == "Claude"


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        (b"{", "invalid_client_metadata"),
        (b"\xff", "invalid_client_metadata"),
        (b"[" * 60_000, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
        ({"redirect_uris": ["http://client.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
    ],
)
def test_a_registration_that_breaks_a_rule_is_told_so(
    world: BrowserWorld, metadata: object, error: str
) -> None:
    assert error_of(register(world, metadata)) == (400, error)


def test_one_network_address_registers_so_many_clients(world: BrowserWorld) -> None:
    for _ in range(MAX_REGISTRATIONS_PER_ADDRESS):
        register(world, {"redirect_uris": [REDIRECT]})

    answer = register(world, {"redirect_uris": [REDIRECT]})

    assert answer.status == 429
    assert int(answer.headers["retry-after"]) > 0


def test_a_client_ends_its_grant_and_unknown_tokens_are_no_error(world: BrowserWorld) -> None:
    tokens = exchange(world).json
    form = {"token": tokens["refresh_token"], "client_id": world.oauth.client.id}

    assert world.post("/oauth/revoke", {"token": "unknown"}).status == 200
    assert world.post("/oauth/revoke", form).status == 200
    assert world.post("/oauth/revoke", form).status == 200
    assert error_of(world.post("/oauth/revoke", {})) == (400, "invalid_request")

    form = {"grant_type": "refresh_token", "client_id": world.oauth.client.id}
    dead = world.post("/oauth/token", {**form, "refresh_token": tokens["refresh_token"]})
    assert error_of(dead) == (400, "invalid_grant")


def test_pages_of_any_origin_may_call_the_endpoints_and_none_the_pages(
    world: BrowserWorld,
) -> None:
    headers = {"Origin": "https://inspector.example", "Access-Control-Request-Method": "POST"}

    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        asked = world.send("OPTIONS", path, headers=headers)
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (200, "*")
        assert "access-control-allow-credentials" not in asked.headers
    asked = world.send("OPTIONS", "/oauth/authorize", headers=headers)
    assert "access-control-allow-origin" not in asked.headers
