"""AWS clients on the loopback: the stack's own, which may do anything, or a role's."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import boto3
from botocore.config import Config

from archivolt_local.emulator import REGION, ROOT_CREDENTIALS

if TYPE_CHECKING:
    from types_boto3_cloudformation import CloudFormationClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_kms import KMSClient
    from types_boto3_lambda import LambdaClient
    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient
    from types_boto3_sts import STSClient


@dataclass(frozen=True)
class StackClients:
    """One client of each service the stack needs; `tables_url` is where DynamoDB answers.

    `credentials` are SDK variables; the emulator's root unless given.
    """

    url: str
    tables_url: str
    credentials: Mapping[str, str] = field(default_factory=lambda: ROOT_CREDENTIALS, repr=False)

    def as_role(self, arn: str) -> "StackClients":
        """Return the clients of somebody who assumed a role."""
        given = self.roles.assume_role(RoleArn=arn, RoleSessionName="archivolt")["Credentials"]
        credentials = {
            "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
            "AWS_SESSION_TOKEN": given["SessionToken"],
        }
        return replace(self, credentials=credentials)

    def _client(self, service: str, url: str) -> Any:  # noqa: ANN401  each property names its type
        # The stubs installed are those of a few services.
        make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
        return make(
            service,
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=self.credentials["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.credentials["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=self.credentials.get("AWS_SESSION_TOKEN"),
            config=Config(retries={"max_attempts": 2}, max_pool_connections=20),
        )

    @cached_property
    def cloudformation(self) -> "CloudFormationClient":
        """CloudFormation."""
        return self._client("cloudformation", self.url)

    @cached_property
    def functions(self) -> "LambdaClient":
        """Lambda: the configuration of functions."""
        return self._client("lambda", self.url)

    @cached_property
    def objects(self) -> "S3Client":
        """S3."""
        return self._client("s3", self.url)

    @cached_property
    def queues(self) -> "SQSClient":
        """SQS."""
        return self._client("sqs", self.url)

    @cached_property
    def keys(self) -> "KMSClient":
        """KMS."""
        return self._client("kms", self.url)

    @cached_property
    def roles(self) -> "STSClient":
        """STS."""
        return self._client("sts", self.url)

    @cached_property
    def timers(self) -> Any:  # noqa: ANN401  no stubs of it are installed
        """EventBridge Scheduler."""
        return self._client("scheduler", self.url)

    @cached_property
    def tables(self) -> "DynamoDBClient":
        """DynamoDB."""
        return self._client("dynamodb", self.tables_url)
