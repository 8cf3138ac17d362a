"""A provider's key is found nowhere, however its provider answers, and whatever repeats it."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx2
import pytest
from starlette.testclient import TestClient

from archivolt.adapters.models.table import ModelTable
from archivolt.adapters.openai.format import OpenAIFormat
from archivolt.adapters.streaming.model import StreamedChatModel
from archivolt.domain.settings import CHAT_API_KEY
from archivolt.ports.chat_model import ModelTurn, ProviderConnection
from tests.builders import ACME
from tests.chat_world import ChatWorld
from tests.entrypoints.test_chat_http import MESSAGES, application, bearer
from tests.fakes.governance import ReversibleBox
from tests.fakes.models import ScriptedModel
from tests.fakes.openai_server import OpenAIServer, Reply, failure, openai_server

CANARY = "sk-" + "canary" * 6
TOLD = f"Incorrect API key provided: {CANARY}"
_EVENT = json.dumps({"error": {"message": TOLD, "type": "x", "code": CANARY}})
_WORDS = json.dumps({"choices": [{"index": 0, "delta": {"content": "Half "}}]})
ANSWERS = {
    "401": failure(401, TOLD),
    "402": failure(402, TOLD),
    "403": failure(403, TOLD, **{"www-authenticate": f"Bearer {CANARY}"}),
    "400": failure(400, TOLD),
    "404": failure(404, TOLD),
    "429": failure(429, TOLD, **{"retry-after": CANARY}),
    "500": failure(500, TOLD),
    "no JSON": Reply(pieces=[TOLD.encode()], status=502, content_type="text/html"),
    "a redirect": Reply(status=302, headers={"location": f"http://127.0.0.1/?key={CANARY}"}),
    "an error in the stream": Reply(pieces=[f"data: {_EVENT}\n\n".encode()]),
    "an error after words": Reply(
        pieces=[f"data: {_WORDS}\n\n".encode(), f"data: {_EVENT}\n\n".encode()]
    ),
    "no event": Reply(pieces=[f"data: {CANARY}\n\n".encode()]),
    "cut": Reply(pieces=[f"data: {_WORDS}\n\n".encode()], cut=True),
}


@dataclass
class Kept:
    """A tenant whose own endpoint is the server, under the canary; and the chat in front of it."""

    world: ChatWorld
    server: OpenAIServer
    http: TestClient


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    with openai_server() as server:
        world = ChatWorld(ScriptedModel(ModelTurn(text="unused")))
        sealed = ReversibleBox().seal(CANARY, tenant=ACME, field=CHAT_API_KEY)
        settings = world.settings.load(ACME)
        world.settings.save(ACME, replace(settings, sealed_chat_api_key=sealed))

        async def at_once(_: float) -> None: ...

        def connect(connection: ProviderConnection) -> StreamedChatModel:
            reached = replace(connection, base_url=server.base_url)
            return StreamedChatModel(
                httpx2.AsyncClient(), OpenAIFormat(), reached, ModelTable(), pause=at_once
            )

        world.models.connect = connect
        with TestClient(application(world)) as http:
            yield Kept(world, server, http)


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_key_is_nowhere_however_its_provider_answers(
    kept: Kept, answer: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    kept.server.script = [ANSWERS[answer]] * 60
    kept.server.sent_headers.clear()
    message, edit = {"message": "Hi"}, {"text": "Hi", "stream": False}

    answers = [
        kept.http.post(MESSAGES, headers=bearer(), json=message),
        kept.http.post(MESSAGES, headers=bearer(), json={**message, "stream": False}),
        kept.http.post("/api/v1/ai/improve", headers=bearer(), json=edit),
        kept.http.get("/api/v1/chat/conversations", headers=bearer()),
        kept.http.get("/api/v1/ai/status", headers=bearer()),
    ]

    assert CANARY in str(kept.server.sent_headers), "the provider was never sent the key"
    out, err = capfd.readouterr()
    world = kept.world
    for place, text in {
        "answers": "".join(f"{each.text}{dict(each.headers)}" for each in answers),
        "logs": caplog.text + "".join(str(record.__dict__) for record in caplog.records),
        "output": out + err,
        "audit": repr(world.audit.entries),
        "metering": repr(world.usage_events.__dict__) + repr(world.ledger.__dict__),
        "conversations": repr(world.conversations.__dict__),
        "crashes": repr(world.crashes),
    }.items():
        assert CANARY not in text, place
