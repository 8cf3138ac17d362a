"""Who changes a tenant's settings, to what, and what becomes of the key."""

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.limits import CHAT_MAX_TOKENS, MAX_CHAT_TOKENS_PER_REQUEST
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tenancy import GOING, Tenant, TenantState
from archivolt.governance.settings import SettingsChange, SettingsService, fingerprint
from tests.builders import ACME, GLOBEX, principal
from tests.fakes.clock import START
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.tenancy import InMemoryTenants

ADMIN = principal("ada", role=Role.TENANT_ADMIN)
CPI_ADMIN = principal("root", role=Role.CPI_ADMIN)
KEY = "sk-0123456789"
PROVIDER = "https://vectors.example"


@pytest.fixture
def store() -> InMemoryTenantSettings:
    return InMemoryTenantSettings()


@pytest.fixture
def service(store: InMemoryTenantSettings) -> SettingsService:
    return SettingsService(store, ReversibleBox(), both_tenants())


def both_tenants() -> InMemoryTenants:
    tenants = InMemoryTenants()
    for tenant in (ACME, GLOBEX):
        tenants.add(Tenant(id=tenant))
    return tenants


def change(**values: Any) -> SettingsChange:  # noqa: ANN401
    return SettingsChange.model_validate_json(json.dumps(values))


def test_an_administrator_sees_the_defaults_at_first(service: SettingsService) -> None:
    assert service.show(ADMIN, ACME) == TenantSettings()


def test_a_change_is_merged_into_what_is_there(service: SettingsService) -> None:
    service.change(ADMIN, ACME, change(chat_model="m1", chat_enabled=False))
    service.change(ADMIN, ACME, change(chat_model="m2"))

    assert service.show(ADMIN, ACME) == TenantSettings(chat_model="m2", chat_enabled=False)


def test_null_and_nothing_mean_the_default_again(service: SettingsService) -> None:
    service.change(
        ADMIN,
        ACME,
        change(chat_model="m", chat_max_tokens_per_request=7, chat_base_url="https://m.example/v1"),
    )
    nothing = change(chat_model="", chat_max_tokens_per_request=None, chat_base_url=None)

    assert service.change(ADMIN, ACME, nothing) == TenantSettings()


def test_a_key_is_kept_sealed_and_shown_as_a_fingerprint(service: SettingsService) -> None:
    changed = service.change(ADMIN, ACME, change(chat_api_key=KEY))

    assert changed.chat_api_key_fingerprint == fingerprint(KEY)
    assert KEY not in repr(changed)
    opened = ReversibleBox().open(changed.sealed_chat_api_key, tenant=ACME, field="chat_api_key")
    assert opened == KEY


def test_a_fingerprint_sent_back_changes_nothing(service: SettingsService) -> None:
    before = service.change(ADMIN, ACME, change(chat_api_key=KEY))

    assert service.change(ADMIN, ACME, change(chat_api_key=fingerprint(KEY))) == before
    assert service.change(ADMIN, ACME, change(chat_api_key=fingerprint("another"))) == before


def test_a_new_key_replaces_the_old_at_once(service: SettingsService) -> None:
    first = service.change(ADMIN, ACME, change(chat_api_key=KEY))
    second = service.change(ADMIN, ACME, change(chat_api_key="sk-another"))

    assert second == service.show(ADMIN, ACME)
    assert second.sealed_chat_api_key != first.sealed_chat_api_key
    assert second.chat_api_key_fingerprint != first.chat_api_key_fingerprint


@pytest.mark.parametrize("nothing", ["", None])
def test_a_key_can_be_taken_back(service: SettingsService, nothing: str | None) -> None:
    service.change(ADMIN, ACME, change(chat_api_key=KEY))

    assert service.change(ADMIN, ACME, change(chat_api_key=nothing)) == TenantSettings()


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ({}, {"chat_model": "m"}, True),
        ({}, {"chat_provider": "openai"}, True),
        ({"chat_provider": "openai"}, {"chat_provider": "mistral"}, False),
        ({"chat_provider": "openai"}, {"chat_base_url": "https://evil.example/v1"}, False),
        (
            {"chat_base_url": "https://m.example/v1"},
            {"chat_base_url": "https://m.example/v2"},
            True,
        ),
        ({"chat_base_url": "https://m.example/v1"}, {"chat_provider": "renamed"}, True),
        (
            {"chat_base_url": "https://m.example/v1"},
            {"chat_base_url": "http://m.example/v1"},
            False,
        ),
        (
            {"chat_base_url": "https://m.example"},
            {"chat_base_url": "https://m.example:8443"},
            False,
        ),
        ({"chat_base_url": "https://m.example/v1"}, {"chat_base_url": ""}, False),
        (
            {"chat_provider": "openai"},
            {"chat_base_url": "https://m.example/v1", "chat_api_key": KEY},
            True,
        ),
    ],
)
def test_a_key_stays_with_the_host_it_was_given_for(
    service: SettingsService, before: dict[str, str], after: dict[str, str], *, kept: bool
) -> None:
    service.change(ADMIN, ACME, change(**before, chat_api_key=KEY))

    changed = service.change(ADMIN, ACME, change(**after))

    assert bool(changed.sealed_chat_api_key) is kept
    assert bool(changed.chat_api_key_fingerprint) is kept


def test_an_embedding_key_is_kept_sealed_for_the_place_where_vectors_are_made(
    store: InMemoryTenantSettings,
) -> None:
    service = SettingsService(store, ReversibleBox(), InMemoryTenants(), embedding_origin=PROVIDER)
    changed = service.change(ADMIN, ACME, change(embedding_api_key=KEY, embedding_account="a1"))

    assert KEY not in repr(changed)
    assert changed.embedding_api_key_fingerprint == fingerprint(KEY)
    assert (changed.embedding_api_key_origin, changed.embedding_account) == (PROVIDER, "a1")
    sealed = changed.sealed_embedding_api_key
    assert ReversibleBox().open(sealed, tenant=ACME, field="embedding_api_key") == KEY
    assert service.change(ADMIN, ACME, change(embedding_api_key=fingerprint(KEY))) == changed


def test_keys_of_the_chat_and_of_vectors_do_not_touch_each_other(
    store: InMemoryTenantSettings,
) -> None:
    service = SettingsService(store, ReversibleBox(), InMemoryTenants(), embedding_origin=PROVIDER)
    service.change(ADMIN, ACME, change(chat_api_key=KEY, chat_provider="openai"))
    both = service.change(ADMIN, ACME, change(embedding_api_key="another"))
    moved = service.change(ADMIN, ACME, change(chat_provider="mistral"))

    assert (both.sealed_chat_api_key, both.sealed_embedding_api_key) != ("", "")
    assert moved.sealed_chat_api_key == ""
    assert moved.sealed_embedding_api_key == both.sealed_embedding_api_key


@pytest.mark.parametrize("nothing", ["", None])
def test_an_embedding_key_can_be_taken_back(
    store: InMemoryTenantSettings, nothing: str | None
) -> None:
    service = SettingsService(store, ReversibleBox(), InMemoryTenants(), embedding_origin=PROVIDER)
    service.change(ADMIN, ACME, change(embedding_api_key=KEY))

    assert service.change(ADMIN, ACME, change(embedding_api_key=nothing)) == TenantSettings()


def test_a_deployment_that_asks_no_provider_takes_no_embedding_key(
    service: SettingsService,
) -> None:
    with pytest.raises(InvalidRequestError, match="embedding_key_unused"):
        service.change(ADMIN, ACME, change(embedding_api_key=KEY))
    assert service.change(ADMIN, ACME, change(embedding_api_key="")) == TenantSettings()


def test_with_a_new_embedding_key_the_documents_that_waited_follow(
    store: InMemoryTenantSettings,
) -> None:
    asked: list[tuple[str, str]] = []

    def catch_up(tenant: TenantId, user: UserId) -> None:
        assert store.load(tenant).embedding_api_key_fingerprint == fingerprint(KEY)
        asked.append((tenant, user))

    service = SettingsService(
        store, ReversibleBox(), InMemoryTenants(), embedding_origin=PROVIDER, catch_up=catch_up
    )
    service.change(ADMIN, ACME, change(embedding_api_key=KEY))
    assert asked == [(ACME, "ada")]
    for nothing in ({"chat_api_key": KEY}, {"embedding_api_key": fingerprint(KEY)}):
        service.change(ADMIN, ACME, change(**nothing))
    service.change(ADMIN, ACME, change(embedding_api_key=""))
    assert asked == [(ACME, "ada")]


def test_a_key_is_in_force_even_if_nothing_can_be_queued(store: InMemoryTenantSettings) -> None:
    def down(tenant: TenantId, user: UserId) -> None:
        raise UnavailableError("unavailable")

    service = SettingsService(
        store, ReversibleBox(), InMemoryTenants(), embedding_origin=PROVIDER, catch_up=down
    )
    changed = service.change(ADMIN, ACME, change(embedding_api_key=KEY))
    assert store.load(ACME) == changed


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVOPS, Role.TENANT_ADMIN])
@pytest.mark.parametrize("tenant", [GLOBEX, "no-such", "", "ACME", "../acme"])
def test_another_tenant_is_not_found_by_anybody_but_a_cpi_admin(
    service: SettingsService, role: Role, tenant: str
) -> None:
    for act in (
        lambda: service.show(principal(role=role), tenant),
        lambda: service.change(principal(role=role), tenant, change(chat_model="m")),
    ):
        with pytest.raises(NotFoundError) as refused:
            act()
        assert refused.value.code == "tenant_not_found"
    assert service.show(CPI_ADMIN, GLOBEX) == TenantSettings()


def test_a_cpi_admin_administers_every_tenant(service: SettingsService) -> None:
    service.change(CPI_ADMIN, GLOBEX, change(chat_model="m"))

    assert service.show(CPI_ADMIN, GLOBEX).chat_model == "m"
    assert service.show(CPI_ADMIN, ACME).chat_model == ""
    with pytest.raises(NotFoundError):
        service.show(CPI_ADMIN, "../globex")


def test_nobody_sets_anything_for_a_tenant_that_never_was(store: InMemoryTenantSettings) -> None:
    service = SettingsService(store, ReversibleBox(), InMemoryTenants())

    for act in (
        lambda: service.show(CPI_ADMIN, "globexx"),
        lambda: service.change(CPI_ADMIN, "globexx", change(chat_model="m")),
    ):
        with pytest.raises(NotFoundError, match="tenant_not_found"):
            act()

    assert store.load(TenantId("globexx")) == TenantSettings()
    assert service.change(ADMIN, ACME, change(chat_model="m")).chat_model == "m"


@pytest.mark.parametrize("state", GOING)
def test_nobody_sets_anything_for_a_tenant_that_is_erased(
    store: InMemoryTenantSettings, state: TenantState
) -> None:
    tenants = both_tenants()
    tenants.set_state(GLOBEX, state, START)
    service = SettingsService(store, ReversibleBox(), tenants)

    with pytest.raises(ConflictError, match="tenant_going"):
        service.change(CPI_ADMIN, GLOBEX, change(chat_model="m"))

    assert store.load(GLOBEX) == TenantSettings()


@pytest.mark.parametrize(
    "values",
    [
        {"chat_base_url": "https://models.example/v1/"},
        {"chat_base_url": "http://127.0.0.1:9000"},
        {"chat_base_url": "https://[2001:db8::1]:8443/v1"},
        {"chat_provider": "openai"},
        {"chat_max_tokens_per_request": 1},
        {"chat_max_tokens_per_request": MAX_CHAT_TOKENS_PER_REQUEST},
        {"chat_enabled": True},
    ],
)
def test_a_good_value_is_taken(values: dict[str, Any]) -> None:
    assert change(**values).model_fields_set == set(values)


@pytest.mark.parametrize(
    "values",
    [
        {"chat_base_url": "models.example/v1"},
        {"chat_base_url": "ftp://models.example"},
        {"chat_base_url": "file:///etc/passwd"},
        {"chat_base_url": "https://"},
        {"chat_base_url": "https://user:pass@models.example"},
        {"chat_base_url": "https://models.example@evil.example"},
        {"chat_base_url": "https://models.example/v1?key=1"},
        {"chat_base_url": "https://models.example/v1#a"},
        {"chat_base_url": "https://models.example:port"},
        {"chat_base_url": "https://models.example:99999"},
        {"chat_base_url": "https://models.example/a b"},
        {"chat_base_url": "https://models.example\\@evil.example"},
        {"chat_base_url": "https://models.example/\n"},
        {"chat_base_url": "https://" + "a" * 2_000},
        {"chat_provider": "Open AI"},
        {"chat_provider": "a" * 41},
        {"chat_model": "m" * 201},
        {"chat_max_tokens_per_request": 0},
        {"chat_max_tokens_per_request": MAX_CHAT_TOKENS_PER_REQUEST + 1},
        {"chat_max_tokens_per_request": 1.5},
        {"chat_enabled": "perhaps"},
        {"chat_api_key": "two words"},
        {"chat_api_key": "line\nbreak"},
        {"chat_api_key": "k" * 1_001},
        {"sealed_chat_api_key": "sealed"},
        {"embedding_api_key": "two words"},
        {"embedding_account": "../other"},
        {"embedding_api_key_origin": "https://evil.example"},
        {"chat_api_key_fingerprint": "sha256:0"},
        {"chat_retention_days": 31},
        {"chat_retention_days": -1},
        {"chat_retention_days": "unlimited"},
        {"unknown": 1},
    ],
)
def test_a_bad_value_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        change(**values)


@pytest.mark.parametrize("days", [0, 30, 60, 90, 180])
def test_conversations_are_kept_for_one_of_some_periods(days: int) -> None:
    assert change(chat_retention_days=days).chat_retention_days == days


def test_a_final_slash_is_no_other_address() -> None:
    assert change(chat_base_url="https://m.example/v1/").chat_base_url == "https://m.example/v1"


def test_a_key_never_shows_in_what_is_printed() -> None:
    assert KEY not in repr(change(chat_api_key=KEY))


def test_fingerprints_tell_keys_apart() -> None:
    assert fingerprint("a") != fingerprint("b")
    assert fingerprint("") == ""
    assert fingerprint(KEY).startswith("sha256:")
    assert TenantSettings().chat_max_tokens_per_request == CHAT_MAX_TOKENS


class Overtaken(InMemoryTenantSettings):
    """Settings that somebody else changes whenever they were read, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    def load(self, tenant: TenantId) -> TenantSettings:
        found = super().load(tenant)
        if self._times:
            self._times -= 1
            self.save(tenant, replace(found, chat_base_url=f"https://other-{self._times}.example"))
        return found


def test_two_changes_at_once_both_count_and_no_key_meets_an_address_of_another() -> None:
    store = Overtaken(2)
    service = SettingsService(store, ReversibleBox(), InMemoryTenants())

    service.change(ADMIN, ACME, change(chat_model="m", chat_api_key=KEY))

    kept = store.load(ACME)
    assert (kept.chat_model, kept.chat_base_url) == ("m", "https://other-0.example")
    assert kept.sealed_chat_api_key


def test_who_is_overtaken_again_and_again_is_told() -> None:
    with pytest.raises(ConflictError):
        SettingsService(Overtaken(99), ReversibleBox(), InMemoryTenants()).change(
            ADMIN, ACME, change(chat_model="m")
        )
