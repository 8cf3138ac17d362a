import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from archivolt_local.gateway.api import ApiDefinition
from archivolt_local.gateway.front_door import MAX_REQUEST, FrontDoor
from archivolt_local.gateway.streaming import StreamingProxy
from archivolt_local.runtime.worker import MAX_PAYLOAD, Outcome
from tests.fakes.clock import FrozenClock
from tests.unit.local.pools import ScriptedPool, answering, failing
from tests.unit.local.test_api_routes import ANY, body, integration

if TYPE_CHECKING:
    from archivolt_local.runtime.pool import FunctionPool

pytestmark = pytest.mark.anyio

ALLOW = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "arn:aws:execute-api:*:*:*"}
RESPONSES: Mapping[str, Any] = {
    kind: {"statusCode": status, "responseTemplates": {"application/json": f'{{"kind":"{kind}"}}'}}
    for kind, status in {
        "UNAUTHORIZED": "401",
        "ACCESS_DENIED": "403",
        "MISSING_AUTHENTICATION_TOKEN": "404",
        "REQUEST_TOO_LARGE": "413",
        "INTEGRATION_FAILURE": "502",
        "INTEGRATION_TIMEOUT": "504",
        "DEFAULT_4XX": "400",
        "DEFAULT_5XX": "500",
    }.items()
}


class Gate:
    """A front door before one scripted function, and a client that knocks."""

    def __init__(self, answer: Outcome, *, verdict: Outcome | None = None) -> None:
        self.clock = FrozenClock()
        policy = {"principalId": "u", "policyDocument": {"Statement": [ALLOW]}, "context": {"a": 1}}
        self.function = ScriptedPool(lambda _: answer)
        self.guard = ScriptedPool(lambda _: verdict or answering(policy))
        definition = body({"/x/{proxy+}": {ANY: integration("function")}})
        definition["paths"]["/open"] = {
            "get": {"x-amazon-apigateway-integration": integration("function"), "security": []}
        }
        definition["paths"]["/stream"] = {
            "get": {
                "x-amazon-apigateway-integration": integration(
                    "app", responseTransferMode="STREAM"
                ),
                "security": [],
            }
        }
        definition["x-amazon-apigateway-gateway-responses"] = RESPONSES
        self.app = FrontDoor(
            ApiDefinition(definition),
            lambda name: cast("FunctionPool", self.guard if name == "guard" else self.function),
            # Nobody listens there.
            lambda _: StreamingProxy("http://127.0.0.1:1"),
            self.clock,
        )
        transport = httpx2.ASGITransport(app=cast("Any", self.app))
        self.client = httpx2.AsyncClient(transport=transport, base_url="http://archivolt.test")

    async def get(self, path: str, token: str = "") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.client.get(path, headers=headers)


def ok(**more: Any) -> Outcome:  # noqa: ANN401
    return answering({"statusCode": 200, "body": "{}", **more})


async def test_without_a_token_nobody_is_asked() -> None:
    gate = Gate(ok())
    answer = await gate.get("/x/y")
    assert (answer.status_code, answer.json()) == (401, {"kind": "UNAUTHORIZED"})
    assert gate.guard.events == gate.function.events == []


async def test_a_public_route_needs_no_token() -> None:
    gate = Gate(ok())
    assert (await gate.get("/open")).status_code == 200
    assert gate.guard.events == []


async def test_the_authorizers_answer_is_remembered_for_its_time_and_no_longer() -> None:
    gate = Gate(ok())
    for _ in range(3):
        await gate.get("/x/y", token="t")
    assert len(gate.guard.events) == 1
    gate.clock.advance(seconds=61)
    await gate.get("/x/y", token="t")
    assert len(gate.guard.events) == 2


async def test_an_answer_about_one_token_says_nothing_about_another() -> None:
    gate = Gate(ok())
    await gate.get("/x/y", token="one")
    await gate.get("/x/y", token="two")
    assert len(gate.guard.events) == 2


async def test_the_authorizers_context_reaches_the_function_as_text() -> None:
    gate = Gate(ok())
    await gate.get("/x/y", token="t")
    authorizer = gate.function.events[0]["requestContext"]["authorizer"]
    assert authorizer == {"a": "1", "principalId": "u"}


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (failing("Exception", "Unauthorized"), 401),
        (failing("KeyError", "'sub'"), 500),
        (answering({"principalId": "u"}), 500),
        (
            answering(
                {
                    "principalId": "u",
                    "policyDocument": {"Statement": [{**ALLOW, "Effect": "Deny"}]},
                }
            ),
            403,
        ),
        (answering({"principalId": "u", "policyDocument": {"Statement": []}}), 403),
    ],
)
async def test_a_refusal_never_reaches_the_function(verdict: Outcome, status: int) -> None:
    gate = Gate(ok(), verdict=verdict)
    assert (await gate.get("/x/y", token="t")).status_code == status
    assert gate.function.events == []


async def test_a_refusal_is_not_remembered_as_a_pass() -> None:
    gate = Gate(ok(), verdict=failing("Exception", "Unauthorized"))
    await gate.get("/x/y", token="t")
    await gate.get("/x/y", token="t")
    assert len(gate.guard.events) == 2


async def test_an_unknown_address_is_not_found_in_the_templates_words() -> None:
    answer = await Gate(ok()).get("/nowhere", token="t")
    assert (answer.status_code, answer.json()["kind"]) == (404, "MISSING_AUTHENTICATION_TOKEN")


async def test_several_cookies_and_a_binary_body_arrive_whole() -> None:
    image = bytes(range(256))
    answer = await Gate(
        ok(
            body=base64.b64encode(image).decode(),
            isBase64Encoded=True,
            headers={"content-type": "image/png"},
            multiValueHeaders={"Set-Cookie": ["a=1", "b=2"]},
        )
    ).get("/open")
    assert answer.content == image
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


async def test_a_functions_challenge_is_remapped_as_the_gateway_does() -> None:
    answer = await Gate(ok(headers={"WWW-Authenticate": "Bearer"})).get("/open")
    assert "www-authenticate" not in answer.headers
    assert answer.headers["x-amzn-remapped-www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (failing("ValueError", "no"), 502),
        (failing("Sandbox.Timedout", "Task timed out after 29.00 seconds"), 504),
        (Outcome(b"not json"), 502),
        (answering({"body": "no status"}), 502),
    ],
)
async def test_a_function_that_fails_is_a_gateway_error(outcome: Outcome, status: int) -> None:
    answer = await Gate(outcome).get("/open")
    assert answer.status_code == status
    assert "ValueError" not in answer.text


@pytest.mark.parametrize("size", [MAX_REQUEST + 1, MAX_PAYLOAD])
async def test_a_body_over_a_limit_is_refused_before_any_function(size: int) -> None:
    gate = Gate(ok())
    headers = {"Authorization": "Bearer t"}
    answer = await gate.client.post("/x/y", headers=headers, content=b"a" * size)
    assert (answer.status_code, answer.json()["kind"]) == (413, "REQUEST_TOO_LARGE")
    assert gate.function.events == []


async def test_a_body_below_the_limits_arrives_whole() -> None:
    gate = Gate(ok())
    content = json.dumps({"content": "é" * 100_000}).encode()
    await gate.client.post("/x/y", headers={"Authorization": "Bearer t"}, content=content)
    assert base64.b64decode(gate.function.events[0]["body"]) == content


async def test_a_body_of_two_lengths_is_refused_and_ends_the_connection() -> None:
    gate = Gate(ok())
    headers = {"Authorization": "Bearer t", "Content-Length": "2", "Transfer-Encoding": "chunked"}

    answer = await gate.client.post("/x/y", headers=headers, content=b"{}")

    assert (answer.status_code, answer.headers["connection"]) == (400, "close")
    assert gate.function.events == []


async def test_an_app_that_is_down_is_a_gateway_error() -> None:
    answer = await Gate(ok()).get("/stream")
    assert (answer.status_code, answer.json()["kind"]) == (502, "INTEGRATION_FAILURE")


async def test_a_request_that_was_never_whole_calls_no_function() -> None:
    gate = Gate(ok())
    scope = {
        "type": "http",
        "method": "POST",
        "raw_path": b"/x/y",
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer t")],
        "client": ("127.0.0.1", 1),
    }
    messages = iter(
        [
            {"type": "http.request", "body": b"half", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return next(messages)

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    await gate.app(scope, receive, send)
    assert sent == []
    assert gate.function.events == []
