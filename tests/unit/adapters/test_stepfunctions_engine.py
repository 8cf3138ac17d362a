"""The engine of runs, by what AWS Step Functions answers."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from archivolt.adapters.stepfunctions.engine import StepFunctionsEngine
from archivolt.domain.errors import UnavailableError
from archivolt.domain.run import Run, RunId
from tests.builders import ALICE, principal
from tests.fakes.clock import START

MACHINE = "arn:aws:states:eu-west-1:1:stateMachine:archivolt-agent-runs"
EXECUTION = "arn:aws:states:eu-west-1:1:execution:archivolt-agent-runs:r1-3"
RUN = Run(
    id=RunId("r1"),
    principal=principal(ALICE),
    goal="Do it.",
    created_at=START,
    updated_at=START,
    execution=3,
)


def refusal(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Operation")


@dataclass
class States:
    """A client that answers what it is told to, and remembers what it was asked."""

    answer: dict[str, Any] | Exception = field(default_factory=dict[str, Any])
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def _answered(self, **arguments: str) -> dict[str, Any]:
        self.asked.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    start_execution = send_task_success = stop_execution = describe_execution = _answered


def engine(answer: dict[str, Any] | Exception) -> tuple[StepFunctionsEngine, States]:
    states = States(answer)
    return StepFunctionsEngine(states, MACHINE), states


def test_an_execution_is_named_after_its_run_and_told_ids_alone() -> None:
    drives, states = engine({})

    drives.start(RUN)

    assert states.asked == [
        {
            "stateMachineArn": MACHINE,
            "name": "r1-3",
            "input": '{"tenant": "acme", "run": "r1", "execution": 3}',
        }
    ]


def test_an_execution_that_was_started_stays_as_it_is() -> None:
    drives, _ = engine(refusal("ExecutionAlreadyExists"))

    drives.start(RUN)


@pytest.mark.parametrize("code", ["TaskDoesNotExist", "TaskTimedOut", "InvalidToken"])
def test_who_no_longer_waits_is_not_told(code: str) -> None:
    drives, _ = engine(refusal(code))

    assert not drives.go_on("token")


def test_who_waits_is_told() -> None:
    drives, states = engine({})

    assert drives.go_on("token")
    assert states.asked == [{"taskToken": "token", "output": "{}"}]


@pytest.mark.parametrize(
    ("answer", "works"),
    [
        ({"status": "RUNNING"}, True),
        ({"status": "FAILED"}, False),
        ({"status": "SUCCEEDED"}, False),
        (refusal("ExecutionDoesNotExist"), False),
    ],
)
def test_whether_an_execution_works_on_a_run(
    answer: dict[str, Any] | Exception, works: bool
) -> None:
    drives, states = engine(answer)

    assert drives.works_on(RUN) is works
    assert states.asked == [{"executionArn": EXECUTION}]


def test_an_execution_that_is_not_there_is_stopped_already() -> None:
    drives, _ = engine(refusal("ExecutionDoesNotExist"))

    drives.stop(RUN)


@pytest.mark.parametrize(
    "error",
    [refusal("ThrottlingException"), EndpointConnectionError(endpoint_url="https://x")],
)
def test_an_engine_that_does_not_answer_is_unavailable(error: Exception) -> None:
    drives, _ = engine(error)

    for ask in (drives.start, drives.stop, drives.works_on):
        with pytest.raises(UnavailableError):
            ask(RUN)
    with pytest.raises(UnavailableError):
        drives.go_on("token")


def test_a_missing_right_is_no_answer() -> None:
    drives, _ = engine(refusal("AccessDeniedException", 403))

    with pytest.raises(ClientError):
        drives.works_on(RUN)
