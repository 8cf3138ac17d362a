"""The state machine of agent runs: valid, small, and every name of an error in it is a real one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import samtranslator  # pyright: ignore[reportMissingTypeStubs]

from archivolt.domain import errors
from archivolt.domain.run_limits import RUN_PROVIDER_DOWN_SECONDS
from archivolt_local.places import REPOSITORY, TEMPLATE
from archivolt_local.provisioning.sam import parse_template

DOCUMENT = REPOSITORY / "infra" / "statemachines" / "agent_run.asl.json"
# The schema of the states language that AWS publishes with its linter of templates.
SCHEMA = "lib/python3.*/site-packages/cfnlint/data/schemas/other/step_functions/statemachine.json"
# AWS Step Functions developer guide, "Handling errors": its own, and those of Lambda functions.
OF_AWS = {
    "States.ALL",
    "States.Timeout",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Sandbox.Timedout",
}
OURS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ArchivoltError)
}
# What may come right by itself; any other error of ours would come again.
TRIED_AGAIN = {"UnavailableError", "RateLimitedError", "ConflictError"}

State = dict[str, Any]


@pytest.fixture(scope="module")
def machine() -> State:
    return json.loads(DOCUMENT.read_text(encoding="utf-8"))


def states(machine: State) -> Iterator[tuple[str, State]]:
    for name, state in cast("dict[str, State]", machine["States"]).items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])


def tasks(machine: State) -> list[tuple[str, State]]:
    return [(name, state) for name, state in states(machine) if state["Type"] == "Task"]


def errors_in(rules: list[State]) -> set[str]:
    return {name for rule in rules for name in rule["ErrorEquals"]}


def test_it_is_valid_by_the_published_schema(machine: State) -> None:
    sam = REPOSITORY / ".tools" / "sam"
    if not sam.exists():
        pytest.skip("AWS SAM is not installed (make setup)")
    [schema_file] = sam.glob(SCHEMA)
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    jsonschema.validate(machine, schema)

    broken = json.loads(json.dumps(machine))
    del broken["States"]["Step"]["Resource"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_every_state_can_be_reached_and_leads_somewhere(machine: State) -> None:
    def reached(part: State) -> None:
        names: dict[str, State] = part["States"]
        led = {part["StartAt"]} | {
            following
            for state in names.values()
            for following in (
                state.get("Next"),
                state.get("Default"),
                *(rule["Next"] for rule in state.get("Choices", [])),
                *(rule["Next"] for rule in state.get("Catch", [])),
            )
            if following
        }
        assert led == set(names)
        for state in names.values():
            ends = state.get("End") or state["Type"] in {"Succeed", "Fail"}
            assert ends or "Next" in state or "Default" in state
            if "ItemProcessor" in state:
                reached(state["ItemProcessor"])

    reached(machine)


def test_every_error_that_is_tried_again_is_one_that_there_is(machine: State) -> None:
    named = set[str]()
    for _, state in states(machine):
        named |= errors_in([*state.get("Retry", []), *state.get("Catch", [])])

    assert named <= OF_AWS | OURS
    assert named & OURS == TRIED_AGAIN


def test_tasks_are_tried_again_with_pauses_that_grow_and_differ(machine: State) -> None:
    for name, task in tasks(machine):
        assert errors_in(task["Retry"]) >= TRIED_AGAIN, name
        for rule in task["Retry"]:
            assert rule["BackoffRate"] > 1, name
            assert rule["JitterStrategy"] == "FULL", name
            assert "MaxDelaySeconds" in rule, name


def test_a_provider_may_be_down_for_as_long_as_a_run_waits_for_it(machine: State) -> None:
    [rule] = [
        rule
        for rule in machine["States"]["Step"]["Retry"]
        if "UnavailableError" in rule["ErrorEquals"]
    ]
    pause, waited = float(rule["IntervalSeconds"]), 0.0
    for _ in range(rule["MaxAttempts"]):
        waited += min(pause, rule["MaxDelaySeconds"]) / 2  # full jitter halves it on average
        pause *= rule["BackoffRate"]

    assert waited > RUN_PROVIDER_DOWN_SECONDS * 1.2


def test_whatever_breaks_is_recorded(machine: State) -> None:
    outer: dict[str, State] = machine["States"]
    for name in ("Step", "Tools", "Approvals"):
        [rule] = outer[name]["Catch"]
        assert (rule["ErrorEquals"], rule["Next"]) == (["States.ALL"], "BrokeOff")
    assert outer["BrokeOff"]["Parameters"]["Payload"]["error.$"] == "$.error.Error"


def test_no_task_waits_for_ever(machine: State) -> None:
    for name, task in tasks(machine):
        assert "TimeoutSeconds" in task or "TimeoutSecondsPath" in task, name


def test_it_carries_ids_alone(machine: State) -> None:
    for _, task in tasks(machine):
        payload = cast("State", task["Parameters"]["Payload"])
        assert set(payload) <= {
            "do",
            "tenant.$",
            "run.$",
            "execution.$",
            "retries.$",
            "call.$",
            "token.$",
            "error.$",
            "cause.$",
        }
        # Nothing that a task answers is carried along, but what to do next and with which calls.
        kept = set(task.get("ResultSelector", {}))
        assert task["ResultPath"] is None or kept <= {"next.$", "calls.$", "waits.$", "seconds.$"}


def test_who_tells_a_run_to_go_on_names_the_machine_as_the_tools_of_aws_do() -> None:
    policies = Path(samtranslator.__file__).parent / "policy_templates_data/policy_templates.json"
    known = json.loads(policies.read_text(encoding="utf-8"))["Templates"]
    [theirs] = known["StepFunctionsCallbackPolicy"]["Definition"]["Statement"]
    form, _ = theirs["Resource"]["Fn::Sub"]
    template = parse_template(TEMPLATE.read_text(encoding="utf-8"))
    ours = [
        statement["Resource"]["Fn::Sub"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
        for policy in resource["Properties"].get("Policies", [])
        for statement in policy["Statement"]
        if "states:SendTaskSuccess" in statement["Action"]
    ]

    assert len(ours) == 2
    assert set(ours) == {form.replace("${stateMachineName}", "${AWS::StackName}-agent-runs")}
