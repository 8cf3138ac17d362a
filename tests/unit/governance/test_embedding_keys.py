"""Whose key pays for a tenant's vectors."""

import pytest

from archivolt.domain.embedding_key import EmbeddingKey
from archivolt.domain.errors import ForbiddenError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.settings import EMBEDDING_API_KEY, TenantSettings
from archivolt.governance.embedding_keys import EmbeddingKeys
from tests.builders import ACME, GLOBEX
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox

HERE = "https://vectors.example"
OWN = "key-" + "of-acme"
OF_THE_DEPLOYMENT = EmbeddingKey(key="key-" + "of-the-deployment")


@pytest.fixture
def store() -> InMemoryTenantSettings:
    store = InMemoryTenantSettings()
    sealed = ReversibleBox().seal(OWN, tenant=ACME, field=EMBEDDING_API_KEY)
    store.save(
        ACME,
        TenantSettings(
            sealed_embedding_api_key=sealed,
            embedding_api_key_origin=HERE,
            embedding_account="account-of-acme",
        ),
    )
    return store


def keys(
    store: InMemoryTenantSettings,
    *,
    origin: str = HERE,
    environment: EmbeddingKey = OF_THE_DEPLOYMENT,
    serves: str | None = "",
    keyless: bool = False,
) -> EmbeddingKeys:
    return EmbeddingKeys(
        store,
        ReversibleBox,
        origin=origin,
        environment=environment,
        environment_tenant=serves,
        keyless=keyless,
    )


def code(keys: EmbeddingKeys, tenant: str) -> str:
    with pytest.raises(UnavailableError) as unavailable:
        keys.of(tenant)  # pyright: ignore[reportArgumentType]
    return unavailable.value.code


@pytest.mark.parametrize("serves", [None, "", ACME, GLOBEX])
def test_a_tenants_own_key_comes_first(store: InMemoryTenantSettings, serves: str | None) -> None:
    own = EmbeddingKey(key=OWN, account="account-of-acme")
    assert keys(store, serves=serves).of(ACME) == own


def test_the_deployments_key_serves_one_named_tenant(store: InMemoryTenantSettings) -> None:
    assert keys(store, serves=GLOBEX).of(GLOBEX) == OF_THE_DEPLOYMENT
    assert code(keys(store, serves=ACME), GLOBEX) == "embedding_key_missing"
    assert code(keys(store, serves=""), GLOBEX) == "embedding_key_missing"


def test_on_one_machine_the_deployments_key_serves_everybody(store: InMemoryTenantSettings) -> None:
    assert keys(store, serves=None).of(GLOBEX) == OF_THE_DEPLOYMENT


def test_a_key_that_was_given_for_another_place_is_not_sent_here(
    store: InMemoryTenantSettings,
) -> None:
    elsewhere = keys(store, origin="https://evil.example", serves=ACME)
    assert elsewhere.of(ACME) == OF_THE_DEPLOYMENT
    assert code(keys(store, origin="http://vectors.example"), ACME) == "embedding_key_missing"


def test_a_place_that_wants_no_key_is_asked_without_one(store: InMemoryTenantSettings) -> None:
    nothing = EmbeddingKey()
    assert keys(store, environment=nothing, keyless=True).of(GLOBEX) == nothing
    assert code(keys(store, environment=nothing), GLOBEX) == "embedding_key_missing"
    assert code(keys(store, keyless=True), GLOBEX) == "embedding_key_missing"


def test_a_key_that_cannot_be_opened_is_replaced_by_no_other(store: InMemoryTenantSettings) -> None:
    store.save(GLOBEX, store.load(ACME))
    assert code(keys(store, serves=GLOBEX), GLOBEX) == "secret_unreadable"


def test_a_key_that_was_taken_back_is_used_no_more(store: InMemoryTenantSettings) -> None:
    found = keys(store)
    assert found.of(ACME).key == OWN
    store.save(ACME, TenantSettings())
    assert code(found, ACME) == "embedding_key_missing"


def test_a_key_shows_in_no_representation() -> None:
    assert "deployment" not in repr(OF_THE_DEPLOYMENT)


def test_no_provider_is_asked_for_a_tenant_that_is_suspended(store: InMemoryTenantSettings) -> None:
    def require(tenant: TenantId) -> None:
        if tenant == ACME:
            raise ForbiddenError("tenant_suspended")

    held = EmbeddingKeys(
        store,
        ReversibleBox,
        origin=HERE,
        environment=OF_THE_DEPLOYMENT,
        environment_tenant=None,
        keyless=False,
        require=require,
    )

    assert code(held, ACME) == "tenant_suspended"
    assert held.of(GLOBEX) == OF_THE_DEPLOYMENT
