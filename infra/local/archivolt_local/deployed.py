"""A stack on AWS, as its outputs tell where it is, for commands that work there too."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from archivolt.domain.errors import UnavailableError
from archivolt.domain.messages import Language
from archivolt.settings import Settings
from archivolt_local.problems import StartError

if TYPE_CHECKING:
    from types_boto3_cloudformation import CloudFormationClient

    from archivolt.bootstrap import Container

# Outputs of template.yaml.
_CONTROL: Final = "ControlTableName"
_CATALOGUE: Final = "CatalogueTableName"
_SYNC: Final = "SyncQueueUrl"
_AUDIT: Final = "AuditTableName"
_DOCUMENTS: Final = "DocumentsBucketName"


def cloudformation() -> "CloudFormationClient":
    """Return a client with the region and the credentials of the shell.

    Raises:
        StartError: The shell names no region.

    """
    # The stubs installed are those of a few services.
    make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    try:
        return make("cloudformation")
    except BotoCoreError as error:
        raise StartError(f"AWS cannot be reached: {error}") from error


@contextmanager
def deployed(name: str) -> Generator["Container"]:
    """Give the container of a stack on AWS, with the credentials of the shell.

    Raises:
        StartError: As for `deployed_settings`, or the stack cannot be reached.

    """
    from archivolt.bootstrap import Container  # noqa: PLC0415  heavy

    container = Container(deployed_settings(cloudformation(), name))
    try:
        yield container
    except UnavailableError as error:
        raise StartError(error.message(Language.EN)) from error


def deployed_settings(stacks: "CloudFormationClient", name: str) -> Settings:
    """Return where the parts of a deployed stack are.

    Raises:
        StartError: There is no such stack within reach, or it is none of Archivolt.

    """
    try:
        [stack] = stacks.describe_stacks(StackName=name)["Stacks"]
    except (BotoCoreError, ClientError) as error:
        raise StartError(f"The stack {name} cannot be looked up: {error}") from error
    outputs = {
        output.get("OutputKey", ""): output.get("OutputValue", "")
        for output in stack.get("Outputs", [])
    }
    if not outputs.keys() >= {_CONTROL, _CATALOGUE, _SYNC, _AUDIT, _DOCUMENTS}:
        raise StartError(f"The stack {name} is not one of Archivolt's template.")
    return Settings(
        control_table=outputs[_CONTROL],
        catalogue_table=outputs[_CATALOGUE],
        sync_queue_url=outputs[_SYNC],
        audit_table=outputs[_AUDIT],
        documents_bucket=outputs[_DOCUMENTS],
    )
