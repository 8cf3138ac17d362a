"""The REST API's authorizer, with the event that API Gateway sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import Principal, Role
from archivolt.entrypoints.events.authorizer import Handler, build_authorizer
from tests.builders import principal
from tests.fakes.governance import KnownTokens

EVENT = Path(__file__).parents[1] / "events" / "rest_api_authorizer_request.json"


@pytest.fixture
def event() -> dict[str, Any]:
    return json.loads(EVENT.read_text(encoding="utf-8"))


@pytest.fixture
def handler() -> Handler:
    tokens = KnownTokens({"alice": principal(role=Role.DEVOPS)})
    return build_authorizer(lambda: tokens)


def test_a_verified_token_may_call_every_method_of_the_stage(
    handler: Handler, event: dict[str, Any]
) -> None:
    answer = handler(event, None)

    assert answer["principalId"] == "alice"
    assert answer["policyDocument"] == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Action": "execute-api:Invoke",
                "Effect": "Allow",
                "Resource": "arn:aws:execute-api:eu-west-3:123456789012:a1b2c3d4e5/live/*",
            }
        ],
    }
    assert answer["context"] == {"tenant": "acme", "user": "alice", "role": "devops"}


@pytest.mark.parametrize("spelling", ["Authorization", "authorization", "AUTHORIZATION"])
def test_the_headers_name_may_be_spelled_in_any_way(
    handler: Handler, event: dict[str, Any], spelling: str
) -> None:
    event["headers"] = {"Accept": "*/*", spelling: "bearer alice"}

    assert handler(event, None)["principalId"] == "alice"


@pytest.mark.parametrize(
    "headers",
    [
        None,
        {},
        {"Accept": "*/*"},
        {"Authorization": ""},
        {"Authorization": "alice"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer stranger"},
        {"Authorization": "Basic alice"},
        {"Authorization": "Basic \xff"},
        {"Authorization": "Bearer \xff"},
    ],
)
def test_anything_else_makes_the_front_door_answer_401(
    handler: Handler, event: dict[str, Any], headers: dict[str, str] | None
) -> None:
    event["headers"] = headers

    with pytest.raises(Exception, match=r"^Unauthorized$"):
        handler(event, None)


class UnreachableProvider:
    def verify(self, token: str) -> Principal:
        raise UnavailableError("unavailable")


def test_a_provider_out_of_reach_is_no_401(event: dict[str, Any]) -> None:
    with pytest.raises(UnavailableError):
        build_authorizer(UnreachableProvider)(event, None)
