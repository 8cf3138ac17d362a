"""What a role lacks is denied on the running stack, to the function's own credentials."""

import pytest

from tests.e2e.stack import Stack, wait_until


def code_of(stack: Stack, function: str, service: str, operation: str, **arguments: object) -> str:
    configuration = stack.aws.functions.get_function_configuration(FunctionName=function)
    client = getattr(stack.aws.as_role(configuration["Role"]), service)
    try:
        getattr(client, operation)(**arguments)
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return ""


KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
SESSION = {"pk": {"S": "SESSION#a"}, "sk": {"S": "SESSION"}}
HOOK = {"pk": {"S": "WEBHOOKS#local"}, "sk": {"S": "WEBHOOK#a"}}
ACCOUNT = {"pk": {"S": "MCP_ACCOUNTS#local"}, "sk": {"S": "a#b"}}
BUCKET = "archivolt-documents-000000000000-us-east-1"
NOTE = {"Bucket": BUCKET, "Key": "vaults/local/v/x.md"}
TIMER = {
    "Name": "x",
    "GroupName": "archivolt-agent-schedules",
    "ScheduleExpression": "rate(1 day)",
    "FlexibleTimeWindow": {"Mode": "OFF"},
    "Target": {
        "Arn": "arn:aws:lambda:us-east-1:000000000000:function:archivolt-agent",
        "RoleArn": "arn:aws:iam::000000000000:role/x",
    },
}
SHARD = {"Bucket": BUCKET, "Key": "derived/local/v/lexical/x"}


@pytest.mark.parametrize(
    ("function", "service", "operation", "arguments"),
    [
        ("mcp", "objects", "put_object", {**SHARD, "Body": b""}),
        ("chat", "objects", "put_object", {**SHARD, "Body": b""}),
        ("mcp", "objects", "delete_object", {**NOTE, "VersionId": "1"}),
        ("chat", "objects", "delete_object", {**NOTE, "VersionId": "1"}),
        ("tools", "objects", "delete_object", {**NOTE, "VersionId": "1"}),
        ("indexing", "objects", "put_object", {**NOTE, "Body": b""}),
        ("embedding", "objects", "get_object", NOTE),
        ("indexing", "objects", "get_object", NOTE),
        ("indexing", "objects", "list_objects_v2", {"Bucket": BUCKET}),
        ("reconcile", "objects", "get_object", NOTE),
        ("reconcile", "objects", "put_object", {**SHARD, "Body": b""}),
        ("embedding", "objects", "get_object", SHARD),
        ("embedding", "tables", "get_item", {"TableName": "archivolt-catalogue", "Key": KEY}),
        ("reconcile", "tables", "get_item", {"TableName": "archivolt-control", "Key": KEY}),
        ("reconcile", "tables", "put_item", {"TableName": "archivolt-control", "Item": KEY}),
        ("retention", "objects", "get_object", NOTE),
        ("retention", "tables", "put_item", {"TableName": "archivolt-control", "Item": KEY}),
        ("agent", "tables", "get_item", {"TableName": "archivolt-conversations", "Key": KEY}),
        ("agent", "tables", "put_item", {"TableName": "archivolt-control", "Item": KEY}),
        ("agent", "objects", "put_object", {**SHARD, "Body": b""}),
        ("agent", "timers", "create_schedule", TIMER),
        ("mcp", "timers", "create_schedule", TIMER),
        ("chat", "timers", "list_schedules", {}),
        ("chat", "tables", "put_item", {"TableName": "archivolt-control", "Item": ACCOUNT}),
        ("mcp", "tables", "update_item", {"TableName": "archivolt-control", "Key": ACCOUNT}),
        ("webhooks", "objects", "get_object", NOTE),
        ("webhooks", "tables", "get_item", {"TableName": "archivolt-control", "Key": KEY}),
        ("webhooks", "tables", "put_item", {"TableName": "archivolt-control", "Item": HOOK}),
        ("authorizer", "objects", "get_object", NOTE),
        ("mcp", "tables", "get_item", {"TableName": "archivolt-conversations", "Key": KEY}),
        ("tools", "tables", "get_item", {"TableName": "archivolt-conversations", "Key": KEY}),
        ("tools", "tables", "delete_item", {"TableName": "archivolt-catalogue", "Key": KEY}),
        ("tools", "tables", "delete_item", {"TableName": "archivolt-audit", "Key": KEY}),
        ("indexing", "tables", "put_item", {"TableName": "archivolt-control", "Item": KEY}),
        ("authorizer", "tables", "put_item", {"TableName": "archivolt-control", "Item": KEY}),
        ("authorizer", "tables", "get_item", {"TableName": "archivolt-control", "Key": SESSION}),
    ],
)
def test_a_role_is_denied_what_its_function_does_not_do(
    stack: Stack, function: str, service: str, operation: str, arguments: dict[str, object]
) -> None:
    code = code_of(stack, f"archivolt-{function}", service, operation, **arguments)
    assert "AccessDenied" in code


def test_a_synchronisation_needs_no_more_than_the_session_of_its_tenant(stack: Stack) -> None:
    with stack.client() as client:
        index = "/api/v1/vault/sample/index"
        before = client.get(index).json()["last_sync"]
        assert client.post("/api/v1/tools/sync_documents", json={}).status_code == 200
        # It comes behind the first ones of everybody whom the tests before have brought.
        wait_until(lambda: client.get(index).json()["last_sync"] not in {None, before}, 240)


def test_no_function_was_denied_anything_it_tried(stack: Stack) -> None:
    denied = {
        log.name: line
        for log in stack.data.logs.glob("*.log")
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if '"access_denied"' in line
    }
    assert denied == {}
