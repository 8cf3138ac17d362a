"""Vectors from a provider are paid for by their tenant; who has no budget left keeps the words."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import Role
from archivolt.domain.ingestion import IndexState
from archivolt.domain.search import SearchMode
from archivolt.domain.usage import Usage
from archivolt.governance.settings import SettingsChange, SettingsService
from tests.builders import ACME, GLOBEX, principal
from tests.fakes.clock import START
from tests.fakes.embedding_server import EmbeddingServer, Trouble, embedding_server
from tests.fakes.governance import ReversibleBox
from tests.fakes.tenancy import InMemoryTenants
from tests.unit.ingestion.test_tenant_keys import KEYS, KeyedWorld

MONTH = f"{START:%Y-%m}"


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


class PaidWorld(KeyedWorld):
    """Two tenants with keys, whose vectors cost a dollar for a million tokens."""

    def __init__(self, provider: EmbeddingServer, **settings: str) -> None:
        super().__init__(provider, **{"embedding_price": "1", **settings})
        for tenant, key in KEYS.items():
            self.give_key(tenant, key)

    def allow(self, **budgets: object) -> None:
        kept = self.settings.load(ACME)
        self.settings.save(ACME, replace(kept, **budgets))  # pyright: ignore[reportArgumentType]  by name

    @property
    def used(self) -> Usage:
        return self.ledger.usage_of_tenant(ACME, MONTH).total


def test_each_call_is_metered_for_the_tenant_and_no_user(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)

    world.work_of(ACME, "llamas of acme")
    world.embedder_of(ACME).embed_query("a question of acme")

    assert world.used == Usage(calls=2, input_tokens=11, micros=11)
    assert list(world.ledger.usage_of_users(ACME, MONTH)) == [""]
    assert [(each.user, each.model, each.provider) for each in world.usage_events.used] == [
        ("", "own-model", "openai")
    ] * 2
    assert world.ledger.usage_of_tenant(GLOBEX, MONTH).total == Usage()
    assert world.ledger.held == {}


def test_what_the_provider_says_it_took_is_charged(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)
    vectors = provider.answer("/v1/embeddings", {"input": ["one"], "model": "m"}).body
    told = vectors.replace(b"{", b'{"usage": {"prompt_tokens": 7, "total_tokens": 7}, ', 1)
    provider.troubles = [Trouble(body=told)]

    world.embedder_of(ACME).embed_query("one")

    assert world.used == Usage(calls=1, input_tokens=7, micros=7)


def test_without_a_budget_left_a_document_is_found_by_its_words_and_waits_with_a_reason(
    provider: EmbeddingServer,
) -> None:
    world = PaidWorld(provider)
    world.allow(chat_monthly_budget_usd="0.000001")

    world.work_of(ACME, "llamas of acme")

    assert provider.bodies == []
    entry = world.entry("a.md")
    assert (entry.state, entry.reason) == (IndexState.PENDING, "embedding_budget_spent")
    assert world.found("llamas", mode=SearchMode.LEXICAL) == ["a.md"]
    assert world.queue.jobs == []
    with pytest.raises(UnavailableError, match="embedding_budget_spent"):
        world.embedder_of(ACME).embed_query("llamas")


def test_what_waited_for_a_budget_follows_once_there_is_one(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)
    world.allow(chat_monthly_budget_usd="0.000001")
    world.work_of(ACME, "llamas of acme")

    world.allow(chat_monthly_budget_usd="1")
    world.reconciled()

    entry = world.entry("a.md")
    assert (entry.state, entry.reason) == (IndexState.INDEXED, "")


def test_a_users_limit_of_a_day_holds_no_vectors_back(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)
    world.allow(chat_daily_tokens_per_user=1)

    world.work_of(ACME, "llamas of acme")
    world.embedder_of(ACME).embed_query("a question of acme")

    entry = world.entry("a.md")
    assert (entry.state, entry.reason) == (IndexState.INDEXED, "")
    assert world.used.calls == 2


def test_a_larger_budget_has_the_documents_follow_at_once(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)
    followed: list[str] = []
    service = SettingsService(
        world.settings,
        ReversibleBox(),
        InMemoryTenants(),
        embedding_origin=provider.url,
        catch_up=lambda tenant, _: followed.append(tenant),
    )
    admin = principal("admin", role=Role.TENANT_ADMIN)

    for change in ({"chat_model": "m"}, {"chat_monthly_budget_usd": 5}):
        service.change(admin, ACME, SettingsChange.model_validate(change))

    assert followed == [ACME]


def test_a_budget_needs_a_price_and_without_one_tokens_are_counted(
    provider: EmbeddingServer,
) -> None:
    world = PaidWorld(provider, embedding_price="")
    world.embedder_of(ACME).embed_query("llamas")
    assert world.used == Usage(calls=1, input_tokens=2)

    world.allow(chat_monthly_budget_usd="1")
    with pytest.raises(UnavailableError, match="embedding_price_unknown"):
        world.embedder_of(ACME).embed_query("llamas")
    world.allow(chat_model_prices={"own-model": {"input": "3", "output": "0"}})
    world.embedder_of(ACME).embed_query("llamas")

    assert world.used == Usage(calls=2, input_tokens=4, micros=6)


def test_a_call_that_the_provider_refuses_costs_nothing(provider: EmbeddingServer) -> None:
    world = PaidWorld(provider)
    provider.troubles = [Trouble(status=401)]

    with pytest.raises(UnavailableError, match="embedding_key_refused"):
        world.embedder_of(ACME).embed_query("llamas")

    assert world.used == Usage()
    assert world.ledger.held == {}
