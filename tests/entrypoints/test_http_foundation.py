"""What every HTTP application does whatever its routes: errors, identity, limits, origins."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import Response
from mangum import Mangum
from pydantic import BaseModel, Field
from starlette.testclient import TestClient

from archivolt.domain.errors import ConflictError, NotFoundError, RateLimitedError, UnavailableError
from archivolt.domain.identity import TokenKind
from archivolt.domain.limits import MAX_REQUEST_BYTES
from archivolt.domain.rights import Caller, Right
from archivolt.entrypoints.http.application import create_application
from archivolt.entrypoints.http.authentication import (
    CurrentPrincipal,
    Gate,
    InteractivePrincipal,
)
from tests.builders import principal
from tests.entrypoints.rest_api import EVENTS, LambdaProcess
from tests.fakes.governance import KnownTokens

METADATA = "https://archivolt.example/.well-known/oauth-protected-resource/mcp"
ALICE = {"Authorization": "Bearer alice"}


class Note(BaseModel):
    path: str
    size: int = Field(default=1, ge=1)


class UnexpectedError(Exception):
    pass


def add_routes(app: FastAPI) -> None:
    failures: dict[str, Exception] = {
        "absent": NotFoundError("vault_not_found", vault="Été"),
        "conflict": ConflictError("conflict"),
        "limited": RateLimitedError("rate_limited", retry_after=17),
        "down": UnavailableError("unavailable"),
        "unexpected": UnexpectedError("the customer's secret sentence"),
    }

    @app.get("/fail/{how}")
    def fail(how: str) -> None:
        raise failures[how]

    @app.get("/who", operation_id="who")
    def who(caller: CurrentPrincipal) -> str:
        return f"{caller.tenant}/{caller.user}"

    @app.post("/notes", operation_id="write")
    def write(caller: InteractivePrincipal, note: Note) -> str:
        return note.path


@pytest.fixture
def client() -> Iterator[TestClient]:
    tokens = KnownTokens(
        {
            "alice": principal(),
            "agent": principal(kind=TokenKind.MCP),
        }
    )
    app = create_application(
        "Test",
        token_verifier=lambda: tokens,
        allowed_origins="https://app.example/, https://other.example",
        resource_metadata=METADATA,
        gate=Gate(rights={"who": Right(caller=Caller.PROGRAM), "write": Right()}),
    )
    add_routes(app)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def error_of(response: Response) -> dict[str, Any]:
    assert set(response.json()) == {"error"}
    assert set(response.json()["error"]) == {"code", "message", "details"}
    return response.json()["error"]


def test_an_error_has_the_status_of_its_kind_and_its_details(client: TestClient) -> None:
    response = client.get("/fail/absent")

    assert response.status_code == 404
    assert error_of(response)["code"] == "vault_not_found"
    assert error_of(response)["details"] == {"vault": "Été"}


def test_an_error_speaks_the_callers_language(client: TestClient) -> None:
    french = client.get("/fail/conflict", headers={"Accept-Language": "fr-FR, en;q=0.5"})
    english = client.get("/fail/conflict")

    assert french.status_code == english.status_code == 409
    assert "changé" in error_of(french)["message"]
    assert "changed" in error_of(english)["message"]


def test_too_many_calls_say_when_to_come_back(client: TestClient) -> None:
    response = client.get("/fail/limited")

    assert (response.status_code, response.headers["retry-after"]) == (429, "17")


def test_a_collaborator_that_is_down_is_503(client: TestClient) -> None:
    assert client.get("/fail/down").status_code == 503


def test_the_unexpected_is_told_and_logged_without_its_text(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.get("/fail/unexpected", headers={"Origin": "https://app.example"})

    assert response.status_code == 500
    assert error_of(response)["code"] == "internal"
    assert error_of(response)["details"] == {"request_id": response.headers["x-request-id"]}
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    [record] = [record for record in caplog.records if record.message == "unexpected_error"]
    logged = json.dumps(record.__dict__, default=str)
    assert "UnexpectedError" in logged
    assert "test_http_foundation.py" in logged
    assert "secret sentence" not in logged + response.text


def test_an_unknown_address_is_not_found(client: TestClient) -> None:
    response = client.get("/nowhere")

    assert (response.status_code, error_of(response)["code"]) == (404, "not_found")


def test_a_wrong_method_is_told_the_allowed_ones(client: TestClient) -> None:
    response = client.delete("/who")

    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
    assert response.headers["allow"] == "GET"


def test_no_token_is_401_with_a_challenge(client: TestClient) -> None:
    response = client.get("/who")

    assert (response.status_code, error_of(response)["code"]) == (401, "missing_token")
    assert response.headers["www-authenticate"] == f'Bearer resource_metadata="{METADATA}"'


@pytest.mark.parametrize(
    "authorization", ["Basic YTpi", "Basic w6k6YQ==", "Basic not-base64", "Bearer", "alice"]
)
def test_another_scheme_is_no_token(client: TestClient, authorization: str) -> None:
    response = client.get("/who", headers={"Authorization": authorization})

    assert (response.status_code, error_of(response)["code"]) == (401, "missing_token")


def test_a_token_that_does_not_verify_is_401(client: TestClient) -> None:
    response = client.get("/who", headers={"Authorization": "Bearer stranger"})

    assert (response.status_code, error_of(response)["code"]) == (401, "invalid_token")
    assert 'error="invalid_token"' in response.headers["www-authenticate"]


def test_the_caller_is_who_the_token_says(client: TestClient) -> None:
    response = client.get("/who", headers={"Authorization": "bearer alice"})

    assert response.json() == "acme/alice"


def test_a_token_for_agents_may_read_but_not_write(client: TestClient) -> None:
    agent = {"Authorization": "Bearer agent"}

    assert client.get("/who", headers=agent).status_code == 200
    response = client.post("/notes", json={"path": "a.md"}, headers=agent)
    assert (response.status_code, error_of(response)["code"]) == (403, "person_required")


def test_a_body_against_the_schema_names_the_fields_and_no_value(client: TestClient) -> None:
    body = {"size": "private text"}
    response = client.post("/notes", json=body, headers=ALICE)

    assert (response.status_code, error_of(response)["code"]) == (422, "invalid_request")
    assert error_of(response)["details"]["fields"] == ["path", "size"]
    assert "path is required; size must be a whole number" in error_of(response)["message"]
    assert "private" not in response.text
    assert "pydantic" not in response.text


def test_what_is_wrong_is_said_in_french_too(client: TestClient) -> None:
    headers = {**ALICE, "Accept-Language": "fr"}
    response = client.post("/notes", json={"path": "a", "size": 0}, headers=headers)

    assert "size doit être au moins 1" in error_of(response)["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe"])
def test_a_body_that_is_not_json_is_400(client: TestClient, body: bytes) -> None:
    headers = {**ALICE, "Content-Type": "application/json"}
    response = client.post("/notes", content=body, headers=headers)

    assert response.status_code == 400
    assert error_of(response)["code"] in {"invalid_request", "unreadable_request"}


def test_an_announced_body_over_the_limit_is_refused_before_it_is_read(client: TestClient) -> None:
    headers = {**ALICE, "Content-Length": str(MAX_REQUEST_BYTES + 1)}
    response = client.post("/notes", content=b"{}", headers=headers)

    assert response.status_code == 413
    assert error_of(response)["details"] == {
        "size": MAX_REQUEST_BYTES + 1,
        "limit": MAX_REQUEST_BYTES,
    }


def test_a_body_that_grows_over_the_limit_is_refused(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_REQUEST_BYTES // 1_000_000 + 1):
            yield b"x" * 1_000_000

    response = client.post("/notes", content=chunks(), headers=ALICE)

    assert response.status_code == 413
    assert error_of(response)["code"] == "request_too_large"
    assert error_of(response)["details"]["limit"] == MAX_REQUEST_BYTES


def test_a_plain_request_id_is_kept_and_another_replaced(client: TestClient) -> None:
    kept = client.get("/who", headers={"X-Request-Id": "trace-0001"})
    replaced = client.get("/who", headers={"X-Request-Id": "two words\tand more"})

    assert kept.headers["x-request-id"] == "trace-0001"
    assert len(replaced.headers["x-request-id"]) == 36


def test_behind_the_front_door_its_id_is_the_requests() -> None:
    app = create_application("Test", token_verifier=KnownTokens)
    event = json.loads((EVENTS / "rest_api_get_tools.json").read_text(encoding="utf-8"))
    process = LambdaProcess(lambda: Mangum(app, lifespan="off"))

    answer = process.invoke(event)

    assert answer.headers["x-request-id"] == event["requestContext"]["requestId"]


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://app.example", "https://app.example"),
        ("https://other.example", "https://other.example"),
        ("https://app.example.evil.example", None),
        ("null", None),
    ],
)
def test_only_listed_origins_may_call_from_a_page(
    client: TestClient, origin: str, allowed: str | None
) -> None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    preflight = client.options("/notes", headers=headers)
    answer = client.get("/who", headers={"Origin": origin, **ALICE})

    assert preflight.headers.get("access-control-allow-origin") == allowed
    assert answer.headers.get("access-control-allow-origin") == allowed


def test_openapi_tells_the_error_body_and_the_token() -> None:
    app = create_application("Test", token_verifier=KnownTokens)
    add_routes(app)
    schema = app.openapi()

    assert schema["components"]["securitySchemes"]["BearerToken"]["scheme"] == "bearer"
    responses = schema["paths"]["/notes"]["post"]["responses"]
    for status in ("401", "404", "422"):
        content = responses[status]["content"]["application/json"]["schema"]
        assert content == {"$ref": "#/components/schemas/ErrorBody"}
    assert "HTTPValidationError" not in schema["components"]["schemas"]
