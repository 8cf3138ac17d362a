"""Each tenant's texts go to the provider under that tenant's key, and a refused key is no storm."""

from collections.abc import Iterator

import pytest

from archivolt.bootstrap import Container
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.ingestion import IndexState
from archivolt.domain.limits import REFUSED_KEY_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.search import SearchMode, SearchQuery
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tenancy import Tenant, TenantState
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from archivolt.domain.vault import VaultRef
from archivolt.governance.admission import Admission
from archivolt.governance.settings import SettingsChange, SettingsService
from archivolt.ports.retrieval import Embedder
from archivolt.settings import Settings
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, principal
from tests.fakes.embedding_server import (
    ACCOUNT,
    MODEL,
    EmbeddingServer,
    Trouble,
    embedding_server,
)
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.tenancy import InMemoryTenants
from tests.index_world import IndexWorld

KEYS = {tenant: f"key-of-{tenant}" for tenant in (ACME, GLOBEX)}
OF_THE_DEPLOYMENT = "key-" + "of-the-deployment"


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


class KeyedWorld(IndexWorld):
    """Two tenants with a vault each, whose vectors a provider makes."""

    def __init__(self, provider: EmbeddingServer, **settings: str) -> None:
        super().__init__()
        self.provider = provider
        container = Container(
            Settings.model_validate(
                {
                    "embedding_provider": "openai",
                    "embedding_model": "own-model",
                    "embedding_base_url": f"{provider.url}/v1",
                    "embedding_dimension": "1024",
                    "embedding_threshold": "0.3",
                    **settings,
                }
            )
        )
        self.container = container
        self.settings = InMemoryTenantSettings()
        self.tenants = InMemoryTenants()
        self.ledger, self.usage_events = InMemoryLedger(), RecordedUsage()
        container.__dict__ |= {
            "tenant_settings": self.settings,
            "secret_box": ReversibleBox(),
            "clock": self.clock,
            "admission": Admission(lambda: self.tenants, self.clock),
            "ledger": self.ledger,
            "usage_events": self.usage_events,
        }
        self.vaults = {ACME: self.vault, GLOBEX: self._vault_of(GLOBEX, BOB)}

    def _vault_of(self, tenant: TenantId, owner: UserId) -> VaultRef:
        vault = a_vault("theirs", tenant=tenant)
        self.directory.create(vault, owner=owner)
        return vault.ref

    def embedder_of(self, tenant: TenantId) -> Embedder:
        return self.container.index.models.present_for(tenant)

    def give_key(self, tenant: TenantId, key: str, *, account: str = "") -> TenantSettings:
        change = SettingsChange.model_validate(
            {"embedding_api_key": key, "embedding_account": account}
        )
        admin = principal("admin", tenant=tenant, role=Role.TENANT_ADMIN)
        origin = self.container.index.models.origin
        service = SettingsService(
            self.settings, ReversibleBox(), InMemoryTenants(), embedding_origin=origin
        )
        return service.change(admin, tenant, change)

    def sent(self) -> dict[str, list[str]]:
        """Return the texts that the provider was sent, by key."""
        by_key: dict[str, list[str]] = {}
        for headers, body in zip(self.provider.headers, self.provider.bodies, strict=True):
            key = headers.get("authorization", "")
            by_key.setdefault(key, []).extend(body.get("input") or body["text"])
        return by_key

    def work_of(self, tenant: TenantId, text: str) -> None:
        """Write a document of a tenant and work off what follows, as their worker does."""
        vault = self.vaults[tenant]
        self.embedder = self.embedder_of(tenant)  # pyright: ignore[reportAttributeAccessIssue]
        self.settle(self.write("a.md", text, vault=vault))


def test_each_tenants_texts_go_under_their_own_key_and_no_other(
    provider: EmbeddingServer,
) -> None:
    world = KeyedWorld(provider)
    for tenant, key in KEYS.items():
        world.give_key(tenant, key)

    world.work_of(ACME, "llamas of acme")
    world.work_of(GLOBEX, "alpacas of globex")
    world.embedder_of(ACME).embed_query("a question of acme")
    world.embedder_of(GLOBEX).embed_query("a question of globex")

    assert world.sent() == {
        f"Bearer {KEYS[ACME]}": ["llamas of acme", "a question of acme"],
        f"Bearer {KEYS[GLOBEX]}": ["alpacas of globex", "a question of globex"],
    }


def test_a_tenant_without_a_key_sends_nothing_under_anothers(provider: EmbeddingServer) -> None:
    world = KeyedWorld(provider, embedding_api_key=OF_THE_DEPLOYMENT, ai_key_tenant=GLOBEX)
    world.work_of(ACME, "llamas of acme")

    assert provider.bodies == []
    assert (world.state("a.md"), world.entry("a.md").reason) == (
        IndexState.PENDING,
        "embedding_key_missing",
    )
    assert world.queue.jobs == []
    world.work_of(GLOBEX, "alpacas of globex")
    assert list(world.sent()) == [f"Bearer {OF_THE_DEPLOYMENT}"]


def test_the_documents_of_a_suspended_tenant_wait_and_follow_once_it_is_resumed(
    provider: EmbeddingServer,
) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, KEYS[ACME])
    world.tenants.add(Tenant(id=ACME, state=TenantState.SUSPENDED))
    world.work_of(ACME, "llamas of acme")

    assert provider.bodies == []
    assert (world.state("a.md"), world.entry("a.md").reason) == (
        IndexState.PENDING,
        "tenant_suspended",
    )
    assert world.queue.jobs == []
    world.tenants.set_state(ACME, TenantState.ACTIVE, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)
    world.work_of(ACME, "llamas of acme, again")
    assert (world.state("a.md"), world.entry("a.md").reason) == (IndexState.INDEXED, "")


def test_a_new_key_is_used_from_the_next_call_on(provider: EmbeddingServer) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, "first")
    embedder = world.embedder_of(ACME)
    embedder.embed_query("one")
    world.give_key(ACME, "second")
    embedder.embed_query("two")

    assert world.sent() == {"Bearer first": ["one"], "Bearer second": ["two"]}


def test_an_account_of_the_tenant_is_asked_at_the_same_host(provider: EmbeddingServer) -> None:
    world = KeyedWorld(
        provider,
        embedding_provider="cloudflare",
        embedding_model=MODEL,
        embedding_base_url=provider.url,
        embedding_account="account-of-nobody",
    )
    world.give_key(ACME, "first", account=ACCOUNT)

    world.embedder_of(ACME).embed_query("one")

    assert provider.paths == [f"/accounts/{ACCOUNT}/ai/run/{MODEL}"]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_key_is_told_and_not_knocked_with_again(
    provider: EmbeddingServer, status: int
) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, "revoked")
    provider.troubles = [Trouble(status=status)] * 2
    world.work_of(ACME, "llamas")
    for number in range(20):
        world.settle(world.write(f"{number}.md", f"llamas {number}"))

    assert len(provider.bodies) == 1
    assert world.queue.jobs == []
    assert world.entry("a.md").reason == world.entry("7.md").reason == "embedding_key_refused"
    assert world.found("llamas 7", mode=SearchMode.LEXICAL)[0] == "7.md"
    world.clock.advance(seconds=REFUSED_KEY_SECONDS)
    world.reconciled()
    assert len(provider.bodies) == 2


def test_once_there_is_a_better_key_reconciliation_brings_everything(
    provider: EmbeddingServer,
) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, "revoked")
    provider.troubles = [Trouble(status=401)]
    world.work_of(ACME, "llamas")

    world.give_key(ACME, KEYS[ACME])
    world.reconciled()

    entry = world.entry("a.md")
    assert (entry.state, entry.reason) == (IndexState.INDEXED, "")
    assert world.points("a.md") == 1


def test_a_refused_key_of_one_tenant_stops_no_other(provider: EmbeddingServer) -> None:
    world = KeyedWorld(provider)
    for tenant, key in KEYS.items():
        world.give_key(tenant, key)
    provider.troubles = [Trouble(status=401)]
    world.work_of(ACME, "llamas")
    world.work_of(GLOBEX, "alpacas")

    assert world.points("a.md") == 0
    assert len(world.vectors.held(GLOBEX, BOB)) == 1


def test_a_members_vectors_that_lack_a_key_come_again_from_the_queue(
    provider: EmbeddingServer,
) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, KEYS[ACME])
    world.work_of(ACME, "llamas")
    world.cache.forget(world.vault, world.entry("a.md").sha256)
    provider.troubles = [Trouble(status=401)]

    world.join(BOB)

    assert [job.users for job in world.queue.jobs] == [(BOB,)]
    assert world.state("a.md") is IndexState.INDEXED


def test_who_joins_a_vault_that_waits_for_a_key_gets_their_vectors_with_all_others(
    provider: EmbeddingServer,
) -> None:
    world = KeyedWorld(provider, embedding_api_key=OF_THE_DEPLOYMENT, ai_key_tenant=GLOBEX)
    world.work_of(ACME, "llamas")

    world.join(BOB)

    assert world.queue.jobs == []
    world.give_key(ACME, KEYS[ACME])
    world.reconciled()
    assert (world.points("a.md"), world.points("a.md", user=BOB)) == (1, 1)


@pytest.mark.parametrize(
    ("status", "notice"), [(401, "embedding_key_refused"), (400, "meaning_unavailable")]
)
def test_who_searches_is_told_that_the_key_is_refused(
    provider: EmbeddingServer, status: int, notice: str
) -> None:
    world = KeyedWorld(provider)
    world.give_key(ACME, KEYS[ACME])
    world.work_of(ACME, "llamas")
    provider.troubles = [Trouble(status=status)] * 2

    result = world.search("llamas")

    assert [hit.path for hit in result.hits] == ["a.md"]
    assert [each.code for each in result.notices] == [notice]


def test_the_sentences_of_keys_name_the_setting() -> None:
    query = SearchQuery(q="llamas")
    with embedding_server() as server:
        world = KeyedWorld(server, ai_key_tenant="nobody", embedding_api_key="k")
        world.work_of(ACME, "llamas")
        for language in Language:
            told = world.retrieval.search(principal(ALICE), query, language=language).notices
            assert "embedding_api_key" in told[0].message
