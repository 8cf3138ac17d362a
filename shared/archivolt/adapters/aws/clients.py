"""One client per AWS service and execution environment, built when first used.

Timeouts are short and retries few: a person waits, and a queue retries by itself. The clients are
those of boto3, made by botocore without importing the rest of it.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.config import Config
from botocore.session import Session, get_session

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_events import EventBridgeClient
    from types_boto3_kms import KMSClient
    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient
    from types_boto3_sts import STSClient

_CONNECT_SECONDS: Final = 2
_READ_SECONDS: Final = 5
_READ_SECONDS_OF_OBJECTS: Final = 20
_ATTEMPTS: Final = 3
_CONNECTIONS: Final = 32


class AwsClients:
    """The clients of one process; botocore finds region, credentials and endpoint by itself.

    Args:
        path_style: Put the bucket into the path and not into the host name, as an endpoint without
            a wildcard name needs it.
        session: Finds region, credentials and endpoint; a usual one unless given.

    """

    def __init__(self, *, path_style: bool = False, session: Session | None = None) -> None:
        self.session = session or get_session()
        self.path_style = path_style

    @property
    def region(self) -> str:
        """The region of tables and objects."""
        return str(self.session.get_config_variable("region"))

    def close(self) -> None:
        """Let the connections go; they come back when they are needed."""
        for name in ("dynamodb", "s3", "kms"):
            if name in vars(self):
                vars(self)[name].close()

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        """Tables."""
        return self._client("dynamodb", config=_config(_READ_SECONDS))

    @cached_property
    def s3(self) -> "S3Client":
        """Objects. An address it signs covers the headers, and is of the bucket's own region."""
        style = Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if self.path_style else "virtual"},
        )
        config = _config(_READ_SECONDS_OF_OBJECTS).merge(style)
        return self._client("s3", config=config)

    @cached_property
    def sqs(self) -> "SQSClient":
        """Queues."""
        return self._client("sqs", config=_config(_READ_SECONDS))

    @cached_property
    def kms(self) -> "KMSClient":
        """Keys."""
        return self._client("kms", config=_config(_READ_SECONDS))

    @cached_property
    def events(self) -> "EventBridgeClient":
        """Events on a bus."""
        return self._client("events", config=_config(_READ_SECONDS))

    # There are no stubs of it here; its users say what they use.
    @cached_property
    def states(self) -> Any:  # noqa: ANN401  no stubs of it are installed
        """State machines."""
        return self._client("stepfunctions", config=_config(_READ_SECONDS))

    @cached_property
    def scheduler(self) -> Any:  # noqa: ANN401  no stubs of it are installed
        """Timers."""
        return self._client("scheduler", config=_config(_READ_SECONDS))

    @cached_property
    def sts(self) -> "STSClient":
        """Roles."""
        return self._client("sts", config=_config(_READ_SECONDS))

    # The stubs know every client by name; which one this is, the caller's return type says.
    def _client(self, service: str, *, config: Config) -> Any:  # noqa: ANN401
        return self.session.create_client(service, config=config)


def _config(read_seconds: int) -> Config:
    return Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        max_pool_connections=_CONNECTIONS,
        tcp_keepalive=True,
    )
