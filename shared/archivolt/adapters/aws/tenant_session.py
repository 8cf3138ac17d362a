"""AWS clients with credentials for one tenant: of a role, under a session policy (R4).

The credentials are asked for when they are first needed, last an hour and are renewed before they
end. Queues are nobody's: messages go out with the function's own right.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.credentials import DeferredRefreshableCredentials
from botocore.session import Session

from archivolt.adapters.aws.clients import AwsClients
from archivolt.adapters.s3.absence import tell_absence_from_refusal

if TYPE_CHECKING:
    from types_boto3_events import EventBridgeClient
    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient

# A role that was assumed by a role lasts no longer (AWS IAM user guide, "Role chaining").
_SESSION_SECONDS: Final = 3_600
_MAX_NAME_CHARS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAccess:
    """A role, the policy that narrows it, and the name under which the trail of AWS shows it."""

    role: str
    policy: str
    name: str


class TenantClients(AwsClients):
    """The clients of one tenant.

    Args:
        function: The clients of the function that works for the tenant.
        access: What the tenant's have in their place.

    """

    def __init__(self, function: AwsClients, access: TenantAccess) -> None:
        super().__init__(path_style=function.path_style, session=Session())
        self._function = function
        self._access = access
        # Descriptions of services are large, and the same for every tenant.
        loader = function.session.get_component("data_loader")
        self.session.register_component("data_loader", loader)
        self.session.register_component("credential_provider", self)

    def load_credentials(self) -> DeferredRefreshableCredentials:
        """Return the credentials; nothing is asked yet."""
        return DeferredRefreshableCredentials(
            refresh_using=self._assumed, method="session-of-one-tenant"
        )

    @cached_property
    def s3(self) -> "S3Client":
        """Objects of the tenant."""
        client = super().s3
        tell_absence_from_refusal(client)
        return client

    @cached_property
    def sqs(self) -> "SQSClient":
        """Queues."""
        return self._function.sqs

    @cached_property
    def events(self) -> "EventBridgeClient":
        """Events on a bus."""
        return self._function.events

    def _assumed(self) -> dict[str, Any]:
        given = self._function.sts.assume_role(
            RoleArn=self._access.role,
            RoleSessionName=self._access.name[:_MAX_NAME_CHARS],
            Policy=self._access.policy,
            DurationSeconds=_SESSION_SECONDS,
        )["Credentials"]
        return {
            "access_key": given["AccessKeyId"],
            "secret_key": given["SecretAccessKey"],
            "token": given["SessionToken"],
            "expiry_time": given["Expiration"].isoformat(),
        }
