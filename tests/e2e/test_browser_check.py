"""A page that the chat's model made is looked at in a real browser and mended (L24, L26).

It runs where a Chromium is installed; the Playwright server of MCP drives it.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack
from tests.e2e.test_chat import API, MESSAGES, events
from tests.fakes.openai_server import calls, openai_server, says

MODULES = Path(__file__).parents[2] / "node_modules"
NODE, PLAYWRIGHT = MODULES / ".bin" / "node", MODULES / "@playwright" / "mcp" / "cli.js"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
BROKEN = "<!doctype html><html lang='fr'><title>Menu</title><h1>Menu</h1><script>montrer()</script>"
GOOD = BROKEN.replace("<script>montrer()</script>", "<script>document.title += ' du jour'</script>")

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.optional_engine,
    pytest.mark.skipif(not (BROWSER and PLAYWRIGHT.exists()), reason="no browser is installed"),
]


@pytest.fixture
def http(stack: Stack, tmp_path: Path) -> Iterator[httpx2.Client]:
    """A client of a tenant of its own, whose model has a browser."""
    token = stack.token("wanda", tenant="weavers", role=Role.TENANT_ADMIN)
    options = ["--headless", "--isolated", "--no-sandbox", "--output-dir", str(tmp_path)]
    server = {
        "enabled": True,
        "transport": "stdio",
        "command": str(NODE),
        "args": [str(PLAYWRIGHT), *options, "--executable-path", BROWSER],
        "expose": ["browser_navigate", "browser_console_messages"],
    }
    with stack.client(token) as client:
        client.post(f"{API}/vaults", json={"name": "site"}).raise_for_status()
        turned_on = client.put(f"{API}/mcp/playwright", json=server).json()
        assert turned_on["problem"] is None, turned_on
        yield client
        client.delete(f"{API}/mcp/playwright").raise_for_status()


def seen(page: str) -> tuple[str, dict[str, Any]]:
    address = f"data:text/html;charset=utf-8,{quote(page)}"
    return "mcp_playwright_browser_navigate", {"url": address}


def test_a_page_is_opened_in_a_real_browser_and_mended_before_the_answer(
    http: httpx2.Client,
) -> None:
    page = {"vault": "site", "path": "menu.html"}
    console = ("mcp_playwright_browser_console_messages", {"level": "error"})
    script = [
        calls(("create_file", page | {"content": BROKEN})),
        calls(seen(BROKEN)),
        calls(console),
        calls(("edit_file", page | {"content": GOOD})),
        says("La page est en place et sa console est propre."),
    ]
    with openai_server(*script) as server:
        settings = {
            "chat_provider": "openai",
            "chat_base_url": server.base_url,
            "chat_model": "gpt-4o",
            "chat_api_key": "not-a-real-" + "key",
            # Each look would be asked about, once a vault was seen.
            "web_after_documents": True,
        }
        http.put(f"{API}/tenants/weavers/settings", json=settings).raise_for_status()
        body: dict[str, Any] = {"message": "Crée une page web avec le menu."}
        asked: list[str] = []
        while True:
            read = events(http.post(MESSAGES, json=body, timeout=120).text)
            waits = [data for name, data in read if name == "confirmation_required"]
            if not waits:
                break
            asked += [each["tool_name"] for each in waits]
            conversation = dict(read)["message_start"]["conversation_id"]
            tokens = [each["confirmation_token"] for each in waits]
            body = {"conversation_id": conversation, "confirm": tokens}

    assert asked == ["create_file", seen("")[0], "edit_file"]
    told = [json.dumps(request["messages"]) for request in server.requests]
    assert "navigateur est" in told[0]
    assert "montrer is not defined" in told[3]
    assert "montrer is not defined" not in told[2]
    text = "".join(data["text"] for name, data in read if name == "content_delta")
    assert text == "La page est en place et sa console est propre."
    kept = http.get(f"{API}/file/site", params={"path": "menu.html"}).json()
    assert kept["content"] == GOOD
