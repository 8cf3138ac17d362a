"""The command that has indexes made anew, here and of a stack on AWS."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from archivolt.bootstrap import Container
from archivolt.domain.sync import SyncKind, parse_sync
from archivolt_local import deployed as deployed_stacks
from archivolt_local.cli import main
from archivolt_local.deployed import deployed_settings
from archivolt_local.reindex_vaults import reindex
from tests.builders import ALICE, a_vault
from tests.contract.conftest import REGION, client_of

OUTPUTS = {
    "AuditTableName": "audit",
    "CatalogueTableName": "catalogue",
    "ControlTableName": "control",
    "DocumentsBucketName": "documents",
    "SyncQueueUrl": "",
}


class FakeStacks:
    """CloudFormation as far as looking a stack up goes."""

    def __init__(self, **stacks: Mapping[str, str]) -> None:
        self._stacks = stacks

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803
        if StackName not in self._stacks:
            raise ClientError({"Error": {"Code": "ValidationError"}}, "DescribeStacks")
        outputs = self._stacks[StackName].items()
        listed = [{"OutputKey": name, "OutputValue": value} for name, value in outputs]
        return {"Stacks": [{"StackName": StackName, "Outputs": listed}]}


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStacks]:
    """An account with one stack of ours, `team`, and another's."""
    for name, value in {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        tables = client_of("dynamodb")
        for table in ("control", "catalogue"):
            tables.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[
                    {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
                ],
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
            )
        url = client_of("sqs").create_queue(QueueName="sync")["QueueUrl"]
        found = FakeStacks(team=OUTPUTS | {"SyncQueueUrl": url}, other={"Url": url})
        monkeypatch.setattr(deployed_stacks, "cloudformation", lambda: found)
        yield found


@pytest.fixture
def deployed(stacks: FakeStacks) -> Container:
    """The stack, with three vaults of two tenants."""
    container = Container(deployed_settings(cast("Any", stacks), "team"))
    for name, tenant in (("notes", "acme"), ("plans", "acme"), ("notes", "globex")):
        vault = a_vault(name, vault_id=f"{tenant}-{name}", tenant=tenant)
        container.vault_directory.create(vault, owner=ALICE)
    return container


def queued(container: Container) -> list[str]:
    """Return the ids of the vaults whose rebuild waits in the queue."""
    url = container.settings.sync_queue_url
    answer = container.aws.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    jobs = [parse_sync(message.get("Body", "")) for message in answer.get("Messages", [])]
    assert {job.kind for job in jobs} <= {SyncKind.REBUILD}
    return sorted(str(job.vault) for job in jobs)


def test_every_vault_of_a_stack_on_aws_is_made_anew(deployed: Container) -> None:
    told = reindex(deployed)

    assert [(one["tenant"], one["name"], one["status"]) for one in told] == [
        ("acme", "notes", "started"),
        ("acme", "plans", "started"),
        ("globex", "notes", "started"),
    ]
    assert queued(deployed) == ["acme-notes", "acme-plans", "globex-notes"]
    [ref] = [ref for ref in deployed.vault_directory.all_refs() if ref.id == "acme-plans"]
    assert deployed.index.sync.runs.get(ref).rebuild_since is not None


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"tenant": "acme"}, ["acme-notes", "acme-plans"]),
        ({"vault": "notes"}, ["acme-notes", "globex-notes"]),
        ({"tenant": "globex", "vault": "notes"}, ["globex-notes"]),
        ({"tenant": "globex", "vault": "plans"}, []),
    ],
)
def test_a_tenant_or_a_vault_can_be_named(
    deployed: Container, asked: dict[str, str], found: list[str]
) -> None:
    reindex(deployed, **asked)

    assert queued(deployed) == found


def test_asked_twice_it_is_begun_once(deployed: Container) -> None:
    reindex(deployed, vault="plans")
    [again] = reindex(deployed, vault="plans")

    assert again["status"] == "already_running"
    assert queued(deployed) == ["acme-plans"]


def test_the_command_finds_the_stack_and_tells_what_it_began(
    deployed: Container, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex", "--stack", "team", "--tenant", "acme"]) == 0
    assert capsys.readouterr().out.splitlines() == ["acme/notes: started", "acme/plans: started"]
    assert main(["reindex", "--stack", "team", "--vault", "absent"]) == 1
    assert "no such vault" in capsys.readouterr().out


def test_a_stack_that_is_not_there_or_not_ours_is_one_sentence(
    stacks: FakeStacks, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex", "--stack", "absent"]) == 1
    assert "absent cannot be looked up" in capsys.readouterr().err
    assert main(["reindex", "--stack", "other"]) == 1
    assert "not one of Archivolt's template" in capsys.readouterr().err


def test_on_this_machine_it_needs_a_running_stack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex", "--data", str(tmp_path)]) == 1
    assert "No stack runs" in capsys.readouterr().err
