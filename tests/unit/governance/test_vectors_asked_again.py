"""Each attempt to have vectors holds the tenant's budget, and one whose line broke costs."""

from functools import partial

import httpx2
import pytest

from archivolt.adapters.embedding.calls import EmbeddingCalls
from archivolt.adapters.embedding.models import EmbeddingModel
from archivolt.adapters.embedding.protocols import OpenAIEmbeddings
from archivolt.adapters.embedding.remote import RemoteEmbedder
from archivolt.adapters.models.table import ModelTable
from archivolt.domain.errors import UnavailableError
from archivolt.domain.settings import TenantSettings
from archivolt.domain.usage import Balance
from archivolt.governance.metered_embeddings import EmbeddingAccounts
from archivolt.governance.request_size import estimated_tokens
from tests.builders import ACME
from tests.fakes.embedding_server import EmbeddingServer, Trouble, embedding_server
from tests.fakes.governance import InMemoryTenantSettings
from tests.unit.governance.test_metering import MONTH, Metering

TEXT = "llamas cross bridges"
WORST = len(TEXT) + 8
LOST = estimated_tokens(len(TEXT))


def paid(server: EmbeddingServer, metering: Metering, budget: int) -> RemoteEmbedder:
    """A model that costs a micro-dollar a token; its tenant has so many."""
    settings = InMemoryTenantSettings()
    prices = {"m": {"input": "1", "output": "1"}}
    dollars = f"{budget / 1_000_000:.6f}"
    settings.save(ACME, TenantSettings(chat_monthly_budget_usd=dollars, chat_model_prices=prices))
    accounts = EmbeddingAccounts(
        metering.meter, settings, ModelTable, provider="openai", model="m", price=None
    )
    calls = EmbeddingCalls(httpx2.Client(), f"{server.url}/v1/embeddings", "", pause=lambda _: None)
    model = EmbeddingModel(provider="openai", name="m", dimension=1024, max_tokens=512)
    pay = partial(accounts.paid, ACME)
    protocol = OpenAIEmbeddings("m", 1024)
    return RemoteEmbedder(calls, protocol, model, count=len, pay=pay)


@pytest.mark.parametrize(
    ("trouble", "lost"), [(Trouble(hangs_up=True), LOST), (Trouble(status=503), 0)]
)
def test_an_attempt_costs_unless_it_was_refused(trouble: Trouble, lost: int) -> None:
    metering = Metering()
    with embedding_server() as server:
        server.troubles = [trouble] * 2
        paid(server, metering, 10**6).embed_passages([TEXT])

    told = [each.tokens.input for each in metering.events.used]
    assert told[: 2 * bool(lost)] == [lost] * (2 * bool(lost))
    assert metering.ledger.balance(ACME, MONTH) == Balance(spent=2 * lost + told[-1])


def test_an_attempt_is_not_repeated_beyond_the_budget() -> None:
    metering = Metering()
    with embedding_server() as server:
        server.troubles = [Trouble(hangs_up=True)] * 4
        with pytest.raises(UnavailableError, match="embedding_budget_spent"):
            paid(server, metering, WORST).embed_passages([TEXT])

        assert len(server.bodies) == 1
    assert metering.ledger.balance(ACME, MONTH).spent == LOST
    assert metering.ledger.held == {}
