"""The session policy that keeps a worker with the data of one tenant (R4).

What a session may do is what its role and this policy both allow (AWS IAM user guide, "Session
policies"): the role says which actions and tables, the policy whose data. AWS takes 2,048
characters, so that actions are named by their families, and a table with its indexes by one name.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import TenantId, tenant_id

MAX_POLICY_CHARS: Final = 2_048

# The partitions that hold a tenant's items: `KIND#{tenant}#…`. A scan has no partition, and would
# fulfil any condition on one: no action here is a scan.
_KINDS: Final = ("VAULT", "DOCUMENTS", "RUNS", "USER", "OPERATIONS", "SYNC")
_ITEM_ACTIONS: Final = ("dynamodb:*Item", "dynamodb:Query")
_OBJECT_ACTIONS: Final = ("s3:GetObject*", "s3:PutObject*", "s3:DeleteObject*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlaces:
    """Where the data of all tenants is: ARNs; `key` is of the KMS key, "" for none."""

    bucket: str
    tables: Sequence[str]
    key: str = ""


def tenant_policy(tenant: TenantId, places: DataPlaces) -> str:
    """Return the policy as JSON.

    Raises:
        ValueError: The tenant's id has a character that policies read otherwise, or the policy is
            longer than AWS takes.

    """
    _hold_to_plain(tenant)
    folders = [f"vaults/{tenant}/*", f"derived/{tenant}/*"]
    statements = [
        _allow(_OBJECT_ACTIONS, [f"{places.bucket}/{folder}" for folder in folders]),
        _allow(["s3:ListBucket*"], [places.bucket], {"StringLike": {"s3:prefix": folders}}),
        _allow(
            _ITEM_ACTIONS,
            [f"{table}*" for table in places.tables],
            {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": _partitions(tenant)}},
        ),
    ]
    if places.key:
        # A secret is sealed with its tenant: opened without one, or with another, it stays shut.
        only = {"StringEqualsIfExists": {"kms:EncryptionContext:tenant": tenant}}
        statements.append(_allow(["kms:Decrypt"], [places.key], only))
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))
    if len(policy) > MAX_POLICY_CHARS:
        raise ValueError("the session policy is too long")
    return policy


def _partitions(tenant: TenantId) -> list[str]:
    return [*(f"{kind}#{tenant}#*" for kind in _KINDS), f"TENANT#{tenant}"]


def _hold_to_plain(tenant: TenantId) -> None:
    """Refuse what is no tenant's id: `*`, `?` and `${…}` mean something to policies."""
    try:
        tenant_id(tenant)
    except UnauthenticatedError as error:
        raise ValueError("not the id of a tenant") from error


def _allow(
    actions: Sequence[str], resources: Sequence[str], condition: dict[str, Any] | None = None
) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }
    return statement | ({"Condition": condition} if condition else {})
