"""The chat on the running stack: a note is asked about, found and cited."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from botocore.session import get_session

from archivolt.domain.identity import Role
from archivolt_local.emulator import REGION, ROOT_CREDENTIALS
from tests.e2e.stack import Stack, wait_until
from tests.fakes.openai_server import OpenAIServer, Reply, calls, openai_server, says

API = "/api/v1"
MESSAGES = f"{API}/chat/messages"


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx2.Client]:
    """A client of a tenant of its own, with one indexed note."""
    token = stack.token("nora", tenant="talkative", role=Role.TENANT_ADMIN)
    with stack.client(token) as client:
        write_the_note(client)
        yield client


def write_the_note(client: httpx2.Client) -> None:
    client.post(f"{API}/vaults", json={"name": "house"}).raise_for_status()
    note = {"path": "keys.md", "content": "# Keys\n\nThe spare key is under the blue mat.\n"}
    client.post(f"{API}/file/house", json=note).raise_for_status()
    search = {"q": "spare key", "mode": "lexical"}

    def is_found() -> bool:
        found = client.post(f"{API}/tools/search_documents", json=search)
        return bool(found.json().get("result", {}).get("hits"))

    wait_until(is_found, 60)


def events(body: str) -> list[tuple[str, dict[str, Any]]]:
    read: list[tuple[str, dict[str, Any]]] = []
    for block in body.strip().split("\n\n"):
        if not block.startswith(":"):
            name, data = block.split("\n")
            read.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return read


def use(http: httpx2.Client, server: OpenAIServer | None) -> None:
    """Set the tenant's provider, or none."""
    settings = {
        "chat_provider": "openai" if server else "",
        "chat_base_url": server.base_url if server else "",
        "chat_model": "m-1" if server else "",
        "chat_model_prices": {"m-1": {"input": 1, "output": 2}},
        "chat_api_key": "not-a-real-key" if server else "",
    }
    http.put(f"{API}/tenants/talkative/settings", json=settings).raise_for_status()


def test_without_any_key_a_note_is_quoted_and_cited(http: httpx2.Client) -> None:
    use(http, None)

    answer = http.post(MESSAGES, json={"message": "Where is the spare key?"})

    read = events(answer.text)
    text = "".join(data["text"] for name, data in read if name == "content_delta")
    assert "under the blue mat" in text
    assert "not a language model" in text
    [cited] = dict(read)["citations"]["items"]
    assert (cited["vault"], cited["path"], cited["heading"]) == ("house", "keys.md", "Keys")
    assert cited["uri"].startswith("vault://house/keys.md")
    assert read[-1][0] == "message_end"


def test_the_tenants_provider_answers_from_the_next_turn_on(http: httpx2.Client) -> None:
    script = [calls(("search_documents", {"q": "spare key"})), says("Under ", "the mat.")]
    with openai_server(*script) as server:
        use(http, server)
        read = events(http.post(MESSAGES, json={"message": "Where is it?"}).text)

    assert read[0][1]["model"] == "m-1"
    assert [data["text"] for name, data in read if name == "content_delta"] == [
        "Under ",
        "the mat.",
    ]
    assert [item["path"] for item in dict(read)["citations"]["items"]] == ["keys.md"]
    assert "blue mat" in server.requests[1]["messages"][-1]["content"]
    conversation = read[0][1]["conversation_id"]
    kept = http.get(f"{API}/chat/conversations/{conversation}").json()
    assert [message["text"] for message in kept["messages"]] == ["Where is it?", "Under the mat."]


def test_of_many_messages_at_once_in_a_conversation_one_is_answered(http: httpx2.Client) -> None:
    beginning = says("Well").pieces[:1]
    with openai_server(says("Hello."), Reply(pieces=beginning, hangs=True)) as server:
        use(http, server)
        first = http.post(MESSAGES, json={"message": "Hi", "stream": False}).json()
        body = {"message": "And?", "conversation_id": first["conversation_id"], "stream": False}
        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(http.post, MESSAGES, json=body) for _ in range(6)]
            wait_until(lambda: sum(each.done() for each in asked) == 5, 60)
            refused = [each.result() for each in asked if each.done()]
            server.test_is_over.set()  # the provider drops the one that was let in

    assert {answer.status_code for answer in refused} == {409}
    assert {answer.json()["error"]["code"] for answer in refused} == {"conversation_busy"}
    [let_in] = [each.result() for each in asked if each.result().status_code != 409]
    assert let_in.json()["error"]["code"] == "provider_unavailable"
    kept = http.get(f"{API}/chat/conversations/{first['conversation_id']}").json()
    assert [message["role"] for message in kept["messages"]] == ["user", "assistant", "user"]
    assert kept["busy"] is False


def test_another_tenant_sees_neither_the_note_nor_the_conversation(
    stack: Stack, http: httpx2.Client
) -> None:
    use(http, None)
    started = http.post(MESSAGES, json={"message": "Where is the spare key?", "stream": False})
    conversation = started.json()["conversation_id"]
    token = stack.token("nora", tenant="silent", role=Role.CPI_ADMIN)

    with stack.client(token) as stranger:
        answer = stranger.post(MESSAGES, json={"message": "Where is the spare key?"})
        theirs = stranger.get(f"{API}/chat/conversations/{conversation}")

    assert "blue mat" not in answer.text
    assert "citations" not in dict(events(answer.text))
    assert theirs.status_code == 404


def test_a_change_is_made_once_it_is_confirmed_and_not_before(http: httpx2.Client) -> None:
    new = {"vault": "house", "path": "doors.md", "content": "The back door sticks.\n"}
    with openai_server(calls(("create_file", new)), says("Written.")) as server:
        use(http, server)
        asked = http.post(MESSAGES, json={"message": "Note it.", "stream": False}).json()
        before = http.get(f"{API}/file/house", params={"path": "doors.md"})
        [waits] = asked["confirmations"]
        decision = {
            "conversation_id": asked["conversation_id"],
            "confirm": [waits["confirmation_token"]],
            "stream": False,
        }
        made = http.post(MESSAGES, json=decision).json()
        after = http.get(f"{API}/file/house", params={"path": "doors.md"})

    assert before.status_code == 404
    assert made["text"] == "Written."
    assert [call["status"] for call in made["tool_calls"]] == ["success"]
    assert after.json()["content"] == new["content"]


@pytest.fixture
def usage_queue(stack: Stack) -> str:
    """A queue that a rule brings every event of usage to, as a bridge to Kafka would have it."""
    events_client: Any = get_session().create_client(
        "events",
        endpoint_url=stack.aws.url,
        region_name=REGION,
        aws_access_key_id=ROOT_CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=ROOT_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    queues = stack.aws.queues
    url = queues.create_queue(QueueName="usage-of-a-test")["QueueUrl"]
    names: Any = ["QueueArn"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]["QueueArn"]
    pattern = {"source": ["archivolt.usage"]}
    events_client.put_rule(Name="usage-of-a-test", EventPattern=json.dumps(pattern))
    events_client.put_targets(Rule="usage-of-a-test", Targets=[{"Id": "queue", "Arn": arn}])
    return url


def test_what_is_used_is_told_counted_and_held_to_its_budget(
    stack: Stack, usage_queue: str
) -> None:
    token = stack.token("frida", tenant="frugal", role=Role.TENANT_ADMIN)
    with stack.client(token) as client, openai_server(says("One."), says("Two.")) as server:
        settings = f"{API}/tenants/frugal/settings"
        provider = {"chat_base_url": server.base_url, "chat_model": "gpt-4o"}
        budget = {"chat_monthly_budget_usd": 5, "chat_daily_tokens_per_user": 1_000_000}
        client.put(settings, json=provider | budget).raise_for_status()
        ends = [
            dict(events(client.post(MESSAGES, json={"message": text}).text))["message_end"]
            for text in ("One?", "Two?")
        ]
        own = client.get(f"{API}/chat/usage").json()
        tenant = client.get(f"{API}/chat/usage/tenant").json()
        client.put(settings, json={"chat_monthly_budget_usd": 0.0001}).raise_for_status()
        refused = client.post(MESSAGES, json={"message": "3?"}, headers={"accept-language": "fr"})
        after = client.get(f"{API}/chat/usage").json()

    used = {side: sum(end[side] for end in ends) for side in ("input_tokens", "output_tokens")}
    assert used == {"input_tokens": 14, "output_tokens": 6}
    for told in (own, tenant, after):
        assert {side: told[side] for side in used} == used
    assert (own["cost_usd"], own["budget_usd"], own["remaining_usd"]) == (
        "0.000096",
        "5.00",
        "4.999904",
    )
    assert [each["user"] for each in tenant["by_user"]] == ["frida"]
    assert refused.status_code == 429
    assert refused.json()["error"]["message"] == "Budget mensuel de tokens dépassé"
    assert len(server.requests) == 2
    told_of = [event["detail"] for event in _received(stack, usage_queue, 2)]
    assert [list(each) for each in told_of] == [USAGE_FIELDS] * 2
    assert {each["tenant_id"] for each in told_of} == {"frugal"}
    assert "frida" not in json.dumps(told_of)


USAGE_FIELDS = [
    "event_type",
    "tenant_id",
    "user_id",
    "conversation_id",
    "provider",
    "model",
    "input_tokens",
    "output_tokens",
    "tool_calls",
    "estimated_cost_usd",
    "timestamp",
]


def _received(stack: Stack, queue: str, count: int) -> list[dict[str, Any]]:
    """Return events of the frugal tenant, once there are so many."""
    found: list[dict[str, Any]] = []

    def enough() -> bool:
        answer = stack.aws.queues.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
        bodies = [json.loads(each.get("Body", "{}")) for each in answer.get("Messages", [])]
        found.extend(each for each in bodies if each["detail"]["tenant_id"] == "frugal")
        return len(found) >= count

    wait_until(enough, 60)
    return found
