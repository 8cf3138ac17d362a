"""What a worker has for each tenant: credentials of the tenant's own, and the rest shared."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import ANY, Stubber

from archivolt.adapters.system.clock import SystemClock
from archivolt.bootstrap import Container
from archivolt.composition.tenants import Tenants
from archivolt.domain.identity import TenantId
from archivolt.domain.limits import MAX_TENANTS_AT_HAND
from archivolt.domain.paths import VaultPath
from archivolt.domain.settings import EMBEDDING_API_KEY as FIELD
from archivolt.domain.settings import TenantSettings
from archivolt.governance.admission import Admission
from archivolt.settings import Settings
from tests.builders import ACME, GLOBEX, vault_ref
from tests.fakes.embedding_server import embedding_server
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.tenancy import InMemoryTenants

ROLE = "arn:aws-cn:iam::123456789012:role/stack-tenant"
SETTINGS: dict[str, str] = {
    "documents_bucket": "documents",
    "control_table": "control",
    "catalogue_table": "catalogue",
    "ledger_table": "ledger",
    "embedding_queue_url": "https://sqs.example/e",
    "backfill_queue_url": "https://sqs.example/b",
    "qdrant_url": "http://127.0.0.1:1",
    "kms_key_id": "arn:aws-cn:kms:eu-west-1:123456789012:key/1",
    "tenant_role_arn": ROLE,
}


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "the-functions",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def function() -> Iterator[Container]:
    container = Container(Settings.model_validate(SETTINGS))
    yield container
    container.index.close()


def given(number: int, *, minutes: float = 60) -> dict[str, Any]:
    """Return an answer of STS."""
    return {
        "Credentials": {
            "AccessKeyId": f"of-a-session-{number:04d}",
            "SecretAccessKey": "secret",
            "SessionToken": f"token-{number}",
            "Expiration": SystemClock().now() + timedelta(minutes=minutes),
        }
    }


def asked(tenant: str) -> dict[str, Any]:
    return {
        "RoleArn": ROLE,
        "RoleSessionName": f"tenant-{tenant}",
        "Policy": ANY,
        "DurationSeconds": 3600,
    }


def key_of(container: Container) -> str:
    credentials = container.aws.session.get_credentials()
    assert credentials is not None
    return str(credentials.get_frozen_credentials().access_key)


def test_each_tenant_has_credentials_of_its_own_session(function: Container) -> None:
    tenants = Tenants(function)
    with Stubber(function.aws.sts) as sts:
        for number, tenant in enumerate((ACME, GLOBEX)):
            sts.add_response("assume_role", given(number), asked(tenant))
        keys = [key_of(tenants.of(tenant)) for tenant in (ACME, GLOBEX, ACME)]
        sts.assert_no_pending_responses()

    assert keys == ["of-a-session-0000", "of-a-session-0001", "of-a-session-0000"]
    assert key_of(function) == "the-functions"


def test_a_session_has_the_policy_of_its_tenant(function: Container) -> None:
    sent: list[dict[str, Any]] = []

    def note(params: dict[str, Any], **_: object) -> None:
        sent.append(params)

    function.aws.sts.meta.events.register("provide-client-params.sts.AssumeRole", note)
    with Stubber(function.aws.sts) as sts:
        sts.add_response("assume_role", given(1), asked(ACME))
        key_of(Tenants(function).of(ACME))

    policy = json.loads(sent[0]["Policy"])
    resources = {each for statement in policy["Statement"] for each in statement["Resource"]}
    tables = "arn:aws-cn:dynamodb:eu-west-1:123456789012:table"
    assert resources == {
        "arn:aws-cn:s3:::documents",
        "arn:aws-cn:s3:::documents/vaults/acme/*",
        "arn:aws-cn:s3:::documents/derived/acme/*",
        f"{tables}/control*",
        f"{tables}/catalogue*",
        f"{tables}/ledger*",
        SETTINGS["kms_key_id"],
    }


def test_credentials_are_renewed_before_they_end(function: Container) -> None:
    tenants = Tenants(function)
    with Stubber(function.aws.sts) as sts:
        sts.add_response("assume_role", given(1, minutes=5), asked(ACME))
        sts.add_response("assume_role", given(2), asked(ACME))
        key_of(tenants.of(ACME))
        assert key_of(tenants.of(ACME)) == "of-a-session-0002"


def test_a_refused_session_is_an_error_and_never_the_functions_own_right(
    function: Container,
) -> None:
    with Stubber(function.aws.sts) as sts:
        sts.add_client_error("assume_role", "AccessDenied", http_status_code=403)
        with pytest.raises(ClientError, match="AccessDenied"):
            Tenants(function).of(ACME).file_store.head(vault_ref(), VaultPath("a.md"))


def test_only_the_tenants_used_last_are_kept(function: Container) -> None:
    tenants = Tenants(function)
    first = tenants.of(TenantId("t0"))
    for number in range(1, MAX_TENANTS_AT_HAND):
        tenants.of(TenantId(f"t{number}"))
    assert tenants.of(TenantId("t0")) is first
    second = tenants.of(TenantId("t1"))

    for number in range(MAX_TENANTS_AT_HAND - 1):
        tenants.of(TenantId(f"later-{number}"))

    assert tenants.of(TenantId("t1")) is second
    assert tenants.of(TenantId("t0")) is not first


def test_what_holds_no_data_is_shared(function: Container) -> None:
    one, other = (Tenants(function).of(tenant) for tenant in (ACME, GLOBEX))

    assert one.index.reader is other.index.reader is function.index.reader
    assert one.index.embedder is other.index.embedder is function.index.embedder
    assert one.index.vector_server is function.index.vector_server
    assert one.aws.sqs is function.aws.sqs
    for name in ("catalogue", "vault_directory", "file_store", "tenant_settings", "secret_box"):
        assert getattr(one, name) is not getattr(other, name)
    assert one.aws.s3 is not other.aws.s3


def test_without_a_role_to_take_on_the_function_works_in_its_own_name() -> None:
    function = Container(Settings.model_validate({**SETTINGS, "tenant_role_arn": ""}))

    assert Tenants(function).of(ACME).aws is function.aws


def test_a_tenants_worker_asks_for_vectors_with_that_tenants_key() -> None:
    with embedding_server() as server:
        provider = {
            "embedding_provider": "openai",
            "embedding_model": "bge-m3",
            "embedding_base_url": f"{server.url}/v1",
            "embedding_api_key": "key-" + "of-the-deployment",
            "tenant_role_arn": "",
        }
        tenants = Tenants(Container(Settings.model_validate({**SETTINGS, **provider})))
        for tenant in (ACME, GLOBEX):
            on = tenants.of(tenant)
            sealed = ReversibleBox().seal(f"key-of-{tenant}", tenant=tenant, field=FIELD)
            store = InMemoryTenantSettings()
            own = TenantSettings(
                sealed_embedding_api_key=sealed, embedding_api_key_origin=server.url
            )
            store.save(tenant, own)
            on.tenant_settings, on.secret_box = store, ReversibleBox()
            on.admission = Admission(InMemoryTenants, on.clock)
            on.ledger, on.usage_events = InMemoryLedger(), RecordedUsage()
            on.index.embedder.embed_passages([f"a text of {tenant}"])

    sent = [headers["authorization"] for headers in server.headers]
    assert dict(zip(sent, server.texts, strict=True)) == {
        f"Bearer key-of-{tenant}": f"a text of {tenant}" for tenant in (ACME, GLOBEX)
    }
