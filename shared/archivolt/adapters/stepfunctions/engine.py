"""Drives runs by a state machine of AWS Step Functions (`infra/statemachines/agent_run.asl.json`).

An execution is named after its run and its number, so that to start it twice is to start it once.
"""

import json
from typing import Any, Final, Protocol

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.domain.run import Run

_TAKEN: Final = "ExecutionAlreadyExists"
_NOT_WAITING: Final = frozenset({"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"})
_NOT_THERE: Final = frozenset({"ExecutionDoesNotExist", "ValidationException"})


class StatesClient(Protocol):
    """The part of the SDK's client that is used here."""

    def start_execution(self, **arguments: str) -> object:
        """Start an execution."""
        ...

    def send_task_success(self, **arguments: str) -> object:
        """Let a task that waits succeed."""
        ...

    def stop_execution(self, **arguments: str) -> object:
        """Stop an execution."""
        ...

    def describe_execution(self, **arguments: str) -> dict[str, Any]:
        """Describe an execution."""
        ...


class StepFunctionsEngine:
    """A `RunEngine` of one state machine."""

    def __init__(self, client: StatesClient, machine_arn: str) -> None:
        self._client = client
        self._machine = machine_arn

    def start(self, run: Run) -> None:
        """Start the execution that the run names."""
        task = {"tenant": run.tenant, "run": run.id, "execution": run.execution}
        try:
            with translated():
                self._client.start_execution(
                    stateMachineArn=self._machine, name=_name(run), input=json.dumps(task)
                )
        except ClientError as error:
            if code_of(error) != _TAKEN:
                raise

    def go_on(self, task_token: str) -> bool:
        """Let an execution that waits for a person go on."""
        try:
            with translated():
                self._client.send_task_success(taskToken=task_token, output="{}")
        except ClientError as error:
            if code_of(error) not in _NOT_WAITING:
                raise
            return False
        return True

    def stop(self, run: Run) -> None:
        """End the execution of a run."""
        try:
            with translated():
                self._client.stop_execution(executionArn=self._arn(run), error="run_cancelled")
        except ClientError as error:
            if code_of(error) not in _NOT_THERE:
                raise

    def works_on(self, run: Run) -> bool:
        """Tell whether the execution that the run names is under way."""
        try:
            with translated():
                found = self._client.describe_execution(executionArn=self._arn(run))
        except ClientError as error:
            if code_of(error) not in _NOT_THERE:
                raise
            return False
        return found["status"] == "RUNNING"

    def _arn(self, run: Run) -> str:
        return f"{self._machine.replace(':stateMachine:', ':execution:')}:{_name(run)}"


def _name(run: Run) -> str:
    return f"{run.id}-{run.execution}"
