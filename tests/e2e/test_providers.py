"""Providers of every wire format on the running stack: the loop, images, defaults, and errors."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.fakes.openai_server import OpenAIServer, Reply, failure, openai_server, says
from tests.fakes.provider_streams import (
    anthropic_calls,
    anthropic_says,
    gemini_calls,
    gemini_says,
)
from tests.images import png

pytestmark = pytest.mark.one_python

API = "/api/v1"
MESSAGES = f"{API}/chat/messages"
SETTINGS = f"{API}/tenants/polyglot/settings"
KEY = "not-a-" + "real-key"
Calls = Callable[[str, dict[str, Any]], Reply]
Says = Callable[[str], Reply]
SPEAKERS: list[tuple[str, str, Calls, Says]] = [
    ("anthropic", "claude-sonnet-5-5", anthropic_calls, anthropic_says),
    ("gemini", "gemini-3.8-flash", gemini_calls, gemini_says),
]


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx2.Client]:
    """A client of a tenant of its own, with one note and one image."""
    token = stack.token("petra", tenant="polyglot", role=Role.TENANT_ADMIN)
    with stack.client(token) as client:
        client.post(f"{API}/vaults", json={"name": "house"}).raise_for_status()
        note = {"path": "keys.md", "content": "# Keys\n\nThe spare key is under the red mat.\n"}
        client.post(f"{API}/file/house", json=note).raise_for_status()
        search = {"q": "spare key", "mode": "lexical"}

        def is_found() -> bool:
            found = client.post(f"{API}/tools/search_documents", json=search)
            return bool(found.json().get("result", {}).get("hits"))

        wait_until(is_found, 60)
        yield client


def use(http: httpx2.Client, server: OpenAIServer, provider: str, **settings: object) -> None:
    """Have the tenant's messages answered by a server."""
    chosen = {
        "chat_provider": provider,
        "chat_base_url": server.base_url,
        "chat_api_key": KEY,
        "chat_model": "",
    }
    http.put(SETTINGS, json=chosen | settings).raise_for_status()


def ask(http: httpx2.Client, message: object = "Where is it?", **more: object) -> Any:  # noqa: ANN401
    return http.post(MESSAGES, json={"message": message, "stream": False, **more}).json()


@pytest.mark.parametrize(("provider", "model", "calls", "answers"), SPEAKERS)
def test_a_model_of_another_format_searches_and_answers_with_citations(
    http: httpx2.Client, provider: str, model: str, calls: Calls, answers: Says
) -> None:
    script = [calls("search_documents", {"q": "spare key"}), answers("Under the red mat.")]
    with openai_server(*script) as server:
        use(http, server, provider)
        told = http.get(f"{API}/ai/status").json()
        answer = ask(http)

    assert (told["provider"], told["model"]) == (provider, model)
    assert (answer["model"], answer["text"]) == (model, "Under the red mat.")
    assert [item["path"] for item in answer["citations"]] == ["keys.md"]
    assert [call["status"] for call in answer["tool_calls"]] == ["success"]
    assert answer["usage"] == {"input_tokens": 14, "output_tokens": 6}
    second = json.dumps(server.requests[1])
    assert "signed-by-" in second
    assert "red mat" in second
    assert KEY in server.sent_headers[0].values()


@pytest.mark.parametrize(("provider", "answers"), [(each[0], each[3]) for each in SPEAKERS])
def test_images_pasted_and_of_a_vault_are_shown_in_the_providers_form(
    http: httpx2.Client, provider: str, answers: Says
) -> None:
    pasted, kept = png(3, 3), png(4, 4)
    upload = {"path": f"{provider}.png", "size": len(kept), "content_type": "image/png"}
    place = http.post(f"{API}/vault/house/uploads", json=upload).json()
    sent = httpx2.request(
        place.get("method", "PUT"), place["url"], content=kept, headers=place.get("headers", {})
    )
    assert sent.is_success
    data_url = f"data:image/png;base64,{base64.b64encode(pasted).decode()}"
    message = [
        {"type": "text", "text": "What are these?"},
        {"type": "image_url", "image_url": {"url": data_url}},
        {"type": "image_url", "image_url": {"url": f"vault://house/{provider}.png"}},
    ]
    with openai_server(answers("Two squares.")) as server:
        use(http, server, provider)
        assert ask(http, message)["text"] == "Two squares."
        blind = ask(http, message, model="deepseek-v4-flash")

    shown = json.dumps(server.requests[0])
    assert all(base64.b64encode(image).decode() in shown for image in (pasted, kept))
    assert blind["error"]["code"] == "vision_unsupported"
    assert len(server.requests) == 1


def test_the_defaults_are_in_force_with_the_next_message(http: httpx2.Client) -> None:
    with openai_server(says("One."), says("Two."), says("Three.")) as server:
        use(http, server, "mistral")
        first = ask(http)
        changed = {"ai_default_models": {"mistral": "mistral-large-latest"}}
        http.post(f"{API}/config", json=changed).raise_for_status()
        second = ask(http)
        third = ask(http, model="codestral-latest")

    assert [each["model"] for each in (first, second, third)] == [
        "mistral-small-latest",
        "mistral-large-latest",
        "codestral-latest",
    ]
    assert [each["model"] for each in server.requests] == [
        each["model"] for each in (first, second, third)
    ]
    assert http.get(f"{API}/config").json()["ai_default_models"] == changed["ai_default_models"]


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (failure(401), 400, "provider_key_refused"),
        (failure(404, "no model"), 400, "provider_model_unknown"),
        (failure(429, retry_after="60"), 503, "provider_busy"),
    ],
)
def test_what_a_provider_refuses_is_told_under_a_code_of_its_own(
    http: httpx2.Client, reply: Reply, status: int, code: str
) -> None:
    with openai_server(reply) as server:
        use(http, server, "anthropic")
        answer = http.post(MESSAGES, json={"message": "Hi", "stream": False})

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert KEY not in answer.text


def test_a_restricted_tenant_uses_no_other_provider(http: httpx2.Client) -> None:
    with openai_server(says("Hi.")) as server:
        use(http, server, "mistral", chat_allowed_providers=["mistral"])
        refused = http.post(MESSAGES, json={"message": "Hi", "provider": "openai"})
        assert ask(http)["text"] == "Hi."
    http.put(SETTINGS, json={"chat_allowed_providers": None}).raise_for_status()

    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "provider_not_allowed")
