"""Starting, stopping, being killed: what a person at a terminal sees, and that nothing is lost."""

import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import httpx2
import pytest

from archivolt_local.environment import for_children
from archivolt_local.places import SAMPLE_VAULT
from archivolt_local.private_files import read_json
from tests.e2e.conftest import NewStack
from tests.e2e.stack import Stack, wait_until


def test_the_stack_says_that_it_is_ready_and_answers_without_a_token(stack: Stack) -> None:
    assert f"Archivolt is ready: {stack.url}" in stack.output.splitlines()
    answer = httpx2.get(f"{stack.url}/healthz", trust_env=False)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_the_connection_file_is_all_a_program_needs(stack: Stack) -> None:
    connection = stack.connection
    assert set(connection) == {"url", "tenant", "user", "token"}
    assert stat.S_IMODE(stack.data.connection.stat().st_mode) == 0o600
    headers = {"Authorization": f"Bearer {connection['token']}"}
    vaults = f"{connection['url']}/api/v1/vaults"
    answer = httpx2.get(vaults, headers=headers, trust_env=False)
    assert answer.status_code == 200
    assert "sample" in {vault["name"] for vault in answer.json()["vaults"]}


def test_without_a_token_the_door_is_closed_with_a_challenge(stack: Stack) -> None:
    for path in ("/api/v1/vaults", "/api/v1/chat/conversations", "/mcp"):
        answer = httpx2.post(f"{stack.url}{path}", trust_env=False)
        assert answer.status_code == 401, path
        assert answer.json()["error"]["code"] == "invalid_token"
        metadata = f"{stack.url}/.well-known/oauth-protected-resource/mcp"
        assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'


def test_a_forged_token_is_refused(stack: Stack) -> None:
    head, _, signature = stack.token().rpartition(".")
    with stack.client(f"{head}.{signature[::-1]}") as client:
        assert client.get("/api/v1/vaults").status_code == 401


def test_the_token_command_gives_a_token_for_anybody(stack: Stack) -> None:
    command = stack.command("token", "--user", "zoe", "--tenant", "other", "--role", "viewer")
    printed = subprocess.run(command, env=for_children(), capture_output=True, check=True)
    with stack.client(printed.stdout.decode().splitlines()[-1]) as client:
        answer = client.get("/api/v1/vaults")
    assert answer.status_code == 200
    # Who is new has a vault of their own, and no other.
    [vault] = answer.json()["vaults"]
    assert (vault["name"], vault["role"], vault["files"]) == ("Notes-zoe", "owner", 0)


def test_everything_listens_on_the_loopback_alone(stack: Stack) -> None:
    ours = {
        link
        for pid in stack.processes()
        for link in _links(Path(f"/proc/{pid}/fd"))
        if link.startswith("socket:")
    }
    addresses = {
        words[1].split(":")[0]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text().splitlines()[1:]
        if (words := line.split())[3] == "0A" and f"socket:[{words[9]}]" in ours
    }
    # 127.0.0.1, in the kernel's byte order.
    assert addresses == {"0100007F"}


def _links(folder: Path) -> list[str]:
    try:
        return [str(link.readlink()) for link in folder.iterdir()]
    except OSError:
        return []


def test_a_second_stack_on_the_same_data_is_one_sentence(stack: Stack) -> None:
    second = Stack(stack.root, {}, stack.tables)
    done = subprocess.run(
        second.command("up", "--port", str(second.port)),
        env=for_children(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("archivolt: Another Archivolt already runs on")


def test_a_busy_port_is_one_sentence_and_leaves_nothing_behind(
    stack: Stack, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    other = Stack(tmp_path, {})
    done = subprocess.run(
        other.command("up", "--port", str(stack.port)),
        env=for_children(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        f"archivolt: Port {stack.port} is busy; choose another one with --port."
    ]
    assert not data.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_starts_ends_it_cleanly(
    new_stack: NewStack, number: signal.Signals
) -> None:
    own = new_stack(tables="ministack")
    own.launch()
    wait_until(lambda: "Deploying" in own.output)
    assert own.stop(number) == 0
    assert own.processes() == []
    assert "Traceback" not in own.output


def test_a_stopped_stack_leaves_no_process_and_keeps_everything_and_a_lost_part_stops_it(
    new_stack: NewStack, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    shutil.copytree(SAMPLE_VAULT, folder)
    own = new_stack({"notes": folder}).start()
    wait_until(lambda: own.vault_status("notes").get("states") == {"indexed": 5}, 120, every=0.5)
    before = own.vault_status("notes")
    told = {vault["name"]: vault["states"] for vault in own.status()["vaults"]}
    assert told["notes"] == {"indexed": 5}
    hits = [(hit["path"], hit["heading"]) for hit in own.search("nightly backups kept")]
    assert hits[0][0] == "Guides/Backups.md"
    assert own.stop(signal.SIGINT) == 0
    assert own.processes() == []
    own.start()
    # The scheduled comparison may have run meanwhile.
    assert own.vault_status("notes") | {"last_sync": before["last_sync"]} == before
    assert [(hit["path"], hit["heading"]) for hit in own.search("nightly backups kept")] == hits
    (store,) = [pid for pid in own.processes() if b"vectors.server" in _command(pid)]
    os.kill(store, signal.SIGKILL)
    assert own.process is not None
    assert own.process.wait(60) == 1
    assert "archivolt: The vector store ended by itself" in own.output
    assert own.processes() == []


@pytest.mark.one_python
def test_killed_while_it_indexes_it_finishes_after_the_next_start(
    new_stack: NewStack, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.md").write_text(f"# Note {number}\n\nThe word is mot{number:02}.\n")
    own = new_stack({"many": folder}).start()
    wait_until(lambda: own.vault_status("many").get("files", 0) >= 5, 120, every=0.2)
    assert own.vault_status("many")["states"].get("indexed", 0) < 60
    with own.client() as client:
        written = {"path": "acknowledged.md", "content": "# Kept\n\nThe word is pangolin.\n"}
        assert client.post("/api/v1/file/many", json=written).status_code == 201
    own.kill()
    own.start()
    wait_until(lambda: own.vault_status("many").get("states") == {"indexed": 61}, 420, every=0.5)
    (hit,) = own.search("pangolin", mode="lexical")[:1]
    assert hit["path"] == "acknowledged.md"
    paths = {own.search(f"mot{number:02}", mode="lexical")[0]["path"] for number in (0, 31, 59)}
    assert paths == {"00.md", "31.md", "59.md"}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_chat_app_is_started_again_when_it_ends(stack: Stack) -> None:
    (app,) = [pid for pid in stack.processes() if b"app:app" in _command(pid)]
    os.kill(app, signal.SIGKILL)

    with stack.client() as client:

        def answers() -> bool:
            return client.get("/api/v1/chat/conversations").status_code == 200

        wait_until(lambda: app not in stack.processes() and answers())


def test_private_files_are_their_owners_alone(stack: Stack) -> None:
    for file in (stack.data.keys, stack.data.stack, stack.data.connection):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    for place in (stack.data.root, *stack.data.root.iterdir()):
        assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0, place
    assert "signing" in read_json(stack.data.keys)


def test_the_status_is_text_for_a_person(stack: Stack) -> None:
    command = stack.command("status")
    printed = subprocess.run(command, env=for_children(), capture_output=True, check=True)
    text = printed.stdout.decode()
    assert stack.url in text
    assert "local/sample" in text
    assert "archivolt-indexing" in text
    assert set(stack.status()) == {"url", "data", "tables", "vaults", "queues"}
