"""The official conformance suite against the endpoint, with the suite's fixtures mounted.

The door is the product's own; a wrapper of this test adds the token that the suite cannot send.
"""

import socket
import subprocess
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.entrypoints.mcp.app import create_app
from archivolt.entrypoints.mcp.server import create_server
from tests.builders import ALICE
from tests.conformance.fixtures import mount
from tests.entrypoints.mcp_world import McpWorld

ROOT = Path(__file__).parents[2]
NODE = ROOT / "node_modules" / ".bin" / "node"
SUITE = ROOT / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SUITE.exists(), reason="the Node clients are not installed"),
]


def with_a_token(app: ASGIApp) -> ASGIApp:
    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*scope.get("headers", []), (b"authorization", f"Bearer {ALICE}".encode())]
        await app({**scope, "headers": headers}, receive, send)

    return known


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    """The endpoint on a port of its own; the suite wants it to be called localhost."""
    world = McpWorld()
    world.write(world.vault("notes"), "garden.md", "Plant tulips in October.")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://localhost:{listener.getsockname()[1]}"
        services = replace(world.services(), public_url=url)
        server = create_server(services.pipeline, services.state_key)
        mount(server)
        app = with_a_token(create_app(services, server))
        uvicorn_ = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=uvicorn_.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"{url}/mcp"
        uvicorn_.should_exit = True
        thread.join(timeout=10)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_the_endpoint_passes_the_official_suite(address: str, version: str, tmp_path: Path) -> None:
    expected = Path(__file__).parent / f"expected_failures_{version.replace('-', '_')}.yml"

    done = subprocess.run(
        [
            *(str(NODE), str(SUITE), "server", "--url", address),
            *("--requirements", version),
            *("--expected-failures", str(expected)),
            *("-o", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=tmp_path,
    )

    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]


def test_nothing_that_the_current_protocol_requires_is_expected_to_fail() -> None:
    folder = Path(__file__).parent

    assert (folder / "expected_failures_2026_07_28.yml").read_text() == "server: []\n"
    named = (folder / "expected_failures_2025_11_25.yml").read_text()
    assert sum(line.startswith("  - ") for line in named.splitlines()) == 9
