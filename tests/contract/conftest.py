"""The stores that contract tests run on: the fake, moto, ministack, Amazon's own DynamoDB Local.

Tables are made as `template.yaml` describes them. moto is not thread-safe: what is claimed about
concurrency is tested on DynamoDB Local alone.
"""

import asyncio
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from botocore.config import Config
from botocore.session import Session, get_session
from moto import mock_aws

from archivolt.adapters.aws.clients import AwsClients
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.s3.files import S3Files
from archivolt.adapters.system.clock import SystemClock
from archivolt.ports.files import FileStore
from archivolt_local.addresses import LOOPBACK, free_port
from archivolt_local.emulator import REGION as LOCAL_REGION
from archivolt_local.emulator import ROOT_CREDENTIALS, start_emulator
from archivolt_local.places import MINISTACK_PYTHON, DataFolder
from archivolt_local.tables.dynamodb_local import dynamodb_local, is_available
from archivolt_local.vectors.collections import Collections
from archivolt_local.vectors.server import VectorServer
from tests.fakes.clock import FrozenClock
from tests.fakes.files import InMemoryFiles

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client

FAKE = "fake"
MOTO = "moto"
MINISTACK = "ministack"
DYNAMODB_LOCAL = "dynamodb_local"

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
REGION = "eu-west-1"
VECTORS_KEY = "a-key-of-the-test"

_ON_DYNAMODB_LOCAL = pytest.param(DYNAMODB_LOCAL, marks=pytest.mark.dynamodb_local)

# A second opinion; the suite of another Python goes to the official emulator and the fake.
_ON_MOTO = pytest.param(MOTO, marks=pytest.mark.one_python)

on_tables = pytest.mark.parametrize("store", [_ON_MOTO, _ON_DYNAMODB_LOCAL], indirect=True)
"""Marks a test that looks at the tables themselves, which the fake does not have."""

NewTable = Callable[[str], DynamoTable]
NewBucket = Callable[[str], "tuple[S3Client, str]"]


@cache
def _session() -> Session:
    return get_session()


def client_of(service: str, *, endpoint: str | None = None) -> Any:  # noqa: ANN401
    return _session().create_client(
        service,
        region_name=REGION,
        endpoint_url=endpoint,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(max_pool_connections=64),
    )


@pytest.fixture(params=[FAKE, _ON_MOTO, _ON_DYNAMODB_LOCAL])
def store(request: pytest.FixtureRequest) -> str:
    """The kind of table store that a contract test runs on."""
    return request.param


@pytest.fixture(scope="session")
def dynamodb_local_url() -> Iterator[str]:
    if not is_available():
        missing = "DynamoDB Local needs Java, its jar (make setup) and network namespaces"
        if os.environ.get("CI") == "true":  # noqa: TID251  not the product's configuration
            pytest.fail(missing)
        pytest.skip(missing)
    with dynamodb_local() as url:
        yield url


@pytest.fixture
def local_dynamodb(dynamodb_local_url: str) -> "DynamoDBClient":
    return client_of("dynamodb", endpoint=dynamodb_local_url)


@pytest.fixture
def dynamodb(store: str, request: pytest.FixtureRequest) -> "Iterator[DynamoDBClient]":
    if store == DYNAMODB_LOCAL:
        yield request.getfixturevalue("local_dynamodb")
        return
    with mock_aws():
        yield client_of("dynamodb")


@pytest.fixture
def new_table(dynamodb: "DynamoDBClient") -> NewTable:
    """Make a table as the template describes it, by its logical id."""
    return lambda logical_id: make_table(dynamodb, logical_id)


@pytest.fixture
def new_local_table(local_dynamodb: "DynamoDBClient") -> NewTable:
    """Make a table on DynamoDB Local, for tests of concurrency."""
    return lambda logical_id: make_table(local_dynamodb, logical_id)


@pytest.fixture
def vector_facade(tmp_path: Path) -> Iterator[str]:
    """The embedded vector store behind Qdrant's API; its address."""
    collections = Collections(tmp_path / "vectors")
    server = VectorServer(0, collections, VECTORS_KEY)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()
    collections.close()


@pytest.fixture
def moto_s3() -> "Iterator[S3Client]":
    with mock_aws():
        yield client_of("s3")


@pytest.fixture(scope="session")
def ministack_s3(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[S3Client]":
    """The product's own client, at the emulator of the local stack."""
    if not MINISTACK_PYTHON.exists():
        pytest.skip("the emulator is not installed (make setup)")
    with asyncio.Runner() as runner:
        port = free_port()
        child = runner.run(
            start_emulator(DataFolder(tmp_path_factory.mktemp("emulator")), port, None)
        )
        try:
            yield _client_at(f"http://{LOOPBACK}:{port}")
        finally:
            runner.run(child.stop())


def _client_at(url: str) -> "S3Client":
    variables = {"AWS_DEFAULT_REGION": LOCAL_REGION, "AWS_ENDPOINT_URL_S3": url}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in (ROOT_CREDENTIALS | variables).items():
            environment.setenv(name, value)
        return AwsClients(path_style=True).s3


@pytest.fixture
def new_bucket(request: pytest.FixtureRequest) -> NewBucket:
    """Make a versioned bucket, by the kind of store."""

    def make(kind: str) -> "tuple[S3Client, str]":
        client: S3Client = request.getfixturevalue(f"{kind}_s3")
        name = f"documents-{uuid.uuid4()}"
        place: Any = {"CreateBucketConfiguration": {"LocationConstraint": REGION}}
        client.create_bucket(Bucket=name, **(place if kind == MOTO else {}))
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        return client, name

    return make


@pytest.fixture(params=[FAKE, MINISTACK])
def files(request: pytest.FixtureRequest, new_bucket: NewBucket) -> FileStore:
    """Every kind of file store."""
    if request.param == FAKE:
        return InMemoryFiles()
    return S3Files(*new_bucket(request.param), FrozenClock())


@pytest.fixture
def ministack_files(new_bucket: NewBucket) -> S3Files:
    """Files on the emulator, for what only a real service of its own process shows."""
    return S3Files(*new_bucket(MINISTACK), SystemClock())


def make_table(client: "DynamoDBClient", logical_id: str) -> DynamoTable:
    described = _resources()[logical_id]["Properties"]
    kept = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")
    arguments = {name: described[name] for name in kept if name in described}
    name = f"{logical_id}-{uuid.uuid4()}"
    client.create_table(TableName=name, **arguments)
    return DynamoTable(client, name)


@cache
def _resources() -> dict[str, Any]:
    return yaml.load(TEMPLATE.read_text(encoding="utf-8"), _TemplateLoader)["Resources"]  # noqa: S506


class _TemplateLoader(yaml.SafeLoader):
    """Reads a template without its functions: `!Ref x` is nothing."""


def _nothing(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> None:
    return None


# Through `Any`: the stubs leave the constructor untyped.
_untyped: Any = _TemplateLoader
_untyped.add_multi_constructor("!", _nothing)
