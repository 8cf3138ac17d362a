"""MCP servers of others on the running stack: real ones from npm and PyPI, and broken ones."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.identity import Role
from archivolt_local.addresses import free_port
from archivolt_local.private_files import read_json
from archivolt_local.tokens import TokenSubject, sign_in_link
from tests.e2e.stack import Stack, wait_until
from tests.e2e.test_oauth import Person
from tests.fakes import mcp_bridge, mcp_program
from tests.fakes.openai_server import OpenAIServer, Reply, calls, openai_server, says

pytestmark = pytest.mark.one_python

API = "/api/v1"
ROOT = Path(__file__).parents[2]
NODE = ROOT / "node_modules" / ".bin" / "node"
PYTHON = ROOT / ".tools" / "mcp-servers" / "bin" / "python"
EVERYTHING = ROOT / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
FILES = ROOT / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"

needs_servers = pytest.mark.skipif(
    not (EVERYTHING.exists() and PYTHON.exists()), reason="the servers of others are not installed"
)


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx2.Client]:
    """An administrator of a tenant of its own, with nothing turned on."""
    token = stack.token("fred", tenant="federated", role=Role.TENANT_ADMIN)
    with stack.client(token) as client:
        yield client


@pytest.fixture(autouse=True)
def all_off_afterwards(http: httpx2.Client) -> Iterator[None]:
    yield
    for server in http.get(f"{API}/mcp").json()["servers"]:
        http.delete(f"{API}/mcp/{server['id']}")


def turn_on(http: httpx2.Client, server: str, **given: object) -> dict[str, Any]:
    answer = http.put(f"{API}/mcp/{server}", json={"enabled": True, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ask(http: httpx2.Client, *script: Reply, **body: object) -> tuple[dict[str, Any], OpenAIServer]:
    """Return the answer to a message whose model is scripted, and what the model was sent."""
    with openai_server(*script) as server:
        settings = {
            "chat_provider": "openai",
            "chat_base_url": server.base_url,
            "chat_model": "m-1",
            "chat_api_key": "not-a-real-key",
            "chat_model_prices": {"m-1": {"input": "1", "output": "1"}},
        }
        http.put(f"{API}/tenants/federated/settings", json=settings).raise_for_status()
        sent = {"message": "Go on.", "stream": False} | body
        answer = http.post(f"{API}/chat/messages", json=sent)
        assert answer.status_code == 200, answer.text
        return answer.json(), server


def offered(server: OpenAIServer, request: int = 0) -> list[str]:
    tools: list[dict[str, Any]] = server.requests[request].get("tools") or []
    names = [str(tool["function"]["name"]) for tool in tools]
    return [name for name in names if name.startswith("mcp_")]


def results(server: OpenAIServer) -> str:
    return "\n".join(str(each["content"]) for each in server.requests[-1]["messages"][2:])


@needs_servers
def test_real_servers_from_npm_and_pypi_work_as_programs(
    stack: Stack, http: httpx2.Client, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("the blue mat", encoding="utf-8")
    turn_on(http, "everything", command=str(NODE), args=[str(EVERYTHING)])
    turn_on(http, "files", command=str(NODE), args=[str(FILES), str(tmp_path)])
    turn_on(http, "time", command=str(PYTHON), args=["-m", "mcp_server_time"])
    fetch = ["-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt"]
    turn_on(http, "fetch", command=str(PYTHON), args=fetch)

    answer, model = ask(
        http,
        calls(
            ("mcp_everything_echo", {"message": "hello"}),
            ("mcp_files_read_text_file", {"path": str(tmp_path / "note.txt")}),
            ("mcp_time_get_current_time", {"timezone": "Europe/Paris"}),
        ),
        says("Done."),
    )

    assert [call["status"] for call in answer["tool_calls"]] == ["success"] * 3
    assert (answer["text"], answer["notices"]) == ("Done.", [])
    for said in ("Echo: hello", "the blue mat", "Europe/Paris"):
        assert said in results(model)
    page = ("mcp_fetch_fetch", {"url": f"{stack.url}/healthz"})
    answer, model = ask(http, calls(page), says("Done."))
    assert [call["status"] for call in answer["tool_calls"]] == ["success"]
    assert "ok" in results(model)

    http.put(f"{API}/mcp/fetch", json={"enabled": False}).raise_for_status()
    _, model = ask(http, says("Done."))
    assert "mcp_fetch_fetch" not in offered(model)
    assert "mcp_time_get_current_time" in offered(model)


@needs_servers
def test_real_servers_are_used_over_http_and_so_is_our_own(
    stack: Stack, http: httpx2.Client, tmp_path: Path
) -> None:
    """Those that are programs alone are behind a bridge, which passes on what they say."""
    (tmp_path / "note.txt").write_text("the blue mat", encoding="utf-8")
    fetch = ["-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt"]
    programs = {
        "files": [str(NODE), str(FILES), str(tmp_path)],
        "time": [str(PYTHON), "-m", "mcp_server_time"],
        "fetch": [str(PYTHON), *fetch],
    }
    with bridge(programs) as bridged, everything_over_http() as everything:
        for name in programs:
            turn_on(http, name, url=f"{bridged}/{name}/mcp")
        turn_on(http, "everything", url=everything)
        bearer = f"Bearer {stack.token('fred', tenant='federated')}"
        turn_on(http, "ourselves", url=f"{stack.url}/mcp", parameters={"Authorization": bearer})

        asked, model = ask(
            http,
            calls(
                ("mcp_files_read_text_file", {"path": str(tmp_path / "note.txt")}),
                ("mcp_time_get_current_time", {"timezone": "Europe/Paris"}),
                ("mcp_fetch_fetch", {"url": f"{stack.url}/healthz"}),
                ("mcp_everything_echo", {"message": "hello"}),
                ("mcp_ourselves_list_vaults", {}),
            ),
            says("Done."),
        )

    assert [call["status"] for call in asked["tool_calls"]] == ["success"] * 5
    assert (asked["text"], asked["notices"]) == ("Done.", [])
    for said in ("the blue mat", "Europe/Paris", "ok", "Echo: hello", "Notes-fred"):
        assert said in results(model)


@contextmanager
def everything_over_http() -> Generator[str]:
    """Give the address of npm's server, in its own HTTP mode, until the end of the block."""
    port = free_port()
    command = [str(NODE), str(EVERYTHING), "streamableHttp"]
    with program(command, PORT=str(port)):
        address = f"http://127.0.0.1:{port}/mcp"
        wait_until(lambda: _answers(address))
        yield address


@contextmanager
def bridge(programs: Mapping[str, Sequence[str]]) -> Generator[str]:
    """Give the address under which programs are served; at the end none of them is left."""
    port = free_port()
    command = [str(PYTHON), str(Path(mcp_bridge.__file__)), str(port), json.dumps(programs)]
    with program(command) as process:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: _answers(address))
        started = children(process.pid)
        yield address
        process.terminate()
        process.wait()
    assert len(started) == len(programs)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))


@contextmanager
def program(command: Sequence[str], **values: str) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        env={"PATH": os.defpath} | values,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def test_a_person_connects_their_own_account_and_the_chat_uses_it_as_them(
    stack: Stack, http: httpx2.Client
) -> None:
    page, connection = f"{stack.url}/oauth/mcp/ourselves", f"{API}/mcp/ourselves/connection"
    assert turn_on(http, "ourselves", url=f"{stack.url}/mcp")["problem"]["code"] == (
        "mcp_sign_in_needed"
    )
    answer, _ = ask(http, says("Done."))
    assert page in next(each["message"] for each in answer["notices"])

    fred = Person(stack, "fred")
    subject = TokenSubject(tenant="federated", user="fred", role=Role.TENANT_ADMIN)
    signing = str(read_json(stack.data.keys)["signing"])
    fred.follows(sign_in_link(stack.url, subject, signing, SystemClock()), "Programs you let in")
    begun = http.post(connection).json()
    fred.follows(begun["authorization_url"], "Your account is connected")

    assert http.get(connection).json()["state"] == "connected"
    listed = {each["id"]: each["status"] for each in http.get(f"{API}/mcp").json()["servers"]}
    assert listed["ourselves"] == "connected"
    tables: Any = stack.aws.tables
    account = {"pk": {"S": "MCP_ACCOUNTS#federated"}, "sk": {"S": "fred#ourselves"}}
    kept = tables.update_item(
        TableName="archivolt-control",
        Key=account,
        UpdateExpression="SET expires_at = :over",
        ExpressionAttributeValues={":over": {"N": "0"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    asked, model = ask(http, calls(("mcp_ourselves_list_vaults", {})), says("Done."))
    assert [call["status"] for call in asked["tool_calls"]] == ["success"]
    assert (asked["notices"], "Notes-fred" in results(model)) == ([], True)
    renewed = tables.get_item(TableName="archivolt-control", Key=account)["Item"]
    assert renewed["edition"] == {"N": str(int(kept["edition"]["N"]) + 1)}
    assert renewed["sealed"] != kept["sealed"]
    [let_in] = http.get(f"{API}/connections").json()["connections"]
    assert let_in["program"] == "Archivolt"

    assert http.delete(connection).status_code == 204
    assert http.get(f"{API}/connections").json()["connections"] == []
    asked, _ = ask(http, calls(("mcp_ourselves_list_vaults", {})), says("Done."))
    assert [call["status"] for call in asked["tool_calls"]] == ["error"]
    assert [notice["code"] for notice in asked["notices"]] == ["mcp_sign_in_needed"]


def _answers(address: str) -> bool:
    try:
        httpx2.get(address, timeout=5, trust_env=False)
    except httpx2.HTTPError:
        return False
    return True


@needs_servers
def test_a_question_of_a_real_server_is_answered_in_the_conversation(http: httpx2.Client) -> None:
    turn_on(http, "everything", command=str(NODE), args=[str(EVERYTHING)])

    asking = calls(("mcp_everything_trigger-elicitation-request", {}))
    first, _ = ask(http, asking)
    [change] = first["confirmations"]
    assert change["question"] is None
    conversation = first["conversation_id"]
    second, _ = ask(
        http,
        says("Done."),
        message="",
        conversation_id=conversation,
        confirm=[change["confirmation_token"]],
    )
    [question] = second["confirmations"]
    [asked] = question["question"]["questions"]
    given = {"confirmation_token": question["confirmation_token"]}
    third, model = ask(
        http,
        says("Done."),
        message="",
        conversation_id=conversation,
        answers=[given | {"content": {asked["id"]: {"name": "Ann"}}}],
    )

    assert (third["text"], third["confirmations"]) == ("Done.", [])
    assert "Name: Ann" in results(model)


def test_a_command_that_is_not_there_is_a_notice_and_the_chat_works(http: httpx2.Client) -> None:
    body = turn_on(http, "custom", command="/no/such/program")
    assert (body["status"], body["problem"]["code"]) == ("error", "mcp_server_unavailable")

    answer, model = ask(http, says("Hello."))

    assert answer["text"] == "Hello."
    assert [notice["code"] for notice in answer["notices"]] == ["mcp_server_unavailable"]
    assert offered(model) == []


def test_a_program_that_breaks_is_out_for_the_turn_and_gone_once_it_is_turned_off(
    http: httpx2.Client,
) -> None:
    script = [sys.executable, "-I", str(Path(mcp_program.__file__)), "well"]
    turn_on(http, "ours", command=script[0], args=script[1:])

    reading = calls(("mcp_ours_echo", {"said": "hi"}), ("mcp_ours_pid", {}))
    answer, model = ask(http, reading, calls(("mcp_ours_post", {})))
    [change] = answer["confirmations"]
    assert json.dumps({"said": "hi"}).replace('"', '\\"') in results(model)
    [running] = re.findall(r'"server": "ours", "content": "(\d+)"', results(model))
    assert Path(f"/proc/{running}").exists()
    body = turn_on(http, "ours", args=[*script[1:-1], "ends"])
    assert body["status"] == "error"
    decided: dict[str, object] = {
        "message": "",
        "conversation_id": answer["conversation_id"],
        "confirm": [change["confirmation_token"]],
    }

    answer, model = ask(http, says("It is not there."), **decided)

    assert answer["text"] == "It is not there."
    assert [notice["code"] for notice in answer["notices"]] == ["mcp_server_unavailable"]
    wait_until(lambda: not Path(f"/proc/{running}").exists())
