"""Holds `template.yaml` to the code, and to what a deployment must never lack."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import pytest

from archivolt.adapters.aws.tenant_policy import DataPlaces, tenant_policy
from archivolt.adapters.dynamodb.mcp_accounts import DynamoMcpAccounts
from archivolt.adapters.dynamodb.mcp_servers import DynamoMcpServers
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.webhooks import DynamoWebhooks
from archivolt.domain.federation import McpServer
from archivolt.domain.identity import TenantId
from archivolt.domain.messages import MESSAGES
from archivolt.domain.settings import TenantSettings
from archivolt.domain.webhook import Webhook
from archivolt.settings import Settings
from archivolt_local.gateway.api import ApiDefinition
from archivolt_local.json_values import json_items
from archivolt_local.provisioning.intrinsics import resolver_for
from archivolt_local.provisioning.template import Template, load_template
from bench import BLAS_THREADS
from bench.core import ALLOCATOR, LARGE_BLOCK_BYTES
from tests.account_world import an_account
from tests.fakes.clock import START

ROOT = Path(__file__).parents[2]
PARAMETERS = {
    "PublicUrl": "https://archivolt.example",
    "AuthIssuer": "https://id.example",
    "AuthJwksUrl": "https://id.example/keys",
    "QdrantUrl": "https://vectors.example",
    "QdrantApiKey": "a-key",
}
# Read by Lambda itself, by the Web Adapter, by the C library or by numpy's, not by the product.
OF_THE_RUNTIME = ("AWS_LAMBDA_", "AWS_LWA_", "MALLOC_", "OPENBLAS_")
PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/api/v1/openapi.json"),
    *(("ANY", f"/{name}/{{proxy+}}") for name in (".well-known", "oauth", "approve")),
    *(("OPTIONS", f"/api/v1/{path}{{proxy+}}") for path in ("", "chat/", "agent/", "ai/")),
    ("OPTIONS", "/mcp"),
}


@pytest.fixture(scope="module")
def template() -> Template:
    return load_template(ROOT / "template.yaml", PARAMETERS)


@pytest.fixture(scope="module")
def body(template: Template) -> Mapping[str, Any]:
    resolver = resolver_for(template, PARAMETERS, "archivolt")
    ((_, properties),) = template.of_type("AWS::ApiGateway::RestApi")
    return resolver.resolve(properties["Body"])


@pytest.fixture(scope="module")
def api(body: Mapping[str, Any]) -> ApiDefinition:
    return ApiDefinition(body)


def statements(template: Template) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, properties in template.of_type("AWS::IAM::Role"):
        for policy in properties.get("Policies", []):
            for statement in policy["PolicyDocument"]["Statement"]:
                yield name, statement


def test_every_function_folder_is_deployed_and_the_reverse(template: Template) -> None:
    folders = {file.parent.name for file in (ROOT / "functions").glob("*/app.py")}
    assert {folder.name for folder in template.folders.values()} == folders


def test_a_function_is_named_after_its_folder(template: Template) -> None:
    names = {
        name: properties["FunctionName"]
        for name, properties in template.of_type("AWS::Lambda::Function")
    }
    assert names == {
        name: {"Fn::Sub": f"${{AWS::StackName}}-{folder.name}"}
        for name, folder in template.folders.items()
    }


def test_every_variable_is_a_setting(template: Template) -> None:
    known = {name.upper() for name in Settings.model_fields}
    for name, properties in template.of_type("AWS::Lambda::Function"):
        variables = set(properties["Environment"]["Variables"])
        ours = {variable for variable in variables if not variable.startswith(OF_THE_RUNTIME)}
        assert ours <= known, name


def test_the_chat_is_off_everywhere_until_a_parameter_turns_it_on(template: Template) -> None:
    resolve = resolver_for(template, PARAMETERS, "archivolt").resolve
    for name, properties in template.of_type("AWS::Lambda::Function"):
        assert resolve(properties["Environment"]["Variables"]["CHAT_ENABLED"]) == "false", name


def test_what_writes_shards_keeps_large_blocks_out_of_its_heap(template: Template) -> None:
    functions = dict(template.of_type("AWS::Lambda::Function"))
    for name in ("IndexingFunction", "ReconcileFunction"):
        variables = functions[name]["Environment"]["Variables"]
        assert variables[ALLOCATOR] == LARGE_BLOCK_BYTES


def test_no_functions_numerical_library_starts_threads_of_its_own(template: Template) -> None:
    for name, properties in template.of_type("AWS::Lambda::Function"):
        assert properties["Environment"]["Variables"][BLAS_THREADS] == "1", name


def test_no_variable_holds_a_key_of_the_local_stack(template: Template) -> None:
    for _, properties in template.of_type("AWS::Lambda::Function"):
        variables = properties["Environment"]["Variables"]
        assert not {"AUTH_LOCAL_KEY", "USER_STORE_ENCRYPTION_KEY"} & set(variables)


def test_only_who_signs_people_in_knows_the_secret_for_that(template: Template) -> None:
    knowing = {
        name
        for name, properties in template.of_type("AWS::Lambda::Function")
        if "AUTH_CLIENT_SECRET" in properties["Environment"]["Variables"]
    }

    assert knowing == {"ToolsFunction"}


def test_functions_run_on_arm_with_the_pinned_python(template: Template) -> None:
    kinds = {
        (properties["Runtime"], *properties["Architectures"])
        for _, properties in template.of_type("AWS::Lambda::Function")
    }
    assert kinds == {("python3.13", "arm64")}


def test_every_route_but_the_public_ones_asks_the_authorizer(
    api: ApiDefinition, body: Mapping[str, Any]
) -> None:
    methods = {
        (path, "ANY" if method.startswith("x-") else method.upper())
        for path, operations in body["paths"].items()
        for method in operations
    }
    public = {
        (method, path)
        for path, method in methods
        if (match := api.match("PUT" if method == "ANY" else method, path)) is not None
        and not match.route.authorized
    }
    assert public == PUBLIC
    assert len(methods) == len(api.routes)


@pytest.mark.parametrize("path", ["/api/v1/vaults", "/api/v1/chat/messages", "/mcp"])
def test_a_browser_may_ask_without_a_token_whether_a_page_may_call(
    api: ApiDefinition, path: str
) -> None:
    asked, called = api.match("OPTIONS", path), api.match("POST", path)
    assert asked is not None
    assert called is not None
    assert (asked.route.authorized, called.route.authorized) == (False, True)
    assert asked.route.function == called.route.function


def test_the_authorizer_is_asked_by_the_authorization_header(api: ApiDefinition) -> None:
    assert api.authorizer.function == "archivolt-authorizer"
    assert api.authorizer.header == "authorization"


@pytest.mark.parametrize(
    ("method", "path", "function", "streaming"),
    [
        ("GET", "/healthz", "archivolt-tools", False),
        ("POST", "/api/v1/tools/search_documents", "archivolt-tools", False),
        ("GET", "/api/v1/openapi.json", "archivolt-tools", False),
        ("POST", "/api/v1/chat/messages", "archivolt-chat", True),
        ("GET", "/api/v1/chat/conversations/c1", "archivolt-chat", True),
        ("GET", "/api/v1/ai/status", "archivolt-chat", True),
        ("GET", "/api/v1/config/ai-models", "archivolt-tools", False),
        ("POST", "/mcp", "archivolt-mcp", False),
        ("GET", "/.well-known/oauth-protected-resource/mcp", "archivolt-mcp", False),
        ("GET", "/.well-known/oauth-authorization-server", "archivolt-mcp", False),
        ("GET", "/oauth/authorize", "archivolt-tools", False),
        ("POST", "/oauth/token", "archivolt-tools", False),
        ("GET", "/approve/c1", "archivolt-tools", False),
    ],
)
def test_a_request_reaches_its_function(
    api: ApiDefinition, method: str, path: str, function: str, streaming: bool
) -> None:
    match = api.match(method, path)
    assert match is not None
    assert (match.route.function, match.route.streaming) == (function, streaming)


def test_a_streamed_answer_comes_from_the_streaming_invocation(body: Mapping[str, Any]) -> None:
    for path in ("/api/v1/chat", "/api/v1/chat/{proxy+}", "/api/v1/ai/{proxy+}"):
        integration = body["paths"][path]["x-amazon-apigateway-any-method"][
            "x-amazon-apigateway-integration"
        ]
        assert integration["responseTransferMode"] == "STREAM"
        assert integration["uri"].endswith("/response-streaming-invocations")


def test_the_gateway_answers_in_the_products_error_shape(api: ApiDefinition) -> None:
    assert {"DEFAULT_4XX", "DEFAULT_5XX"} <= set(api.gateway_responses)
    for kind, response in api.gateway_responses.items():
        answer = json.loads(response["responseTemplates"]["application/json"])
        assert set(answer["error"]) == {"code", "message", "details"}, kind
        assert answer["error"]["code"] in MESSAGES, kind


def test_a_missing_token_is_challenged_with_the_way_to_the_identity_provider(
    api: ApiDefinition,
) -> None:
    response = api.gateway_responses["UNAUTHORIZED"]
    assert response["statusCode"] == "401"
    challenge = response["responseParameters"]["gatewayresponse.header.WWW-Authenticate"]
    assert challenge == (
        "'Bearer resource_metadata="
        '"https://archivolt.example/.well-known/oauth-protected-resource/mcp"\''
    )


def test_without_a_public_url_the_challenge_names_no_address() -> None:
    parameters = {**PARAMETERS, "PublicUrl": ""}
    template = load_template(ROOT / "template.yaml", parameters)
    resolver = resolver_for(template, parameters, "archivolt")
    ((_, properties),) = template.of_type("AWS::ApiGateway::RestApi")
    responses = properties["Body"]["x-amazon-apigateway-gateway-responses"]
    challenge = responses["UNAUTHORIZED"]["responseParameters"]
    assert resolver.resolve(challenge) == {"gatewayresponse.header.WWW-Authenticate": "'Bearer'"}


def test_no_policy_of_ours_has_a_wildcard_action(template: Template) -> None:
    for role, statement in statements(template):
        assert not [action for action in json_items(statement["Action"]) if "*" in action], role


def test_no_policy_of_ours_reaches_beyond_a_named_resource(template: Template) -> None:
    for role, statement in statements(template):
        # AWS takes no narrower one of a list of timers, which tells their names alone.
        listed = json_items(statement["Action"]) == ["scheduler:ListSchedules"]
        for resource in [] if listed else json_items(statement["Resource"]):
            text = json.dumps(resource)
            assert "Arn" in text or '"arn:' in text, (role, resource)
            named = (
                r"(/(vaults|derived|derived/\*/operations|audit)/|-agent-(runs:|schedules/))\*\""
            )
            assert "*" not in re.sub(named, "", text), role


def test_who_may_read_objects_may_list_the_bucket_so_that_an_absent_one_is_404(
    template: Template,
) -> None:
    actions: dict[str, set[str]] = {}
    for role, statement in statements(template):
        actions.setdefault(role, set()).update(json_items(statement["Action"]))
        if "s3:ListBucket" in json_items(statement["Action"]):
            assert "Condition" not in statement, role
    readers = {role for role, allowed in actions.items() if "s3:GetObject" in allowed}
    assert readers == {role for role, allowed in actions.items() if "s3:ListBucket" in allowed}


WORKERS = ("Indexing", "Embedding", "Reconcile")


def test_a_worker_reaches_no_document_of_its_own_right(template: Template) -> None:
    owned = [
        (role, action)
        for role, statement in statements(template)
        if role in {f"{worker}FunctionRole" for worker in WORKERS}
        for action in json_items(statement["Action"])
    ]
    assert {action for _, action in owned} == {
        "events:PutEvents",
        "sqs:SendMessage",
        "dynamodb:Scan",
        "dynamodb:GetItem",
    }
    reads = {role for role, action in owned if action.startswith("dynamodb:")}
    assert reads == {"ReconcileFunctionRole"}


@pytest.mark.parametrize("worker", WORKERS)
def test_a_tenants_role_is_taken_on_by_its_worker_and_nobody_else(
    template: Template, worker: str
) -> None:
    role = dict(template.of_type("AWS::IAM::Role"))[f"{worker}TenantRole"]
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    function = dict(template.of_type("AWS::Lambda::Function"))[f"{worker}Function"]

    assert trust["Principal"] == {"AWS": {"Fn::GetAtt": [f"{worker}FunctionRole", "Arn"]}}
    assert trust["Action"] == "sts:AssumeRole"
    arn = {"Fn::GetAtt": [f"{worker}TenantRole", "Arn"]}
    assert function["Environment"]["Variables"]["TENANT_ROLE_ARN"] == arn
    access = dict(template.of_type("AWS::IAM::Policy"))[f"{worker}TenantAccess"]
    [right] = access["PolicyDocument"]["Statement"]
    assert access["Roles"] == [{"Ref": f"{worker}FunctionRole"}]
    assert (right["Action"], right["Resource"]) == (["sts:AssumeRole"], arn)


def test_a_tenants_role_may_do_nothing_that_its_session_policy_cannot_narrow(
    template: Template,
) -> None:
    places = DataPlaces(bucket="B", tables=["T"], key="K")
    narrowed = [
        action
        for statement in json.loads(tenant_policy(TenantId("t"), places))["Statement"]
        for action in statement["Action"]
    ]
    for role, statement in statements(template):
        if role.endswith("TenantRole"):
            for action in json_items(statement["Action"]):
                assert any(fnmatchcase(action, each) for each in narrowed), (role, action)


def test_the_audit_log_can_only_be_added_to_and_read_but_by_who_erases(template: Template) -> None:
    of_audit = [
        (role, statement)
        for role, statement in statements(template)
        if "AuditTable" in json.dumps(statement["Resource"])
    ]
    actions = {
        action
        for role, statement in of_audit
        if role != "RetentionFunctionRole"
        for action in json_items(statement["Action"])
    }
    assert actions == {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}
    # A tenant's entries go with it; of others, names are taken out and nothing else is touched.
    [changing] = [given for _, given in of_audit if "dynamodb:UpdateItem" in given["Action"]]
    only = changing["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    assert set(only) == {
        *("pk", "sk", "user", "token_id", "who_salt"),
        *("vault", "path", "details", "what_salt"),
    }


def test_the_authorizer_reads_tokens_of_programs_and_nothing_else(template: Template) -> None:
    rights = [given for role, given in statements(template) if role.startswith("Authorizer")]

    assert [json_items(given["Action"]) for given in rights] == [["dynamodb:GetItem"]]
    assert rights[0]["Condition"] == {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["PAT#*", "GRANT#*"]}
    }


def test_who_notes_the_use_of_a_personal_token_changes_nothing_else_of_it(
    template: Template,
) -> None:
    rights = [
        given for _, given in statements(template) if given.get("Sid") == "NoteUseOfPersonalTokens"
    ]

    assert len(rights) == len({"chat", "mcp"})
    for given in rights:
        assert json_items(given["Action"]) == ["dynamodb:UpdateItem"]
        only = given["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
        assert set(only) == {"pk", "sk", "last_used"}


def test_who_notes_whom_it_saw_changes_no_state_and_no_limit(template: Template) -> None:
    rights = [given for _, given in statements(template) if given.get("Sid") == "NotePeople"]

    assert len(rights) == len({"chat", "mcp"})
    for given in rights:
        assert json_items(given["Action"]) == ["dynamodb:UpdateItem"]
        only = given["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
        assert set(only) == {"pk", "sk", "id", "role", "first_seen", "last_seen"}


def test_who_notes_what_mcp_servers_list_changes_neither_where_they_lead_nor_their_secrets(
    template: Template,
) -> None:
    [given] = [given for _, given in statements(template) if given.get("Sid") == "NoteMcpServers"]

    assert json_items(given["Action"]) == ["dynamodb:UpdateItem"]
    only = given["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    client = _NotedUpdates()
    table = DynamoTable(cast("Any", client), "ControlTable")
    DynamoMcpServers(table).note(TenantId("acme"), McpServer(id="ours"))
    assert set(only) == {"pk", "sk"} | client.names
    assert not client.names & {"command", "arguments", "url", "plain", "sealed", "fingerprints"}


def test_who_renews_an_account_changes_neither_whose_it_is_nor_what_it_is_for(
    template: Template,
) -> None:
    [given] = [given for _, given in statements(template) if given.get("Sid") == "RenewMcpAccounts"]

    assert json_items(given["Action"]) == ["dynamodb:UpdateItem"]
    client = _NotedUpdates()
    store = DynamoMcpAccounts(DynamoTable(cast("Any", client), "ControlTable"))
    account = an_account()
    assert store.claim(account, now=START, until=START)
    assert store.renew(account, account.lost())
    store.refuse(account, refused=True)
    store.want(account, "files:write")
    only = given["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    assert set(only) == {"pk", "sk"} | client.names
    assert not client.names & {"tenant", "user", "server", "place", "issuer", "connected_at"}


def test_who_calls_webhooks_reaches_them_alone_and_changes_neither_address_nor_secret(
    template: Template,
) -> None:
    rights = {
        given["Sid"]: given
        for role, given in statements(template)
        if role.startswith("WebhooksFunction")
    }

    assert set(rights) == {"ReadWebhooks", "NoteWebhooks", "OpenTenantSecrets"}
    assert json_items(rights["ReadWebhooks"]["Action"]) == ["dynamodb:GetItem"]
    keys = rights["ReadWebhooks"]["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert keys == ["WEBHOOKS#*", "TENANT#*"]
    assert json_items(rights["OpenTenantSecrets"]["Action"]) == ["kms:Decrypt"]
    given = rights["NoteWebhooks"]
    assert json_items(given["Action"]) == ["dynamodb:UpdateItem"]
    only = given["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    client = _NotedUpdates()
    store = DynamoWebhooks(DynamoTable(cast("Any", client), "ControlTable"))
    store.note(TenantId("acme"), Webhook(id="w", url="https://w.test"), turned_off=True, missed=1)
    assert set(only) == {"pk", "sk"} | client.names
    assert not client.names & {"url", "events", "sealed", "sealed_before", "both_until"}


class _NotedUpdates:
    """A client of DynamoDB that notes which attributes an update names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def update_item(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  boto3's
        self.names |= set(arguments["ExpressionAttributeNames"].values())
        return {}


def test_who_starts_a_run_for_a_program_counts_the_runs_of_its_person(template: Template) -> None:
    [given] = [
        given
        for role, given in statements(template)
        if role.startswith("Mcp") and given.get("Sid") == "KeepRuns"
    ]

    assert "by_last_use" in str(given["Resource"])
    keys = given["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert keys == ["RUN#*", "RUN_OWNER#*"]


def test_who_shuts_out_whom_it_erases_changes_no_setting(template: Template) -> None:
    rights = [
        given
        for role, given in statements(template)
        if role.startswith("Retention")
        and "ControlTable" in str(given["Resource"])
        and "dynamodb:UpdateItem" in given["Action"]
    ]

    keys = [
        given["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] for given in rights
    ]
    assert keys == [["ERASURE#*"], ["TENANT#*", "PEOPLE#*"]]
    only = rights[1]["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    assert set(only) == {"pk", "sk", "id", "name", "state", "changed_at", "calls"}
    assert not set(only) & {field.name for field in fields(TenantSettings)}


def test_a_timer_calls_the_agent_function_and_nothing_else(template: Template) -> None:
    roles = dict(template.of_type("AWS::IAM::Role"))
    trusted = roles["AgentScheduleRole"]["AssumeRolePolicyDocument"]["Statement"]
    given = [each for role, each in statements(template) if role == "AgentScheduleRole"]

    assert [each["Principal"] for each in trusted] == [{"Service": "scheduler.amazonaws.com"}]
    assert "aws:SourceAccount" in trusted[0]["Condition"]["StringEquals"]
    assert {action for each in given for action in json_items(each["Action"])} == {
        "lambda:InvokeFunction",
        "sqs:SendMessage",
    }
    assert "function:${AWS::StackName}-agent" in json.dumps(given[0]["Resource"])


def test_only_who_makes_schedules_hands_a_role_on_and_only_that_of_timers(
    template: Template,
) -> None:
    passed = [
        (role, each)
        for role, each in statements(template)
        if "iam:PassRole" in json_items(each["Action"])
    ]

    [(role, given)] = passed
    assert role == "ChatFunctionRole"
    assert given["Resource"] == {"Fn::GetAtt": ["AgentScheduleRole", "Arn"]}
    assert given["Condition"] == {
        "StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}
    }


def test_what_a_timer_could_not_hand_over_is_kept_and_watched(template: Template) -> None:
    [(_, handed)] = template.of_type("AWS::Lambda::EventInvokeConfig")
    watched = json.dumps([p["Dimensions"] for _, p in template.of_type("AWS::CloudWatch::Alarm")])

    assert "SchedulesDeadLetters" in json.dumps(handed["DestinationConfig"]["OnFailure"])
    assert "SchedulesDeadLetters" in watched


def test_every_table_is_kept_backed_up_and_encrypted(template: Template) -> None:
    tables = list(template.of_type("AWS::DynamoDB::Table"))
    assert tables
    for name, properties in tables:
        assert template.resources[name]["DeletionPolicy"] == "Retain"
        assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        assert properties["SSESpecification"]["SSEEnabled"]


def test_the_documents_are_versioned_private_and_announced(template: Template) -> None:
    ((name, bucket),) = template.of_type("AWS::S3::Bucket")
    assert template.resources[name]["DeletionPolicy"] == "Retain"
    assert bucket["VersioningConfiguration"]["Status"] == "Enabled"
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    events = bucket["NotificationConfiguration"]["EventBridgeConfiguration"]
    assert events["EventBridgeEnabled"]


def test_only_documents_and_no_derived_data_are_announced_to_the_indexing(
    template: Template,
) -> None:
    (rule,) = (
        properties
        for _, properties in template.of_type("AWS::Events::Rule")
        if "EventPattern" in properties
    )
    assert rule["EventPattern"]["detail"]["object"] == {"key": [{"prefix": "vaults/"}]}


def test_every_working_queue_hides_long_enough_and_ends_in_a_watched_dead_letter_queue(
    template: Template,
) -> None:
    queues = dict(template.of_type("AWS::SQS::Queue"))
    timeouts = {name: p["Timeout"] for name, p in template.of_type("AWS::Lambda::Function")}
    watched = json.dumps([p["Dimensions"] for _, p in template.of_type("AWS::CloudWatch::Alarm")])
    sources = list(template.of_type("AWS::Lambda::EventSourceMapping"))
    assert sources
    for _, source in sources:
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        queue = queues[source["EventSourceArn"]["Fn::GetAtt"][0]]
        assert queue["VisibilityTimeout"] >= 6 * timeouts[source["FunctionName"]["Ref"]]
        dead_letters = queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert dead_letters in watched


def test_only_the_tools_function_writes_freely_among_vaults_and_settings(
    template: Template,
) -> None:
    bound: dict[str, set[str]] = {}
    for role, statement in statements(template):
        if "dynamodb:PutItem" in statement["Action"] and "ControlTable" in str(
            statement["Resource"]
        ):
            keys = [
                key
                for rules in statement.get("Condition", {}).values()
                for key in rules["dynamodb:LeadingKeys"]
            ]
            bound.setdefault(role, set()).update(keys or ["*"])

    free = {role for role, keys in bound.items() if "*" in keys}
    assert free == {"ToolsFunctionRole"}
    # What makes the vaults of users who are new.
    assert bound["ReconcileTenantRole"] >= {"TENANT#*", "VAULT#*", "USER#*"}
    bound["ReconcileTenantRole"] -= {"TENANT#*", "VAULT#*", "USER#*"}
    assert set().union(*(bound[role] for role in bound.keys() - free)) == {
        "DEPLOYMENT",
        "ERASURE#*",
        "ERASURES#*",
        "OPERATIONS#*",
        "RETENTION",
        "SCHEDULES#*",
        "SKILLS#*",
        "SYNC#*",
    }
