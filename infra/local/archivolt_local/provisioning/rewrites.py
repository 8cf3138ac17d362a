"""What is changed in the template before the emulator gets it, and why.

- The bucket, the tables and the groups of timers outlive every deployment: they are ensured apart,
  and the stack refers to them by name.
- Functions run in our own host: no layers, no event source mappings, no schedules, or the emulator
  would run them too; it keeps their configuration and roles.
- The stack may assume the functions' roles, to give their workers credentials; those that functions
  assume themselves trust whom the template says.
- A right to send one message is one to send several, as AWS has it: the emulator knows the name of
  the call alone.
- The text of a state machine is in a file that AWS SAM uploads: it is written into the template.
- A right to answer tasks of a state machine is one to answer any: a request names its token alone.
  One to the timers of a group is one to any: the emulator takes every group for the default one.
- The API is ours to serve, and nobody looks at alarms: of the API only the first path is left, of
  the alarms nothing.
- The bucket's "encrypted connections only" is lifted: the loopback speaks HTTP.
"""

from collections.abc import Mapping
from typing import Any, cast

from archivolt_local.json_values import JsonValue
from archivolt_local.provisioning.template import Template

KEPT_DATA = ("AWS::S3::Bucket", "AWS::DynamoDB::Table")
_LEFT_OUT = (
    *KEPT_DATA,
    "AWS::S3::BucketPolicy",
    "AWS::Scheduler::ScheduleGroup",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::CloudWatch::Alarm",
)
FINGERPRINT_OUTPUT = "LocalFingerprint"


def for_emulator(template: Template, known: Mapping[str, str], fingerprint: str) -> dict[str, Any]:
    """Return the document to deploy. `known` gives the value of `X` and `X.Arn` of kept data."""
    kept = {name for name, _ in template.of_type(*KEPT_DATA)}
    literals = {name: value for name, value in known.items() if name.partition(".")[0] in kept}
    resources = {
        name: _rewritten(resource, template.machines.get(name, ""))
        for name, resource in template.resources.items()
        if resource["Type"] not in _LEFT_OUT and not _is_schedule(resource)
    }
    document = {**template.document, "Resources": resources}
    outputs = {**document.get("Outputs", {}), FINGERPRINT_OUTPUT: {"Value": fingerprint}}
    return _with_literals({**document, "Outputs": outputs}, literals)


def _is_schedule(resource: Mapping[str, Any]) -> bool:
    return "ScheduleExpression" in resource.get("Properties", {})


def _rewritten(resource: Mapping[str, Any], machine: str) -> dict[str, Any]:
    properties = dict(resource.get("Properties", {}))
    if machine:
        del properties["DefinitionS3Location"]
        properties["DefinitionString"] = machine
    if resource["Type"] == "AWS::Lambda::Function":
        properties.pop("Layers", None)
        properties["Code"] = {"ZipFile": "# runs from source, in the stack's own host"}
    if resource["Type"] == "AWS::ApiGateway::RestApi":
        properties["Body"] = _first_path(properties["Body"])
    if resource["Type"] == "AWS::IAM::Role":
        properties["AssumeRolePolicyDocument"] = _assumable(properties["AssumeRolePolicyDocument"])
        properties["Policies"] = [_with_batches(each) for each in properties.get("Policies", [])]
    return {**resource, "Properties": properties}


def _first_path(body: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: body[name] for name in ("openapi", "info")}
    return {**kept, "paths": dict(list(body["paths"].items())[:1])}


def _assumable(policy: Mapping[str, Any]) -> dict[str, Any]:
    if not any("Service" in statement["Principal"] for statement in policy["Statement"]):
        return dict(policy)
    account = {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}
    ours = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": account}}
    return {**policy, "Statement": [*policy["Statement"], ours]}


def _with_batches(policy: Mapping[str, Any]) -> dict[str, Any]:
    document = policy["PolicyDocument"]
    statements = [
        {
            **statement,
            "Action": [*_listed(statement["Action"]), *_batches(statement["Action"])],
            "Resource": "*" if _is_unbound(statement["Action"]) else statement["Resource"],
        }
        for statement in document["Statement"]
    ]
    return {**policy, "PolicyDocument": {**document, "Statement": statements}}


def _is_unbound(actions: JsonValue) -> bool:
    listed = _listed(actions)
    return "states:SendTaskSuccess" in listed or any("scheduler:" in each for each in listed)


def _batches(actions: JsonValue) -> list[str]:
    return ["sqs:SendMessageBatch"] if "sqs:SendMessage" in _listed(actions) else []


def _listed(value: JsonValue) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _with_literals(value: JsonValue, literals: Mapping[str, str]) -> JsonValue:
    if isinstance(value, list):
        return [_with_literals(item, literals) for item in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    items = cast("Mapping[str, Any]", value)
    if set(items) == {"Ref"} and items["Ref"] in literals:
        return literals[items["Ref"]]
    if set(items) == {"Fn::GetAtt"}:
        attribute = items["Fn::GetAtt"]
        name = attribute if isinstance(attribute, str) else ".".join(attribute)
        if name in literals:
            return literals[name]
    if set(items) == {"Fn::Sub"} and isinstance(items["Fn::Sub"], str):
        text = items["Fn::Sub"]
        for name, literal in literals.items():
            text = text.replace(f"${{{name}}}", literal)
        return {"Fn::Sub": text}
    return {key: _with_literals(item, literals) for key, item in items.items()}
