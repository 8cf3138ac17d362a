"""Deploys the template on the emulator and tells what came of it."""

import hashlib
import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from archivolt_local.emulator import REGION
from archivolt_local.problems import StartError
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.provisioning.intrinsics import ACCOUNT, Resolver, resolver_for
from archivolt_local.provisioning.kept_data import (
    ensure_bucket,
    ensure_tables,
    ensure_timer_groups,
)
from archivolt_local.provisioning.rewrites import FINGERPRINT_OUTPUT, for_emulator
from archivolt_local.provisioning.template import Template, load_template

STACK = "archivolt"
_DEPLOY_SECONDS = 60.0
_TEMPLATE_KEY = "deployment/template.json"


@dataclass(frozen=True, kw_only=True)
class DeployedFunction:
    """A function as the deployment resolved it. `timeout` in seconds, `memory` in MB."""

    name: str
    folder: Path
    handler: str
    role: str
    timeout: int
    memory: int
    environment: Mapping[str, str]

    @property
    def arn(self) -> str:
        """The function's ARN."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.name}"

    @property
    def short_name(self) -> str:
        """The name of its folder."""
        return self.folder.name


@dataclass(frozen=True, kw_only=True)
class EventSource:
    """A queue that feeds a function."""

    queue_name: str
    queue_arn: str
    function: str
    batch_size: int
    reports_failures: bool


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A function called regularly."""

    function: str
    rule: str
    expression: str


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What runs. `api` is the body of the REST API with every reference resolved.

    `called_by_machines` are the functions that state machines call, `timer_groups` are those of
    EventBridge Scheduler.
    """

    functions: Mapping[str, DeployedFunction]
    event_sources: Sequence[EventSource]
    schedules: Sequence[Schedule]
    api: Mapping[str, Any]
    called_by_machines: frozenset[str] = frozenset()
    timer_groups: Sequence[str] = ()


def deploy(path: Path, parameters: Mapping[str, str], aws: StackClients) -> Deployment:
    """Bring the emulator to what the template says; a second time it changes nothing.

    Raises:
        StartError: The template is not valid, or could not be deployed.

    """
    template = load_template(path, parameters)
    resolver = resolver_for(template, parameters, STACK)
    for _, properties in template.of_type("AWS::S3::Bucket"):
        ensure_bucket(aws.objects, resolver.resolve(properties))
    tables = template.of_type("AWS::DynamoDB::Table")
    ensure_tables(aws.tables, [resolver.resolve(properties) for _, properties in tables])
    groups = [
        str(resolver.resolve(properties["Name"]))
        for _, properties in template.of_type("AWS::Scheduler::ScheduleGroup")
    ]
    ensure_timer_groups(aws.timers, groups)
    _ensure_stack(template, resolver, parameters, aws)
    names = {str(resolver.names[name]): name for name in template.folders}
    return Deployment(
        functions={
            name: _deployed(name, template.folders[logical_id], aws)
            for name, logical_id in names.items()
        },
        event_sources=_event_sources(template, resolver),
        schedules=_schedules(template, resolver),
        api=_api(template, resolver),
        called_by_machines=_called_by_machines(template, resolver),
        timer_groups=groups,
    )


def _ensure_stack(
    template: Template, resolver: Resolver, parameters: Mapping[str, str], aws: StackClients
) -> None:
    content = json.dumps(
        [template.document, dict(template.machines), dict(parameters)], sort_keys=True
    )
    fingerprint = hashlib.sha256(content.encode()).hexdigest()
    present = _stack(aws)
    if present and present["StackStatus"] == "CREATE_COMPLETE":
        outputs = {item["OutputKey"]: item["OutputValue"] for item in present["Outputs"]}
        if outputs.get(FINGERPRINT_OUTPUT) == fingerprint:
            return
    if present:
        aws.cloudformation.delete_stack(StackName=STACK)
        _wait(aws, "DELETE_COMPLETE")
    document = for_emulator(template, resolver.names, fingerprint)
    bucket = str(resolver.names["DocumentsBucket"])
    with _uploaded(json.dumps(document), bucket, aws) as address:
        aws.cloudformation.create_stack(
            StackName=STACK,
            TemplateURL=address,
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in parameters.items()
            ],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
        )
        _wait(aws, "CREATE_COMPLETE")


@contextmanager
def _uploaded(text: str, bucket: str, aws: StackClients) -> Generator[str]:
    """Have a template in S3 for a while, and give its address: a request takes 51,200 bytes of one.

    AWS CloudFormation user guide, "Quotas"; from S3 it takes a megabyte.
    """
    version = aws.objects.put_object(Bucket=bucket, Key=_TEMPLATE_KEY, Body=text.encode())
    try:
        yield f"{aws.url}/{bucket}/{_TEMPLATE_KEY}"
    finally:
        aws.objects.delete_object(Bucket=bucket, Key=_TEMPLATE_KEY, VersionId=version["VersionId"])


def _stack(aws: StackClients) -> Mapping[str, Any] | None:
    try:
        return aws.cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
    except ClientError:
        return None


def _wait(aws: StackClients, wanted: str) -> None:
    deadline = time.monotonic() + _DEPLOY_SECONDS
    status = ""
    while time.monotonic() < deadline:
        stack = _stack(aws)
        status = stack["StackStatus"] if stack else "DELETE_COMPLETE"
        if status == wanted:
            return
        if not status.endswith("IN_PROGRESS"):
            break
        time.sleep(0.05)
    raise StartError(f"The template could not be deployed ({status}): {_first_failure(aws)}")


def _first_failure(aws: StackClients) -> str:
    events = aws.cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
    failures = [
        f"{event.get('LogicalResourceId')}: {event.get('ResourceStatusReason')}"
        for event in events
        if "FAILED" in event.get("ResourceStatus", "")
    ]
    return failures[-1] if failures else "no reason given"


def _deployed(name: str, folder: Path, aws: StackClients) -> DeployedFunction:
    configuration = aws.functions.get_function_configuration(FunctionName=name)
    return DeployedFunction(
        name=name,
        folder=folder,
        handler=configuration["Handler"],
        role=configuration["Role"],
        timeout=configuration["Timeout"],
        memory=configuration["MemorySize"],
        environment=configuration.get("Environment", {}).get("Variables", {}),
    )


def _event_sources(template: Template, resolver: Resolver) -> list[EventSource]:
    mappings = template.of_type("AWS::Lambda::EventSourceMapping")
    return [_event_source(resolver.resolve(properties)) for _, properties in mappings]


def _event_source(mapping: Mapping[str, Any]) -> EventSource:
    arn = str(mapping["EventSourceArn"])
    return EventSource(
        queue_name=arn.rpartition(":")[2],
        queue_arn=arn,
        function=mapping["FunctionName"],
        batch_size=int(mapping.get("BatchSize", 10)),
        reports_failures="ReportBatchItemFailures" in mapping.get("FunctionResponseTypes", []),
    )


def _schedules(template: Template, resolver: Resolver) -> list[Schedule]:
    return [
        Schedule(
            function=str(resolver.resolve(target["Arn"])).rpartition(":")[2],
            rule=name,
            expression=properties["ScheduleExpression"],
        )
        for name, properties in template.of_type("AWS::Events::Rule")
        if "ScheduleExpression" in properties
        for target in properties["Targets"]
    ]


def _called_by_machines(template: Template, resolver: Resolver) -> frozenset[str]:
    machines = template.of_type("AWS::StepFunctions::StateMachine")
    given = (resolver.resolve(each.get("DefinitionSubstitutions", {})) for _, each in machines)
    arns = (str(value) for values in given for value in values.values())
    return frozenset(arn.rpartition(":")[2] for arn in arns if ":function:" in arn)


def _api(template: Template, resolver: Resolver) -> Mapping[str, Any]:
    bodies = [properties["Body"] for _, properties in template.of_type("AWS::ApiGateway::RestApi")]
    return resolver.resolve(bodies[0])
