"""A remote connector on the running stack: the official client finds us, registers, is let in.

Two people, each in a browser of their own; what one lets in sees the vaults of that one.
"""

import os
import re
import subprocess
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types import CallToolResult
from pydantic import AnyUrl

from archivolt_local.environment import for_children
from tests.e2e.stack import Stack
from tests.oauth import answer_in

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
NODE = ROOT / "node_modules" / ".bin" / "node"
SUITE = ROOT / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
# Programs on this machine; the stack takes another port, whatever it begins with.
SUITE_PORT, REMOTE_PORT = 39_116, 39_117
PROGRAMS = tuple(
    f"http://{host}:{port}/"
    for host in ("127.0.0.1", "localhost")
    for port in (39_115, SUITE_PORT, REMOTE_PORT)
)
CALLBACK = "http://127.0.0.1:39115/callback"
PASSWORD = "the password " + "of a test"
SCOPES = "vaults:read vaults:write"
_BOX = re.compile(r'name="vault" value="([^"]*)"> ([^<]*)<')
_INPUT = re.compile(r'<input type="(hidden|text|radio)" name="([^"]*)" value="([^"]*)"( checked)?')


class Kept(TokenStorage):
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Somebody with a browser, who signs in when asked to and lets a program in."""

    def __init__(self, stack: Stack, name: str, *, ticked: str = "", **filled: str) -> None:
        # Each connection is closed after its answer: nobody has to close the browser.
        once = {"Connection": "close"}
        self.browser = httpx2.Client(base_url=stack.url, headers=once, timeout=60, trust_env=False)
        self.asked = 0
        self._name = name
        self.filled = filled
        self.ticked = ticked
        self._answer = ""

    async def is_sent_to(self, url: str) -> None:
        """Open an address, and remember how the program is answered."""
        self._answer = self.opens(url)

    def opens(self, url: str) -> str:
        """Return where the browser is sent in the end: to the program, with its answer."""
        self.asked += 1
        page = self.browser.get(url)
        while not page.headers.get("location", "").startswith(PROGRAMS):
            if page.is_redirect:
                page = self.browser.get(urljoin(url, page.headers["location"]))
            else:
                assert page.status_code == 200, page.text
                page = self._fill_in(page)
        return page.headers["location"]

    def follows(self, url: str, until: str) -> None:
        """Open an address of ours, and go on until a page says something."""
        page = self.browser.get(url)
        while until not in page.text:
            if page.is_redirect:
                page = self.browser.get(urljoin(url, page.headers["location"]))
            else:
                assert page.status_code == 200, page.text
                page = self._fill_in(page)

    async def answer(self) -> AuthorizationCodeResult:
        """Return what the browser brings to the program."""
        answer = answer_in(self._answer)
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )

    def _fill_in(self, page: httpx2.Response) -> httpx2.Response:
        form = re.split("<form ", page.text)[1]
        fields = {
            name: unescape(value)
            for kind, name, value, checked in _INPUT.findall(form)
            if kind != "radio" or checked
        }
        if 'type="password"' in form:
            fields |= {"name": self._name, "password": PASSWORD}
        else:
            ids = {vault: vault_id for vault_id, vault in _BOX.findall(form)}
            fields |= {"decision": "agree", **self.filled}
            fields |= {"vault": ids[self.ticked]} if self.ticked else {}
        path = page.url.path
        return self.browser.post(
            path, data=fields, headers={"Origin": str(page.url.join("/"))[:-1]}
        )


@pytest.fixture(scope="module")
def people(stack: Stack) -> list[str]:
    """Two who have passwords, and a vault each."""
    names = [f"{name}-{uuid.uuid4().hex[:6]}" for name in ("ann", "ben")]
    for name in names:
        subprocess.run(
            stack.command("user", "add", name),
            env=for_children(),
            input=f"{PASSWORD}\n".encode(),
            check=True,
            capture_output=True,
        )
        with stack.client(stack.token(name)) as http:
            made = http.post("/api/v1/vaults", json={"name": f"vault-of-{name}"})
            assert made.status_code == 201
    return names


@asynccontextmanager
async def connected(
    stack: Stack, person: Person, kept: Kept, scope: str | None = SCOPES
) -> AsyncGenerator[Client]:
    metadata = OAuthClientMetadata(
        client_name="An official client", redirect_uris=[AnyUrl(CALLBACK)], scope=scope
    )
    provider = OAuthClientProvider(
        f"{stack.url}/mcp", metadata, kept, person.is_sent_to, person.answer
    )
    async with httpx2.AsyncClient(auth=provider, timeout=60, trust_env=False) as http:
        transport = streamable_http_client(f"{stack.url}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def vaults_of(client: Client) -> list[str]:
    found = await client.call_tool("list_vaults", {})
    assert isinstance(found, CallToolResult)
    assert found.structured_content is not None
    return [vault["name"] for vault in found.structured_content["vaults"]]


@pytest.mark.anyio
async def test_each_person_lets_a_client_in_to_their_own_vaults_and_no_others(
    stack: Stack, people: list[str]
) -> None:
    for name in people:
        person, kept = Person(stack, name), Kept()

        async with connected(stack, person, kept) as client:
            assert f"vault-of-{name}" in await vaults_of(client)
            assert not {f"vault-of-{other}" for other in people if other != name} & set(
                await vaults_of(client)
            )

        assert person.asked == 1
        assert kept.tokens is not None
        assert kept.tokens.access_token.startswith("avo_")


@pytest.mark.anyio
async def test_a_client_comes_back_without_asking_and_renews_its_token(
    stack: Stack, people: list[str]
) -> None:
    person, kept = Person(stack, people[0]), Kept()
    async with connected(stack, person, kept):
        first = kept.tokens
    assert first is not None
    assert kept.client is not None
    form = {
        "grant_type": "refresh_token",
        "refresh_token": first.refresh_token,
        "client_id": kept.client.client_id,
        "resource": f"{stack.url}/mcp",
    }
    renewed = httpx2.post(f"{stack.url}/oauth/token", data=form, trust_env=False)
    assert renewed.status_code == 200
    kept.tokens = OAuthToken.model_validate(renewed.json())

    async with connected(stack, person, kept) as client:
        assert await vaults_of(client)
    assert person.asked == 1

    again = httpx2.post(f"{stack.url}/oauth/token", data=form, trust_env=False)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    with stack.client(kept.tokens.access_token) as http:
        assert http.get("/api/v1/vaults").status_code == 401


@pytest.mark.anyio
async def test_a_client_that_may_only_read_proposes_nothing_and_sees_only_its_vault(
    stack: Stack, people: list[str]
) -> None:
    with stack.client(stack.token(people[0])) as http:
        assert (
            http.post("/api/v1/vaults", json={"name": f"hidden-of-{people[0]}"}).status_code == 201
        )
    vault = f"vault-of-{people[0]}"
    person, kept = Person(stack, people[0], ticked=vault, access="read", reach="some"), Kept()
    change = {"vault": vault, "path": "from-a-client.md", "content": "x"}

    async with connected(stack, person, kept) as client:
        assert kept.tokens is not None
        assert kept.tokens.scope == "vaults:read"
        assert await vaults_of(client) == [vault]
        refused = await client.call_tool("propose_create_file", change)

    assert isinstance(refused, CallToolResult)
    assert refused.is_error
    assert "token_read_only" in str(refused.content)


@pytest.mark.anyio
async def test_a_person_ends_what_they_let_in(stack: Stack, people: list[str]) -> None:
    person, kept = Person(stack, people[1]), Kept()
    async with connected(stack, person, kept):
        pass
    assert kept.tokens is not None
    page = person.browser.get("/oauth/connections").text
    assert "An official client" in page

    (form, *_) = re.split("<form ", page)[1:]
    fields = {name: unescape(value) for _, name, value, _ in _INPUT.findall(form)}
    ended = person.browser.post("/oauth/connections", data=fields, headers={"Origin": stack.url})
    assert ended.status_code == 303

    with stack.client(kept.tokens.access_token) as http:
        assert http.get("/api/v1/vaults").status_code == 401


def test_a_link_that_the_command_prints_signs_in_once(stack: Stack) -> None:
    done = subprocess.run(
        stack.command("sign-in"), env=for_children(), capture_output=True, check=True, text=True
    )
    link = done.stdout.strip()
    with httpx2.Client(timeout=60, trust_env=False) as browser:
        page = browser.get(link)
        fields = {name: unescape(value) for _, name, value, _ in _INPUT.findall(page.text)}
        headers = {"Origin": stack.url}

        signed_in = browser.post(f"{stack.url}/oauth/link", data=fields, headers=headers)
        again = browser.post(f"{stack.url}/oauth/link", data=fields, headers=headers)

        assert (signed_in.status_code, again.status_code) == (303, 403)
        assert "admin" in browser.get(f"{stack.url}/oauth/connections").text


@pytest.mark.skipif(not SUITE.exists(), reason="the Node clients are not installed")
def test_the_official_suite_for_authorization_servers_passes(
    stack: Stack, people: list[str], tmp_path: Path
) -> None:
    metadata = {"redirect_uris": [f"http://127.0.0.1:{SUITE_PORT}/callback"]}
    client = httpx2.post(f"{stack.url}/oauth/register", json=metadata, trust_env=False).json()
    with subprocess.Popen(
        [
            *(str(NODE), str(SUITE), "authorization", "--url", stack.url, "-o", str(tmp_path)),
            *("--client-id", client["client_id"], "--resource", f"{stack.url}/mcp"),
            *("--port", str(SUITE_PORT)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
    ) as suite:
        assert suite.stdout is not None
        lines = iter(suite.stdout)
        url = next(line.strip() for line in lines if "/oauth/authorize?" in line)
        answered = httpx2.get(Person(stack, people[0]).opens(url), trust_env=False)
        assert answered.status_code == 200
        report = "".join(lines)

    assert suite.returncode == 0, report
    assert "authorization-server-metadata-endpoint: 2 passed, 0 failed" in report
    assert "authorization-code-grant: 1 passed, 0 failed" in report


@pytest.mark.skipif(not SUITE.exists(), reason="the Node clients are not installed")
def test_mcp_remote_opens_a_browser_and_is_let_in(
    stack: Stack, people: list[str], tmp_path: Path
) -> None:
    own = {"HOME": str(tmp_path), "MCP_REMOTE_CONFIG_DIR": str(tmp_path), "BROWSER": "true"}
    path = f"{NODE.parent}{os.pathsep}{for_children()['PATH']}"
    program = [str(NODE.parent / "mcp-remote-client"), f"{stack.url}/mcp", str(REMOTE_PORT)]
    with subprocess.Popen(
        [*program, "--transport", "http-only"],
        env={**for_children(), **own, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as remote:
        assert remote.stdout is not None
        lines = iter(remote.stdout)
        url = next(line.strip() for line in lines if line.startswith(f"{stack.url}/oauth/"))
        answered = httpx2.get(Person(stack, people[1]).opens(url), trust_env=False)
        assert answered.status_code == 200
        assert any("search_documents" in line for line in lines)
        remote.terminate()
