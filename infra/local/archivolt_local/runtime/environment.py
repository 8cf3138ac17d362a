"""What a function finds in its environment.

What Lambda sets, what the deployment sets, and where the stack's services are instead of AWS.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from archivolt_local.children import Command
from archivolt_local.emulator import REGION
from archivolt_local.environment import for_children
from archivolt_local.places import REPOSITORY
from archivolt_local.provisioning.deployment import DeployedFunction
from archivolt_local.runtime.worker import runtime_client

_BEHIND = "10"


@dataclass(frozen=True, kw_only=True)
class LocalServices:
    """Where AWS's stand-ins answer, and the settings that differ from a deployment."""

    aws_url: str
    tables_url: str
    overrides: Mapping[str, str]
    defaults: Mapping[str, str]


def function_environment(
    function: DeployedFunction, services: LocalServices, credentials: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of one function's processes."""
    return {
        **for_children(),
        **services.defaults,
        **{name: value for name, value in function.environment.items() if value},
        **services.overrides,
        **aws_variables(services, credentials),
        **_lambda_variables(function),
        "PYTHONPATH": os.pathsep.join([str(function.folder), str(REPOSITORY / "shared")]),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{for_children().get('PATH', '')}",
    }


def aws_variables(services: LocalServices, credentials: Mapping[str, str]) -> dict[str, str]:
    """Return what makes an AWS SDK talk to the stack, as the holder of `credentials`."""
    return {
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": services.aws_url,
        "AWS_ENDPOINT_URL_DYNAMODB": services.tables_url,
        "AWS_EC2_METADATA_DISABLED": "true",
        **credentials,
    }


def _lambda_variables(function: DeployedFunction) -> dict[str, str]:
    return {
        "_HANDLER": function.handler,
        "LAMBDA_TASK_ROOT": str(function.folder),
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/archivolt/functions",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
    }


def worker_command(
    function: DeployedFunction,
    environment: Mapping[str, str],
    logs: Path,
    *,
    behind: bool = False,
) -> Command:
    """Return how to run a worker of a function; one that works `behind` leaves the cores to others.

    On AWS each has its own: what works by itself is not to keep people waiting here.
    """
    client = runtime_client(function.handler)
    return Command(
        name=function.name,
        arguments=["nice", "-n", _BEHIND, *client] if behind else client,
        environment=environment,
        log=logs / f"{function.short_name}.log",
        folder=function.folder,
    )
