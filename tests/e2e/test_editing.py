"""A day of editing on the running stack: by hand, by tools in two steps, and over MCP."""

import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.guide import VAULTS_GUIDE, examples

PLAN = "---\ntags: [projet/été]\n---\n# Plan\n\nVoir [[budget#Postes|les postes]] et ![[budget]].\n"
BUDGET = "# Budget\n\n## Postes\n\nLe loyer reste à régler. Retour au [plan](../plan.md).\n"


class Desk(NamedTuple):
    """A vault of a test's own, and its owner at work in French."""

    http: httpx2.Client
    vault: str

    def get(self, address: str, /, **parameters: object) -> dict[str, Any]:
        """Return what an address answers; `{vault}` in it is this vault."""
        given = {key: str(each) for key, each in parameters.items()}
        answer = self.http.get(f"/api/v1/{address.format(vault=self.vault)}", params=given)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, method: str, address: str, /, **body: object) -> httpx2.Response:
        """Send a body as JSON to an address."""
        return self.http.request(method, f"/api/v1/{address.format(vault=self.vault)}", json=body)

    def propose(self, tool: str, /, **arguments: object) -> httpx2.Response:
        """Propose a change in this vault."""
        return self.send("POST", f"tools/{tool}/propose", vault=self.vault, **arguments)

    def apply(self, tool: str, proposed: httpx2.Response) -> httpx2.Response:
        """Apply what was proposed."""
        assert proposed.status_code == 200, proposed.text
        token = proposed.json()["confirmation_token"]
        return self.send("POST", f"tools/{tool}/apply", confirmation_token=token)

    def change(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Propose and apply; return the result."""
        applied = self.apply(tool, self.propose(tool, **arguments))
        assert applied.status_code == 200, applied.text
        return applied.json()["result"]

    def write(self, path: str, content: str) -> None:
        """Create a file by hand."""
        created = self.send("POST", "file/{vault}", path=path, content=content)
        assert created.status_code == 201, created.text

    def text(self, path: str) -> str:
        """Return what reading a file shows."""
        return self.get("file/{vault}", path=path)["content"]

    def paths(self) -> list[str]:
        """Return every file there is."""
        return [file["path"] for file in self.get("vault/{vault}/files")["files"]]

    def found(self, address: str, field: str, /, **parameters: object) -> list[str]:
        """Return the paths in a list of an answer."""
        listed = self.get(address, vault=self.vault, **parameters)[field]
        return [each["path"] for each in listed]


@pytest.fixture
def desk(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Desk]:
    name = str(request.function.__name__).removeprefix("test_")[:60]
    with stack.client() as http:
        http.headers["Accept-Language"] = "fr"
        assert http.post("/api/v1/vaults", json={"name": name}).status_code == 201
        yield Desk(http, name)


def test_the_commands_of_the_guide_run_one_after_the_other(stack: Stack) -> None:
    strict = "set -euo pipefail\ncurl() { command curl --fail-with-body --noproxy '*' \"$@\"; }\n"
    commands = "\n".join(example.text for example in examples(VAULTS_GUIDE, "sh"))
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "URL": stack.url, "TOKEN": stack.token()}

    done = subprocess.run(
        ["bash", "-c", strict + commands],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    with stack.client() as http:
        files = http.get("/api/v1/vault/Garden/files").json()["files"]
        moved = http.get("/api/v1/file/Garden?path=archive/2026/beds/tomatoes.md").json()
    assert [file["path"] for file in files] == ["archive/2026/beds/tomatoes.md", "soil.md"]
    assert "[[soil]]" in moved["content"]
    assert "status: sown" in moved["content"]


def test_a_stale_edit_is_refused_and_every_version_comes_back(desk: Desk) -> None:
    desk.write("plan.md", PLAN)
    read = desk.get("file/{vault}", path="plan.md")
    based = {"path": "plan.md", "etag": read["etag"]}
    proposed = desk.propose("edit_file", content="# Autre plan\n", **based)
    assert "-Voir [[budget" in proposed.json()["preview"]["diff"]
    saved = desk.send("PUT", "file/{vault}/save", content=PLAN + "Signé.\n", **based)
    assert saved.status_code == 200, saved.text

    stale = desk.apply("edit_file", proposed)

    assert stale.status_code == 409
    error = stale.json()["error"]
    assert (error["code"], error["details"]["etag"]) == ("conflict", saved.json()["etag"])
    assert "-Signé." in error["details"]["diff"]
    assert error["message"].endswith("relisez puis réessayez.")

    desk.change("append_to_file", path="plan.md", content="Relu.\n")
    assert desk.text("plan.md") == PLAN + "Signé.\nRelu.\n"
    first = desk.get("file/{vault}/backups", path="plan.md")["backups"][-1]
    diff = desk.get("file/{vault}/diff", path="plan.md", version=first["version"])["diff"]
    assert "+Relu." in diff
    desk.change("restore_backup", path="plan.md", version=first["version"])
    assert desk.text("plan.md") == PLAN


def test_a_renamed_note_and_a_moved_directory_take_their_links_along(desk: Desk) -> None:
    desk.write("plan.md", PLAN)
    desk.write("comptes/budget.md", BUDGET)

    proposed = desk.propose("rename_file", path="comptes/budget.md", new_name="Dépenses 2026")
    preview = proposed.json()["preview"]
    relinked = {each["path"] for each in preview["affected"] if each["change"] == "relink"}
    assert relinked == {"plan.md"}
    assert "les liens suivent" in preview["summary"]
    assert desk.apply("rename_file", proposed).json()["result"]["relinked"] == 1
    assert "[[Dépenses 2026#Postes|les postes]] et ![[Dépenses 2026]]" in desk.text("plan.md")

    moved = desk.change("move_path", source_path="comptes", destination_dir="archives/2026")
    assert moved["new_path"] == "archives/2026/comptes"
    place = "archives/2026/comptes/Dépenses 2026.md"
    assert "[plan](../../../plan.md)" in desk.text(place)
    wait_until(lambda: desk.found("file/{vault}/backlinks", "backlinks", path=place) == ["plan.md"])
    graph = desk.get("graph/{vault}", path="plan.md")
    assert {node["path"] for node in graph["nodes"]} == {"plan.md", place}


def test_what_is_written_is_found_in_every_way(desk: Desk) -> None:
    desk.write("plan.md", PLAN)
    desk.write("comptes/budget.md", BUDGET)
    wait_until(lambda: len(desk.found("recent", "files")) == 2)

    budget = ["comptes/budget.md"]
    assert desk.found("search", "hits", q="REGLER loyer") == budget
    assert desk.found("search/advanced", "hits", q="regler") == budget
    assert desk.found("search/advanced", "hits", q="regler", case_sensitive="true") == []
    assert desk.found("search/advanced", "hits", q=r"l[eo]y?er\b", regex="true") == budget
    assert desk.found("search/advanced", "hits", tag="projet", modified="7d") == ["plan.md"]
    assert desk.found("tree-search", "paths", q="budg compt") == budget
    tags = {each["tag"]: each["with_nested"] for each in desk.get("tags", vault=desk.vault)["tags"]}
    assert tags == {"projet": 1, "projet/été": 1}

    broken = desk.http.get("/api/v1/search/advanced", params={"q": "loyer(", "regex": "true"})
    assert broken.json()["error"]["details"]["problem"] == "pattern_bracket_missing"
    assert "n'est pas refermé" in broken.json()["error"]["message"]


def test_a_dry_run_writes_nothing_and_the_change_is_found(desk: Desk) -> None:
    desk.write("comptes/budget.md", BUDGET)
    wait_until(lambda: desk.found("recent", "files") == ["comptes/budget.md"])
    asked = {"vault": desk.vault, "find": "loyer", "replace": "bail"}

    tried = desk.send("POST", "search/replace", **asked, dry_run=True).json()
    assert tried["occurrences"] == 1
    assert "+Le bail reste à régler." in tried["files"][0]["diff"]
    assert desk.text("comptes/budget.md") == BUDGET

    proposed = desk.send("POST", "tools/replace_in_files/propose", **asked)
    assert proposed.json()["preview"]["summary"].startswith("Remplacer « loyer » par « bail »")
    done = desk.apply("replace_in_files", proposed).json()["result"]
    assert (done["occurrences"], done["skipped"]) == (1, [])
    wait_until(lambda: desk.found("search", "hits", q="bail") == ["comptes/budget.md"])
    assert desk.found("search", "hits", q="loyer") == []


def test_a_deleted_directory_comes_back_whole(desk: Desk) -> None:
    desk.write("comptes/budget.md", BUDGET)
    desk.write("comptes/2025/budget.md", BUDGET)

    unsaid = desk.propose("delete_directory", path="comptes")
    assert unsaid.json()["error"]["code"] == "directory_not_empty"
    assert desk.change("delete_directory", path="comptes", recursive=True)["deleted"] == 2
    assert desk.paths() == []

    back = desk.send("POST", "directory/{vault}/undelete", path="comptes").json()
    assert (back["restored"], back["skipped"]) == (2, [])
    assert desk.paths() == ["comptes/2025/budget.md", "comptes/budget.md"]


def test_an_owner_keeps_agents_from_deleting_and_may_still_delete(desk: Desk) -> None:
    desk.write("plan.md", PLAN)
    assert desk.send("PATCH", "vaults/{vault}", aiDestructiveTools=False).status_code == 200

    refused = desk.propose("delete_file", path="plan.md")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "destructive_tools_off")
    desk.change("append_to_file", path="plan.md", content="Suite.\n")
    by_hand = desk.http.delete(f"/api/v1/file/{desk.vault}", params={"path": "plan.md"})
    assert by_hand.status_code == 200, by_hand.text
    assert desk.paths() == []


def test_an_uploaded_file_is_never_written_over_and_is_found(desk: Desk) -> None:
    data = ("# Relevé\n\n" + "Le compteur tourne. " * 50).encode()
    asked = {"path": "relevés/été.md", "size": len(data), "content_type": "text/markdown"}
    form = desk.send("POST", "vault/{vault}/uploads", **asked).json()

    def upload() -> int:
        sent = httpx2.request(
            form["method"], form["url"], headers=form["headers"], content=data, trust_env=False
        )
        return sent.status_code

    assert (upload(), upload()) == (200, 412)
    raw = desk.http.get(f"/api/v1/file/{desk.vault}/raw", params={"path": "relevés/été.md"})
    assert raw.content == data
    wait_until(lambda: desk.found("search", "hits", q="compteur") == ["relevés/été.md"])


def test_a_reader_reads_until_they_are_no_member_any_more(stack: Stack, desk: Desk) -> None:
    desk.write("plan.md", PLAN)
    desk.send("PUT", "vaults/{vault}/members/zoe", role="reader")

    with stack.client(stack.token("zoe", role=Role.VIEWER)) as http:
        zoe = Desk(http, desk.vault)
        assert zoe.text("plan.md") == PLAN
        members = [each["user"] for each in zoe.get("vaults/{vault}/members")["members"]]
        assert members == ["admin", "zoe"]
        refused = zoe.propose("append_to_file", path="plan.md", content="x")
        assert refused.json()["error"]["code"] == "vault_read_only"

        assert desk.send("DELETE", "vaults/{vault}/members/zoe").status_code == 204
        gone = http.get(f"/api/v1/file/{desk.vault}?path=plan.md")
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "vault_not_found")


@asynccontextmanager
async def agent_of(stack: Stack) -> AsyncGenerator[Client]:
    """An agent whose token serves for MCP alone, and whose person reads French."""
    token = stack.token(audience=f"{stack.url}/mcp")
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "fr"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{stack.url}/mcp", http_client=http)) as client,
    ):
        yield client


@pytest.mark.anyio
async def test_an_agent_edits_what_it_read_and_hears_of_what_changed(
    stack: Stack, desk: Desk
) -> None:
    desk.write("plan.md", PLAN)
    at = {"vault": desk.vault, "path": "plan.md"}
    async with agent_of(stack) as agent:

        async def call(tool: str, **arguments: str) -> tuple[bool, Any, str]:
            result = await agent.call_tool(tool, arguments)
            text = "".join(getattr(block, "text", "") for block in result.content)
            return bool(result.is_error), result.structured_content, text

        _, read, _ = await call("read_file", **at)
        edited = {**at, "etag": read["etag"], "content": PLAN + "Par l'agent.\n"}
        _, proposed, _ = await call("propose_edit_file", **edited)
        token = proposed["confirmation_token"]
        assert desk.text("plan.md") == PLAN
        assert proposed["preview"]["summary"] == "Modifier le fichier plan.md."
        failed, applied, text = await call("apply_edit_file", confirmation_token=token)
        assert not failed, text
        assert await call("apply_edit_file", confirmation_token=token) == (False, applied, text)

        failed, _, text = await call("propose_edit_file", **edited)

    assert failed
    assert text.startswith("conflict: Cela a changé entre-temps")
    assert applied["etag"] in text
    assert desk.text("plan.md") == PLAN + "Par l'agent.\n"
