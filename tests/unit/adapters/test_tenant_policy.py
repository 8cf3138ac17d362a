"""The session policy of a tenant: it reaches that tenant's data, nobody else's, and fits."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from archivolt.adapters.aws.tenant_policy import MAX_POLICY_CHARS, DataPlaces, tenant_policy
from archivolt.domain.identity import TenantId

BUCKET = "arn:aws:s3:::documents"
TABLES = [f"arn:aws:dynamodb:eu-west-1:1:table/{name}" for name in ("control", "catalogue")]
KEY = "arn:aws:kms:eu-west-1:1:key/1"
PLACES = DataPlaces(bucket=BUCKET, tables=TABLES, key=KEY)
TENANTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True).map(TenantId)


def matches(pattern: str, value: str) -> bool:
    """Match as IAM does: `*` is any text, `?` one character, case counts."""
    parts = (".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


def fulfilled(condition: Mapping[str, Mapping[str, Any]], request: Mapping[str, Any]) -> bool:
    for operator, wanted in condition.items():
        for name, patterns in wanted.items():
            allowed = [patterns] if isinstance(patterns, str) else patterns
            given = request.get(name)
            if given is None:
                if operator.startswith("ForAllValues:") or operator.endswith("IfExists"):
                    continue
                return False
            values = [given] if isinstance(given, str) else given
            if not all(any(matches(each, value) for each in allowed) for value in values):
                return False
    return True


def allows(policy: str, action: str, resource: str, **request: Any) -> bool:  # noqa: ANN401
    context = {name.replace("__", ":"): value for name, value in request.items()}
    return any(
        any(matches(each, action) for each in statement["Action"])
        and any(matches(each, resource) for each in statement["Resource"])
        and fulfilled(statement.get("Condition", {}), context)
        for statement in json.loads(policy)["Statement"]
    )


def requests_of(tenant: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what a worker asks for a tenant: the action, the resource, the request's keys."""
    for key in (f"vaults/{tenant}/v/a.md", f"derived/{tenant}/v/lexical/s-1"):
        for action in ("GetObject", "GetObjectVersion", "PutObject", "DeleteObject"):
            yield f"s3:{action}", f"{BUCKET}/{key}", {}
        for action in ("ListBucket", "ListBucketVersions"):
            yield f"s3:{action}", BUCKET, {"s3__prefix": key}
            yield f"s3:{action}", BUCKET, {"s3__prefix": key.rpartition("/")[0] + "/"}
    partitions = [f"{kind}#{tenant}#x" for kind in ("VAULT", "DOCUMENTS", "RUNS", "USER")]
    for partition in [*partitions, f"VAULT#{tenant}#v#VECTORS", f"TENANT#{tenant}"]:
        for action in ("GetItem", "BatchGetItem", "PutItem", "BatchWriteItem", "Query"):
            request = {"dynamodb__LeadingKeys": [partition]}
            yield f"dynamodb:{action}", TABLES[0], request
            yield f"dynamodb:{action}", f"{TABLES[1]}/index/attention", request
    yield "kms:Decrypt", KEY, {"kms__EncryptionContext__tenant": tenant}


@settings(max_examples=25, deadline=None)
@given(TENANTS)
def test_a_worker_reaches_all_of_its_tenants_data(tenant: TenantId) -> None:
    policy = tenant_policy(tenant, PLACES)
    for action, resource, request in requests_of(tenant):
        assert allows(policy, action, resource, **request), (action, resource, request)


@settings(max_examples=25, deadline=None)
@given(TENANTS, TENANTS)
def test_a_worker_reaches_nothing_of_another_tenant(tenant: TenantId, other: TenantId) -> None:
    assume(tenant != other)
    policy = tenant_policy(tenant, PLACES)
    for action, resource, request in requests_of(other):
        assert not allows(policy, action, resource, **request), (action, resource, request)


@pytest.mark.parametrize("other", ["acme-2", "acm", "ACME", "xacme", "acme_"])
def test_a_tenant_whose_name_resembles_is_another(other: str) -> None:
    policy = tenant_policy(TenantId("acme"), PLACES)
    for action, resource, request in requests_of(other):
        assert not allows(policy, action, resource, **request), (action, resource, request)


def test_a_user_or_vault_named_like_the_tenant_is_not_the_tenant() -> None:
    policy = tenant_policy(TenantId("acme"), PLACES)
    for partition in ("USER#globex#acme", "VAULT#globex#acme", "TENANT#globex", "PAT#acme"):
        request = {"dynamodb__LeadingKeys": [partition]}
        assert not allows(policy, "dynamodb:GetItem", TABLES[0], **request)


def test_one_foreign_item_in_a_batch_is_one_too_many() -> None:
    policy = tenant_policy(TenantId("acme"), PLACES)
    request = {"dynamodb__LeadingKeys": ["VAULT#acme#v", "VAULT#globex#v"]}
    assert not allows(policy, "dynamodb:BatchGetItem", TABLES[0], **request)


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3:ListBucket", BUCKET),
        ("s3:ListBucketVersions", BUCKET),
        ("s3:GetObject", f"{BUCKET}/elsewhere/acme/a"),
        ("s3:PutBucketPolicy", BUCKET),
        ("dynamodb:Scan", TABLES[0]),
        ("dynamodb:DeleteTable", TABLES[0]),
        ("dynamodb:PartiQLSelect", TABLES[0]),
        ("dynamodb:GetItem", "arn:aws:dynamodb:eu-west-1:1:table/others"),
        ("kms:GenerateDataKey", KEY),
        ("sqs:SendMessage", "arn:aws:sqs:eu-west-1:1:indexing"),
        ("sts:AssumeRole", "arn:aws:iam::1:role/any"),
    ],
)
def test_what_names_no_tenant_is_not_allowed(action: str, resource: str) -> None:
    assert not allows(tenant_policy(TenantId("acme"), PLACES), action, resource)


@pytest.mark.parametrize("text", ["*", "a*", "a?", "${aws:userid}", "a/b", "a#b", "", "é", "a\n"])
def test_what_policies_would_read_otherwise_is_no_tenant(text: str) -> None:
    with pytest.raises(ValueError, match="tenant"):
        tenant_policy(TenantId(text), PLACES)


def test_the_policy_fits_with_the_longest_names_there_can_be() -> None:
    # A bucket's name, of which the stack's is part, has 63 characters.
    aws, region, account = "aws-us-gov", "ap-southeast-1", "1" * 12
    stack = "s" * (63 - len(f"-documents-{account}-{region}"))
    table = f"arn:{aws}:dynamodb:{region}:{account}:table/{stack}"
    places = DataPlaces(
        bucket=f"arn:{aws}:s3:::{stack}-documents-{account}-{region}",
        tables=[f"{table}-control", f"{table}-catalogue"],
        key=f"arn:{aws}:kms:{region}:{account}:key/mrk-{'0' * 32}",
    )
    policy = tenant_policy(TenantId("t" * 64), places)
    assert len(policy) <= MAX_POLICY_CHARS
    with pytest.raises(ValueError, match="too long"):
        tenant_policy(TenantId("t" * 64), DataPlaces(bucket=BUCKET, tables=[table * 20]))
