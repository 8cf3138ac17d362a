"""A reranker's calls are in its tenant's usage, and nobody suspended has any made."""

from collections.abc import Iterator

import pytest

from archivolt.bootstrap import Container
from archivolt.composition.metering import metered_rerankers
from archivolt.domain.errors import UnavailableError
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tenancy import Tenant, TenantState
from archivolt.domain.usage import ModelOfProvider, Usage
from archivolt.governance.admission import Admission
from archivolt.ports.retrieval import Reranker
from archivolt.settings import Settings
from tests.builders import ACME, GLOBEX
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import InMemoryTenantSettings
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.rerank_server import RerankServer, rerank_server
from tests.fakes.tenancy import InMemoryTenants

MONTH = f"{START:%Y-%m}"
TEXTS = ["nothing of it", "llamas cross bridges"]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as server:
        yield server


class Deployment:
    """One with a reranker, over fakes."""

    def __init__(self, server: RerankServer) -> None:
        self.ledger, self.tenants = InMemoryLedger(), InMemoryTenants()
        self.settings = InMemoryTenantSettings()
        container = Container(
            Settings.model_validate(
                {
                    "reranker_provider": "rerank",
                    "reranker_base_url": f"{server.url}/v2",
                    "reranker_model": "rerank-v3.5",
                    "reranker_api_key": "a-key-" + "of-nobody",
                    "ai_key_tenant": ACME,
                }
            )
        )
        container.clock = FrozenClock()
        container.ledger = self.ledger
        container.usage_events = RecordedUsage()
        container.tenant_settings = self.settings
        container.admission = Admission(lambda: self.tenants, container.clock)
        self.of = metered_rerankers(container)

    @property
    def reranker(self) -> Reranker:
        found = self.of(ACME)
        assert found is not None
        return found


def test_a_call_is_metered_for_the_tenant_by_estimate(server: RerankServer) -> None:
    deployment = Deployment(server)

    assert deployment.reranker.rerank("llamas", TEXTS) == [0.0, 1.0]

    used = deployment.ledger.usage_of_tenant(ACME, MONTH)
    [(model, usage)] = used.by_model.items()
    assert model == ModelOfProvider(provider="rerank", model="rerank-v3.5")
    assert usage == Usage(calls=1, input_tokens=16)
    assert list(deployment.ledger.usage_of_users(ACME, MONTH)) == [""]
    assert deployment.ledger.held == {}
    assert deployment.of(GLOBEX) is None


def test_a_price_that_the_tenant_names_holds_its_budget(server: RerankServer) -> None:
    deployment = Deployment(server)
    deployment.settings.save(
        ACME,
        TenantSettings(
            chat_monthly_budget_usd="0.000001",
            chat_model_prices={"rerank-v3.5": {"input": "1", "output": "0"}},
        ),
        over=TenantSettings(),
    )

    with pytest.raises(UnavailableError, match="embedding_budget_spent"):
        deployment.reranker.rerank("llamas", TEXTS)

    assert server.paths == []


def test_nothing_is_asked_for_a_suspended_tenant(server: RerankServer) -> None:
    deployment = Deployment(server)
    deployment.tenants.add(Tenant(id=ACME, state=TenantState.SUSPENDED))

    with pytest.raises(UnavailableError, match="tenant_suspended"):
        deployment.reranker.rerank("llamas", TEXTS)

    assert server.paths == []
