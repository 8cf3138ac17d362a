"""Three kinds of provider, played by a server on the loopback that speaks their protocols."""

import logging
from collections.abc import Iterator

import pytest

from archivolt.composition.reranking import reranker_for
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.ports.retrieval import Reranker
from archivolt.settings import MissingSettingError, Settings
from tests.builders import ACME, GLOBEX
from tests.fakes.rerank_server import ACCOUNT, COHERE, TEI, WORKERS, RerankServer, rerank_server

KEY = "a-key-" + "of-nobody"
TEXTS = ["nothing of it", "llamas cross bridges", "llamas"]
PROVIDERS = {"rerank": COHERE, "tei": TEI, "cloudflare": WORKERS}


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as server:
        yield server


def settings(server: RerankServer, provider: str, *, key: str = KEY) -> Settings:
    return Settings.model_validate(
        {
            "reranker_provider": provider,
            "reranker_base_url": f"{server.url}/v2" if provider == "rerank" else server.url,
            "reranker_model": "rerank-v3.5" if provider == "rerank" else "",
            "reranker_account": ACCOUNT,
            "reranker_api_key": key,
            "ai_key_tenant": ACME,
        }
    )


def reranker(server: RerankServer, provider: str, *, tenant: TenantId = ACME) -> Reranker:
    found = reranker_for(settings(server, provider))(tenant)
    assert found is not None
    return found


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_text_gets_its_score_whatever_the_order_of_the_answer(
    server: RerankServer, provider: str
) -> None:
    scores = reranker(server, provider).rerank("llamas cross", TEXTS)
    assert scores == [0.0, 1.0, 0.5]
    assert server.paths == [PROVIDERS[provider]]
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_the_model_leaves_out_has_no_score(server: RerankServer, provider: str) -> None:
    server.most = 1
    assert reranker(server, provider).rerank("llamas cross", TEXTS) == [None, 1.0, None]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (429, b"{}"),
        (302, b""),
        (200, b"no json"),
        (200, b"[]"),
        (200, b'{"results": [], "result": {"response": []}}'),
        (200, b'[{"index": 0, "score": "high"}]'),
        (200, b'{"results": [{"index": 9, "relevance_score": 1}]}'),
        (200, b'{"result": {"response": [{"id": -1, "score": 1}]}}'),
        (200, b'[{"index": true, "score": NaN}]'),
    ],
)
def test_any_other_answer_is_none(
    server: RerankServer,
    caplog: pytest.LogCaptureFixture,
    provider: str,
    status: int,
    body: bytes,
) -> None:
    server.status, server.body = status, body
    with caplog.at_level(logging.DEBUG), pytest.raises(UnavailableError):
        reranker(server, provider).rerank("a private question", TEXTS)
    assert len(server.paths) == 1
    assert all(word not in caplog.text for word in ("private", KEY, TEXTS[1]))


def test_a_provider_that_is_not_there_is_unavailable(server: RerankServer) -> None:
    absent = RerankServer(url="http://127.0.0.1:1")
    with pytest.raises(UnavailableError):
        reranker(absent, "tei").rerank("llamas", TEXTS)


def test_a_secret_in_a_question_is_not_sent(server: RerankServer) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    reranker(server, "tei").rerank(f"what is {secret}", TEXTS)
    assert secret not in str(server.bodies)


def test_the_deployments_key_serves_its_tenant_and_no_key_serves_all(server: RerankServer) -> None:
    assert reranker_for(settings(server, "rerank"))(GLOBEX) is None
    without = reranker_for(settings(server, "rerank", key=""))(GLOBEX)
    assert without is not None
    without.rerank("llamas", TEXTS)
    assert server.keys == [None]
    assert reranker_for(Settings())(ACME) is None


@pytest.mark.parametrize(
    ("provider", "missing"),
    [
        ("rerank", "RERANKER_BASE_URL"),
        ("tei", "RERANKER_BASE_URL"),
        ("cloudflare", "RERANKER_ACCOUNT"),
    ],
)
def test_what_a_provider_needs_is_asked_for(provider: str, missing: str) -> None:
    with pytest.raises(MissingSettingError, match=missing):
        reranker_for(Settings.model_validate({"reranker_provider": provider}))
