"""What the local stack relies on in its AWS emulator: our own list.

An upgrade or a replacement of the emulator is right when these pass.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from botocore.exceptions import ClientError

from archivolt.adapters.aws.clients import AwsClients
from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations
from archivolt.adapters.dynamodb.operations import DynamoOperations
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.s3.files import S3Files
from archivolt.adapters.system.clock import SystemClock
from archivolt.bootstrap import Container
from archivolt.composition.tenants import Tenants
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import Generation, sequencer
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.settings import TenantSettings
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ports.operations import Operation, OperationKind
from archivolt.settings import Settings
from archivolt_local.addresses import LOOPBACK, free_port
from archivolt_local.children import Child
from archivolt_local.emulator import start_emulator
from archivolt_local.places import MINISTACK_PYTHON, TEMPLATE, DataFolder
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.provisioning.deployment import Deployment, deploy

pytestmark = pytest.mark.skipif(
    not MINISTACK_PYTHON.exists(), reason="the emulator is not installed (make setup)"
)

BUCKET = "archivolt-documents-000000000000-us-east-1"
KEY: Any = {"pk": {"S": "a"}, "sk": {"S": "b"}}
PARAMETERS = {
    "PublicUrl": "http://127.0.0.1:8080",
    "AuthIssuer": "archivolt-local",
    "AuthJwksUrl": "http://127.0.0.1:8080/none",
    "QdrantUrl": "http://127.0.0.1:6333",
    "QdrantApiKey": "a-key",
}


@dataclass
class Emulator:
    """A running emulator with the template deployed; it can be stopped and started again."""

    data: DataFolder
    port: int
    runner: asyncio.Runner
    child: Child

    @property
    def aws(self) -> StackClients:
        url = f"http://{LOOPBACK}:{self.port}"
        return StackClients(url, url)

    def deploy(self) -> Deployment:
        return deploy(TEMPLATE, PARAMETERS, self.aws)

    def start(self) -> None:
        self.child = self.runner.run(start_emulator(self.data, self.port, None))

    def stop(self, number: signal.Signals) -> None:
        os.kill(self.child.process.pid, number)
        self.runner.run(self.child.process.wait())


def running(folder: Path) -> Iterator[Emulator]:
    with asyncio.Runner() as runner:
        data, port = DataFolder(folder), free_port()
        child = runner.run(start_emulator(data, port, None))
        emulator = Emulator(data, port, runner, child)
        try:
            emulator.deploy()
            yield emulator
        finally:
            runner.run(emulator.child.stop())


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    yield from running(tmp_path_factory.mktemp("emulator"))


@pytest.fixture
def own_emulator(tmp_path: Path) -> Iterator[Emulator]:
    yield from running(tmp_path)


def as_role(emulator: Emulator, function: str) -> StackClients:
    configuration = emulator.aws.functions.get_function_configuration(FunctionName=function)
    return emulator.aws.as_role(configuration["Role"])


def code_of(call: Callable[[], object]) -> str:
    try:
        call()
    except ClientError as error:
        return error.response.get("Error", {}).get("Code", "")
    return ""


def received(emulator: Emulator, queue: str) -> list[dict[str, Any]]:
    sqs = emulator.aws.queues
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    bodies: list[dict[str, Any]] = []
    while messages := sqs.receive_message(
        QueueUrl=url, WaitTimeSeconds=1, MaxNumberOfMessages=10
    ).get("Messages", []):
        for message in messages:
            bodies.append(json.loads(message.get("Body", "{}")))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message.get("ReceiptHandle", ""))
    return bodies


def test_a_conditional_put_has_one_winner(emulator: Emulator) -> None:
    s3 = emulator.aws.objects
    key = "vaults/t/v/once.md"
    first = s3.put_object(Bucket=BUCKET, Key=key, Body=b"1", IfNoneMatch="*")
    again = code_of(lambda: s3.put_object(Bucket=BUCKET, Key=key, Body=b"2", IfNoneMatch="*"))
    assert again == "PreconditionFailed"
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"2", IfMatch=first["ETag"])
    stale = code_of(lambda: s3.put_object(Bucket=BUCKET, Key=key, Body=b"3", IfMatch=first["ETag"]))
    assert stale == "PreconditionFailed"


def test_a_deleted_document_keeps_its_versions(emulator: Emulator) -> None:
    s3 = emulator.aws.objects
    key = "vaults/t/v/versions.md"
    version = s3.put_object(Bucket=BUCKET, Key=key, Body=b"kept")["VersionId"]
    s3.delete_object(Bucket=BUCKET, Key=key)
    assert code_of(lambda: s3.get_object(Bucket=BUCKET, Key=key)) == "NoSuchKey"
    kept = s3.get_object(Bucket=BUCKET, Key=key, VersionId=version)["Body"].read()
    assert kept == b"kept"


def test_changes_of_documents_reach_the_queue_in_the_order_of_their_sequencers(
    emulator: Emulator,
) -> None:
    received(emulator, "archivolt-indexing")
    s3 = emulator.aws.objects
    key = "vaults/t/v/été 1.md"
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"1")
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"2")
    s3.delete_object(Bucket=BUCKET, Key=key)
    events = received(emulator, "archivolt-indexing")
    assert [event["detail-type"] for event in events] == [
        "Object Created",
        "Object Created",
        "Object Deleted",
    ]
    assert {event["detail"]["object"]["key"] for event in events} == {key}
    order = [sequencer(event["detail"]["object"]["sequencer"]) for event in events]
    assert order == sorted(order)
    assert len(set(order)) == len(order)


def test_changes_of_derived_data_reach_nobody(emulator: Emulator) -> None:
    received(emulator, "archivolt-indexing")
    emulator.aws.objects.put_object(Bucket=BUCKET, Key="derived/t/v/x", Body=b"1")
    assert received(emulator, "archivolt-indexing") == []


def test_metadata_of_a_put_is_kept(emulator: Emulator) -> None:
    s3 = emulator.aws.objects
    metadata = {"archivolt-priority": "bulk"}
    s3.put_object(Bucket=BUCKET, Key="vaults/t/v/m.md", Body=b"1", Metadata=metadata)
    assert s3.head_object(Bucket=BUCKET, Key="vaults/t/v/m.md")["Metadata"] == metadata


def test_a_message_comes_back_after_its_visibility_and_ends_with_the_dead_letters(
    emulator: Emulator,
) -> None:
    sqs = emulator.aws.queues
    url = sqs.get_queue_url(QueueName="archivolt-backfill")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody='{"poison": true}')
    counts: list[str] = []
    while messages := sqs.receive_message(
        QueueUrl=url, MessageSystemAttributeNames=["All"], VisibilityTimeout=0
    ).get("Messages", []):
        counts.append(messages[0].get("Attributes", {}).get("ApproximateReceiveCount", ""))
    assert counts == ["1", "2", "3", "4", "5"]
    assert received(emulator, "archivolt-backfill-dead-letters") == [{"poison": True}]


def test_a_role_may_do_what_it_was_given(emulator: Emulator) -> None:
    emulator.aws.objects.put_object(Bucket=BUCKET, Key="vaults/t/v/r.md", Body=b"1")
    aws = as_role(emulator, "archivolt-mcp")
    assert aws.objects.get_object(Bucket=BUCKET, Key="vaults/t/v/r.md")["Body"].read() == b"1"
    assert aws.objects.list_objects_v2(Bucket=BUCKET, Prefix="vaults/t/v/")["KeyCount"] > 0
    assert "Item" not in aws.tables.get_item(TableName="archivolt-control", Key=KEY)


@pytest.mark.parametrize(
    ("service", "operation", "arguments"),
    [
        ("objects", "put_object", {"Bucket": BUCKET, "Key": "derived/t/v/x", "Body": b""}),
        ("objects", "delete_object", {"Bucket": BUCKET, "Key": "derived/t/v/operations/x"}),
        ("objects", "get_object", {"Bucket": BUCKET, "Key": "elsewhere/x"}),
        ("tables", "delete_item", {"TableName": "archivolt-catalogue", "Key": KEY}),
        ("tables", "delete_item", {"TableName": "archivolt-audit", "Key": KEY}),
        ("queues", "get_queue_url", {"QueueName": "archivolt-indexing"}),
        ("keys", "list_keys", {}),
    ],
)
def test_a_role_is_denied_what_it_was_not_given(
    emulator: Emulator, service: str, operation: str, arguments: dict[str, object]
) -> None:
    client = getattr(as_role(emulator, "archivolt-mcp"), service)
    assert "AccessDenied" in code_of(lambda: getattr(client, operation)(**arguments))


@pytest.mark.parametrize("function", ["archivolt-tools", "archivolt-mcp", "archivolt-chat"])
def test_who_changes_documents_may_also_note_it_and_look_at_versions(
    emulator: Emulator, function: str
) -> None:
    aws = as_role(emulator, function)
    operations = DynamoOperations(DynamoTable(aws.tables, "archivolt-control"), aws.objects, BUCKET)
    files = S3Files(aws.objects, BUCKET, SystemClock())
    vault = VaultRef(tenant=TenantId("t"), id=VaultId(function))
    now = SystemClock().now()
    operation = operations.start(
        Operation(
            id=function,
            vault=vault,
            user=UserId("u"),
            kind=OperationKind.MOVE,
            started_at=now,
            updated_at=now,
            total=1,
        ),
        [("a.md", "e")],
    )
    operations.progress(operation, done=1, finished=True, now=now)
    first = files.create(vault, VaultPath("a.md"), b"1")
    files.copy(vault, VaultPath("a.md"), VaultPath("b.md"), expected=first.etag)
    files.delete(vault, VaultPath("a.md"), expected=first.etag)
    assert len(files.versions(vault, VaultPath("a.md"))) == 2
    assert operations.manifest(operation) == [("a.md", "e")]
    confirmations = DynamoConfirmations(DynamoTable(aws.tables, "archivolt-confirmations"))
    assert confirmations.get(TenantId("t"), "none") is None


Tenant = Callable[[str], Container]


@pytest.fixture
def of_tenant(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """Returns what the reconcile function has for a tenant, made as the function makes it."""
    function = emulator.deploy().functions["archivolt-reconcile"]
    url = emulator.aws.url
    variables = {
        **emulator.aws.as_role(function.role).credentials,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": url,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given = {name.lower(): value for name, value in function.environment.items()}
    settings = Settings.model_validate({**given, "aws_endpoint_url": url})
    tenants = Tenants(Container(settings))
    return lambda tenant: tenants.of(TenantId(tenant))


A, B = (VaultRef(tenant=TenantId(name), id=VaultId("v")) for name in ("a", "a-b"))
SECRET = VaultPath("secret.md")


def test_a_worker_for_one_tenant_keeps_that_tenants_documents(of_tenant: Tenant) -> None:
    files = of_tenant("a").file_store
    written = files.create(A, VaultPath("own.md"), b"1")
    assert files.read(A, VaultPath("own.md")).data == b"1"
    files.copy(A, VaultPath("own.md"), VaultPath("copy.md"), expected=written.etag)
    files.delete(A, VaultPath("own.md"), expected=written.etag)
    assert len(files.versions(A, VaultPath("own.md"))) == 2
    assert [info.path for info in files.list(A, ROOT, recursive=True, limit=9).files] == ["copy.md"]


def test_who_may_list_a_prefix_alone_is_refused_what_is_absent(of_tenant: Tenant) -> None:
    # The tenant's credentials, without what tells absence from refusal.
    s3: Any = AwsClients.s3.func(of_tenant("a").aws)
    place = {"Bucket": BUCKET, "Key": "vaults/a/v/none.md"}
    assert code_of(lambda: s3.get_object(**place)) == "AccessDenied"
    assert code_of(lambda: s3.head_object(**place)) == "403"
    assert code_of(lambda: s3.put_object(**place, IfMatch='"e"', Body=b"")) == "AccessDenied"


def test_a_worker_for_one_tenant_tells_absent_documents(of_tenant: Tenant) -> None:
    on = of_tenant("a")
    for look in (on.file_store.head, on.file_store.read):
        with pytest.raises(NotFoundError):
            look(A, VaultPath("none.md"))
    assert on.index.vector_cache.load(A, ["0" * 64], "model") == {}
    assert on.index.text_index.passages(A, VaultPath("none.md"), Generation("1")) == []


def test_what_comes_while_it_is_asked_for_was_absent(of_tenant: Tenant, emulator: Emulator) -> None:
    on = of_tenant("a")
    late: Any = {"Bucket": BUCKET, "Key": "vaults/a/v/late.md", "Body": b"late"}

    def write(**_: object) -> None:
        emulator.aws.objects.put_object(**late)

    on.aws.s3.meta.events.register_first("after-call.s3.GetObject", write)
    with pytest.raises(NotFoundError):
        on.file_store.read(A, VaultPath("late.md"))
    assert on.file_store.read(A, VaultPath("late.md")).data == b"late"


def test_a_worker_for_one_tenant_is_denied_anothers_documents(
    emulator: Emulator, of_tenant: Tenant
) -> None:
    key = f"vaults/{B.tenant}/{B.id}/{SECRET}"
    emulator.aws.objects.put_object(Bucket=BUCKET, Key=key, Body=b"secret")
    on = of_tenant("a")
    s3: Any = on.aws.s3
    place = {"Bucket": BUCKET, "Key": key}
    denied: Sequence[Callable[[], object]] = [
        lambda: on.file_store.head(B, SECRET),
        lambda: on.file_store.read(B, SECRET),
        lambda: on.file_store.list(B, ROOT, recursive=True, limit=9),
        lambda: on.file_store.create(B, VaultPath("planted.md"), b""),
        lambda: s3.get_object(Bucket=BUCKET, Key=f"derived/{B.tenant}/v/x"),
        lambda: s3.delete_object(Bucket=BUCKET, Key=key),
        lambda: s3.list_objects_v2(Bucket=BUCKET),
        lambda: s3.list_objects_v2(Bucket=BUCKET, Prefix="vaults/a"),
        lambda: s3.list_object_versions(Bucket=BUCKET),
        lambda: s3.copy_object(Bucket=BUCKET, Key="vaults/a/v/stolen.md", CopySource=place),
    ]
    assert [code_of(each) in {"AccessDenied", "403"} for each in denied] == [True] * len(denied)


def test_a_worker_for_one_tenant_is_denied_anothers_items(of_tenant: Tenant) -> None:
    on = of_tenant("a")
    dynamodb: Any = on.aws.dynamodb
    batch = {"Keys": [{"pk": {"S": f"VAULT#{each}#v"}, "sk": {"S": "x"}} for each in ("a", "a-b")]}
    assert on.catalogue.get(A, SECRET) is None
    assert on.vault_directory.accessible(A.tenant, UserId("u")) == []
    assert on.tenant_settings.load(A.tenant) == TenantSettings()
    denied: Sequence[Callable[[], object]] = [
        lambda: on.catalogue.get(B, SECRET),
        lambda: on.catalogue.attention(B),
        lambda: list(on.catalogue.entries(B)),
        lambda: on.vault_directory.accessible(B.tenant, UserId("u")),
        lambda: on.tenant_settings.load(B.tenant),
        lambda: on.tenant_settings.save(B.tenant, TenantSettings()),
        lambda: dynamodb.batch_get_item(RequestItems={"archivolt-catalogue": batch}),
        lambda: dynamodb.scan(TableName="archivolt-catalogue"),
        lambda: dynamodb.scan(TableName="archivolt-control"),
        lambda: dynamodb.get_item(TableName="archivolt-audit", Key=KEY),
    ]
    assert [code_of(each) for each in denied] == ["AccessDeniedException"] * len(denied)


@pytest.mark.parametrize("function", ["tools", "mcp", "chat", "embedding"])
def test_a_tenants_role_is_for_its_own_worker(emulator: Emulator, function: str) -> None:
    variables = emulator.deploy().functions["archivolt-reconcile"].environment
    sts = as_role(emulator, f"archivolt-{function}").roles
    code = code_of(
        lambda: sts.assume_role(RoleArn=variables["TENANT_ROLE_ARN"], RoleSessionName="any")
    )
    assert code == "AccessDenied"


def test_a_page_of_any_origin_may_ask_to_upload(emulator: Emulator) -> None:
    asked = httpx2.request(
        "OPTIONS",
        f"{emulator.aws.url}/{BUCKET}/vaults/t/v/u.bin",
        headers={
            "Origin": "https://pages.example",
            "Access-Control-Request-Method": "PUT",
            "Access-Control-Request-Headers": "content-type,if-none-match",
        },
        trust_env=False,
    )
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] in {"*", "https://pages.example"}


def test_an_absent_object_is_absent_and_not_forbidden_to_a_role_that_may_list(
    emulator: Emulator,
) -> None:
    s3 = as_role(emulator, "archivolt-mcp").objects
    assert code_of(lambda: s3.get_object(Bucket=BUCKET, Key="vaults/t/v/none")) == "NoSuchKey"


def test_a_presigned_upload_works_once_signed_and_not_when_tampered_with(
    emulator: Emulator,
) -> None:
    s3 = as_role(emulator, "archivolt-tools").objects
    key = "vaults/t/v/up.bin"
    place = {"Bucket": BUCKET, "Key": key}
    url = s3.generate_presigned_url("put_object", Params=place, ExpiresIn=60)
    assert httpx2.put(url, content=b"up", trust_env=False).status_code == 200
    assert emulator.aws.objects.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"up"
    other = url.replace("up.bin", "other.bin")
    assert httpx2.put(other, content=b"up", trust_env=False).status_code == 403


def test_nobody_without_credentials_reads_the_bucket(emulator: Emulator) -> None:
    emulator.aws.objects.put_object(Bucket=BUCKET, Key="vaults/t/v/p.md", Body=b"1")
    url = f"{emulator.aws.url}/{BUCKET}/vaults/t/v/p.md"
    assert httpx2.get(url, trust_env=False).status_code == 403


def test_a_tenants_secret_opens_in_its_own_context_only(emulator: Emulator) -> None:
    variables = emulator.deploy().functions["archivolt-tools"].environment
    kms = as_role(emulator, "archivolt-tools").keys
    key = kms.generate_data_key(
        KeyId=variables["KMS_KEY_ID"], KeySpec="AES_256", EncryptionContext={"tenant": "a"}
    )
    sealed = key["CiphertextBlob"]
    opened = kms.decrypt(CiphertextBlob=sealed, EncryptionContext={"tenant": "a"})
    assert opened["Plaintext"] == key["Plaintext"]
    other = code_of(lambda: kms.decrypt(CiphertextBlob=sealed, EncryptionContext={"tenant": "b"}))
    assert other == "InvalidCiphertextException"


def test_deploying_again_changes_nothing_and_keeps_what_waits(emulator: Emulator) -> None:
    first = emulator.deploy()
    sqs = emulator.aws.queues
    url = sqs.get_queue_url(QueueName="archivolt-embedding")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody='{"kept": true}')
    assert emulator.deploy() == first
    assert received(emulator, "archivolt-embedding") == [{"kept": True}]


def test_a_changed_parameter_is_deployed_without_touching_documents(
    own_emulator: Emulator,
) -> None:
    s3 = own_emulator.aws.objects
    s3.put_object(Bucket=BUCKET, Key="vaults/t/v/a.md", Body=b"kept")
    changed = {**PARAMETERS, "PublicUrl": "http://127.0.0.1:9090"}
    deployment = deploy(TEMPLATE, changed, own_emulator.aws)
    tools = deployment.functions["archivolt-tools"]
    assert tools.environment["PUBLIC_URL"] == "http://127.0.0.1:9090"
    assert s3.get_object(Bucket=BUCKET, Key="vaults/t/v/a.md")["Body"].read() == b"kept"


def test_a_clean_stop_keeps_tables_queues_and_documents(own_emulator: Emulator) -> None:
    write_everywhere(own_emulator)
    own_emulator.stop(signal.SIGTERM)
    own_emulator.start()
    own_emulator.deploy()
    assert document(own_emulator) == b"kept"
    assert row(own_emulator) == {"S": "kept"}
    assert received(own_emulator, "archivolt-embedding") == [{"kept": True}]


def test_a_kill_keeps_every_document_and_the_template_deploys_again(
    own_emulator: Emulator,
) -> None:
    write_everywhere(own_emulator)
    own_emulator.stop(signal.SIGKILL)
    own_emulator.start()
    own_emulator.deploy()
    assert document(own_emulator) == b"kept"


def test_a_kill_keeps_tables_and_queues_as_of_the_last_snapshot(own_emulator: Emulator) -> None:
    write_everywhere(own_emulator)
    state = own_emulator.data.emulator / "state"
    wait_until(lambda: all(b"kept" in read(state / name) for name in ("sqs.json", "dynamodb.json")))
    own_emulator.stop(signal.SIGKILL)
    own_emulator.start()
    own_emulator.deploy()
    assert row(own_emulator) == {"S": "kept"}
    assert received(own_emulator, "archivolt-embedding") == [{"kept": True}]


def test_what_was_in_work_at_the_end_is_delivered_at_the_next_start(
    own_emulator: Emulator,
) -> None:
    sqs = own_emulator.aws.queues
    url = sqs.get_queue_url(QueueName="archivolt-erasure")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody='{"in work": true}')
    sqs.send_message(QueueUrl=url, MessageBody='{"later": true}', DelaySeconds=900)
    assert sqs.receive_message(QueueUrl=url)["Messages"]
    assert received(own_emulator, "archivolt-erasure") == []
    own_emulator.stop(signal.SIGTERM)
    own_emulator.start()
    assert received(own_emulator, "archivolt-erasure") == [{"in work": True}]


def read(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def write_everywhere(emulator: Emulator) -> None:
    aws = emulator.aws
    aws.objects.put_object(Bucket=BUCKET, Key="vaults/t/v/kept.md", Body=b"kept")
    item = {**KEY, "value": {"S": "kept"}}
    aws.tables.put_item(TableName="archivolt-control", Item=item)
    url = aws.queues.get_queue_url(QueueName="archivolt-embedding")["QueueUrl"]
    aws.queues.send_message(QueueUrl=url, MessageBody='{"kept": true}')


def document(emulator: Emulator) -> bytes:
    found = emulator.aws.objects.get_object(Bucket=BUCKET, Key="vaults/t/v/kept.md")
    return found["Body"].read()


def row(emulator: Emulator) -> object:
    found = emulator.aws.tables.get_item(TableName="archivolt-control", Key=KEY)
    return found.get("Item", {}).get("value")
