from collections.abc import Mapping
from typing import Any

import pytest

from archivolt_local.gateway.api import ApiDefinition


def integration(function: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    path = f"lambda:path/2015-03-31/functions/arn:aws:lambda:r:0:function:{function}/invocations"
    uri = f"arn:aws:apigateway:r:{path}"
    return {"uri": uri, "type": "aws_proxy", **more}


def body(paths: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    authorizer = {
        "identitySource": "method.request.header.Authorization",
        "authorizerResultTtlInSeconds": 60,
        "authorizerUri": integration("guard")["uri"],
    }
    scheme = {"x-amazon-apigateway-authorizer": authorizer}
    return {
        "paths": {
            path: {
                method: {"x-amazon-apigateway-integration": value, "security": [{"Bearer": []}]}
                for method, value in methods.items()
            }
            for path, methods in paths.items()
        },
        "components": {"securitySchemes": {"Bearer": scheme}},
        "x-amazon-apigateway-gateway-responses": {},
    }


ANY = "x-amazon-apigateway-any-method"
API = ApiDefinition(
    body(
        {
            "/a": {"get": integration("exact")},
            "/a/{proxy+}": {ANY: integration("greedy")},
            "/a/fixed": {"get": integration("fixed")},
            "/a/deep/{proxy+}": {ANY: integration("deeper")},
            "/item/{id}/part": {"get": integration("part")},
        }
    )
)


def function_for(method: str, path: str) -> str | None:
    match = API.match(method, path)
    return match.route.function if match else None


@pytest.mark.parametrize(
    ("method", "path", "function"),
    [
        ("GET", "/a", "exact"),
        ("GET", "/a/", "exact"),
        ("GET", "/a/x/y", "greedy"),
        ("DELETE", "/a/x", "greedy"),
        ("GET", "/a/fixed", "fixed"),
        ("GET", "/a/deep/x", "deeper"),
        ("GET", "/a/deep", "greedy"),
        ("GET", "/item/7/part", "part"),
        ("GET", "/item/7", None),
        ("GET", "/b", None),
    ],
)
def test_the_most_specific_resource_answers(method: str, path: str, function: str | None) -> None:
    assert function_for(method, path) == function


def test_a_resource_that_lacks_the_method_hides_the_less_specific_one() -> None:
    assert function_for("POST", "/a/fixed") is None


def test_path_parameters_stay_percent_encoded() -> None:
    match = API.match("GET", "/a/one%2Ftwo/tr%C3%A8s%20bien")
    assert match is not None
    assert match.parameters == {"proxy": "one%2Ftwo/tr%C3%A8s%20bien"}


def test_an_encoded_slash_does_not_separate_segments() -> None:
    match = API.match("GET", "/item/a%2Fb/part")
    assert match is not None
    assert match.parameters == {"id": "a%2Fb"}
