import json
from pathlib import Path
from typing import Any

import pytest

from archivolt_local.json_values import json_items
from archivolt_local.provisioning.intrinsics import (
    Resolver,
    UnknownReferenceError,
    resolver_for,
)
from archivolt_local.provisioning.kept_data import lifecycle_rule
from archivolt_local.provisioning.rewrites import FINGERPRINT_OUTPUT, for_emulator
from archivolt_local.provisioning.template import Template, load_template

ROOT = Path(__file__).parents[3]
PARAMETERS = {
    "PublicUrl": "http://127.0.0.1:8080",
    "AuthIssuer": "archivolt-local",
    "AuthJwksUrl": "http://127.0.0.1:8080/none",
    "QdrantUrl": "http://127.0.0.1:6333",
    "QdrantApiKey": "a-key",
}


@pytest.fixture(scope="module")
def template() -> Template:
    return load_template(ROOT / "template.yaml", PARAMETERS)


@pytest.fixture(scope="module")
def rewritten(template: Template) -> dict[str, Any]:
    known = resolver_for(template, PARAMETERS, "archivolt").names
    return for_emulator(template, known, "a-fingerprint")


def types_of(document: dict[str, Any]) -> set[str]:
    return {resource["Type"] for resource in document["Resources"].values()}


def test_data_that_outlives_a_deployment_is_not_part_of_it(rewritten: dict[str, Any]) -> None:
    assert not {"AWS::S3::Bucket", "AWS::DynamoDB::Table"} & types_of(rewritten)


def test_the_emulator_has_nothing_that_would_make_it_run_a_function(
    rewritten: dict[str, Any],
) -> None:
    assert "AWS::Lambda::EventSourceMapping" not in types_of(rewritten)
    assert "ScheduleExpression" not in json.dumps(rewritten)


def test_every_function_keeps_its_role_its_time_and_its_variables(
    template: Template, rewritten: dict[str, Any]
) -> None:
    functions = dict(template.of_type("AWS::Lambda::Function"))
    assert functions
    for name, properties in functions.items():
        after = rewritten["Resources"][name]["Properties"]
        for kept in ("FunctionName", "Handler", "Role", "Timeout", "MemorySize"):
            assert after[kept] == properties[kept]
        assert set(after["Environment"]["Variables"]) == set(properties["Environment"]["Variables"])


def test_references_to_kept_data_become_names_and_arns(rewritten: dict[str, Any]) -> None:
    tools = rewritten["Resources"]["ToolsFunction"]["Properties"]["Environment"]["Variables"]
    assert tools["CONTROL_TABLE"] == "archivolt-control"
    policies = json.dumps(rewritten["Resources"]["ToolsFunctionRole"])
    assert "arn:aws:dynamodb:us-east-1:000000000000:table/archivolt-control" in policies
    text = json.dumps(rewritten)
    assert "ControlTable.Arn" not in text
    assert '"DocumentsBucket"' not in text


def test_policies_keep_every_statement(template: Template, rewritten: dict[str, Any]) -> None:
    for name, properties in template.of_type("AWS::IAM::Role"):
        after = rewritten["Resources"][name]["Properties"]
        before = [statement for p in properties.get("Policies", []) for statement in _of(p)]
        kept = [statement for p in after.get("Policies", []) for statement in _of(p)]
        assert [_without_batches(s) for s in kept] == [
            (s["Effect"], set(json_items(s["Action"])), s.get("Condition")) for s in before
        ]


def _without_batches(statement: dict[str, Any]) -> tuple[str, set[str], Any]:
    actions = set(statement["Action"]) - {"sqs:SendMessageBatch"}
    return statement["Effect"], actions, statement.get("Condition")


def _of(policy: dict[str, Any]) -> list[dict[str, Any]]:
    return policy["PolicyDocument"]["Statement"]


def test_who_may_send_a_message_may_send_several(rewritten: dict[str, Any]) -> None:
    (policy,) = rewritten["Resources"]["ToolsFunctionRole"]["Properties"]["Policies"]
    sending = [s["Action"] for s in _of(policy) if "sqs:SendMessage" in s["Action"]]

    assert sending
    assert all(actions == ["sqs:SendMessage", "sqs:SendMessageBatch"] for actions in sending)
    assert ["s3:PutObject", "s3:DeleteObject"] in [s["Action"] for s in _of(policy)]


def test_a_deployment_tells_what_it_was_made_from(rewritten: dict[str, Any]) -> None:
    assert rewritten["Outputs"][FINGERPRINT_OUTPUT] == {"Value": "a-fingerprint"}


RESOLVER = Resolver(
    {"Name": "value", "Queue": "q", "Queue.Arn": "arn:q", "AWS::Region": "r"},
    {"IsSet": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Name"}, ""]}]}},
)


@pytest.mark.parametrize(
    ("value", "resolved"),
    [
        ({"Ref": "Name"}, "value"),
        ({"Fn::GetAtt": ["Queue", "Arn"]}, "arn:q"),
        ({"Fn::GetAtt": "Queue.Arn"}, "arn:q"),
        ({"Fn::Sub": "x-${Name}-${Queue.Arn}-${AWS::Region}"}, "x-value-arn:q-r"),
        ({"Fn::Sub": "${!Name}"}, "${!Name}"),
        ({"Fn::Join": [":", ["a", {"Ref": "Name"}]]}, "a:value"),
        ({"Fn::If": ["IsSet", "yes", "no"]}, "yes"),
        ({"a": {"Ref": "AWS::NoValue"}, "b": [1, {"Ref": "AWS::NoValue"}]}, {"b": [1]}),
        ({"Ref": "Name", "more": 1}, {"Ref": "Name", "more": 1}),
        ([True, 5, None], [True, 5, None]),
    ],
)
def test_an_intrinsic_function_has_a_value(value: object, resolved: object) -> None:
    assert RESOLVER.resolve(value) == resolved


@pytest.mark.parametrize(
    "value", [{"Ref": "Api"}, {"Fn::GetAtt": ["Role", "Arn"]}, {"Fn::ImportValue": "x"}]
)
def test_what_only_a_deployment_decides_is_refused(value: object) -> None:
    with pytest.raises(UnknownReferenceError):
        RESOLVER.resolve(value)


def test_a_lifecycle_rule_of_the_template_becomes_one_of_the_api() -> None:
    rule = {
        "Id": "old",
        "Status": "Enabled",
        "Prefix": "derived/",
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
        "ExpiredObjectDeleteMarker": True,
    }
    assert lifecycle_rule(rule) == {
        "ID": "old",
        "Status": "Enabled",
        "Filter": {"Prefix": "derived/"},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
        "Expiration": {"ExpiredObjectDeleteMarker": True},
    }
