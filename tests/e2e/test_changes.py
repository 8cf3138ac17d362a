"""Changes in two steps on the running stack, where every function has its role's rights only."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from tests.e2e.stack import Stack
from tests.entrypoints.mcp_messages import modern

APPLIES = 200


def new_note(client: httpx2.Client, vault: str) -> None:
    assert client.post("/api/v1/vaults", json={"name": vault}).status_code == 201
    body = {"path": "plan.md", "content": "# Plan\n"}
    assert client.post(f"/api/v1/file/{vault}", json=body).status_code == 201


def call(client: httpx2.Client, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    sent = modern("tools/call", {"name": tool, "arguments": arguments})
    return client.post("/mcp", json=sent.body, headers=sent.headers).json()["result"]


def paths_in(client: httpx2.Client, vault: str) -> list[str]:
    files = client.get(f"/api/v1/vault/{vault}/files").json()["files"]
    return [file["path"] for file in files]


def test_two_hundred_applies_over_rest_rename_once_and_hear_one_answer(stack: Stack) -> None:
    with stack.client() as client:
        new_note(client, "rest-changes")
        arguments = {"vault": "rest-changes", "path": "plan.md", "new_name": "plans.md"}
        proposed = client.post("/api/v1/tools/rename_file/propose", json=arguments)
        assert proposed.status_code == 200, proposed.text
        token = {"confirmation_token": proposed.json()["confirmation_token"]}

        def apply(_: int) -> tuple[int, str]:
            answer = client.post("/api/v1/tools/rename_file/apply", json=token)
            return answer.status_code, answer.text

        with ThreadPoolExecutor(APPLIES) as pool:
            answers = list(pool.map(apply, range(APPLIES)))

        assert set(answers) == {(200, answers[0][1])}
        assert paths_in(client, "rest-changes") == ["plans.md"]


def test_an_agent_renames_in_two_steps_over_mcp(stack: Stack) -> None:
    with stack.client() as person:
        new_note(person, "mcp-changes")
        token = stack.token(audience=f"{stack.url}/mcp")
        with stack.client(token) as agent:
            arguments = {"vault": "mcp-changes", "path": "plan.md", "new_name": "plans.md"}
            proposed = call(agent, "propose_rename_file", arguments)
            given = proposed["structuredContent"]["confirmation_token"]
            assert paths_in(person, "mcp-changes") == ["plan.md"]

            applied = call(agent, "apply_rename_file", {"confirmation_token": given})
            again = call(agent, "apply_rename_file", {"confirmation_token": given})

        assert not applied.get("isError"), applied
        assert applied["structuredContent"] == again["structuredContent"]
        assert paths_in(person, "mcp-changes") == ["plans.md"]


def test_both_steps_are_in_the_log_that_administrators_see(stack: Stack) -> None:
    with stack.client() as client:
        new_note(client, "logged-changes")
        arguments = {"vault": "logged-changes", "path": "plan.md", "new_name": "plans.md"}
        proposed = client.post("/api/v1/tools/rename_file/propose", json=arguments).json()
        token = {"confirmation_token": proposed["confirmation_token"]}
        client.post("/api/v1/tools/rename_file/apply", json=token)

        entries = client.get("/api/v1/audit").json()["entries"]

    steps = [entry["action"] for entry in entries if entry["vault"] == "logged-changes"]
    assert steps[:2] == ["apply:rename_file", "propose:rename_file"]
