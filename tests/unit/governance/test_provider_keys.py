"""Keys of further providers: each sealed for itself, shown as a fingerprint, and taken back."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import Role
from archivolt.domain.settings import TenantSettings, provider_key_field
from archivolt.governance.provider_keys import fingerprint
from archivolt.governance.settings import SettingsChange, SettingsService
from tests.builders import ACME, principal
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.tenancy import InMemoryTenants

ADMIN = principal("ada", role=Role.TENANT_ADMIN)
KEYS = {"anthropic": "sk-" + "first", "mistral": "sk-" + "second"}


@pytest.fixture
def service() -> SettingsService:
    return SettingsService(InMemoryTenantSettings(), ReversibleBox(), InMemoryTenants())


def give(service: SettingsService, keys: Any) -> TenantSettings:  # noqa: ANN401
    change = SettingsChange.model_validate_json(json.dumps({"chat_provider_keys": keys}))
    return service.change(ADMIN, ACME, change)


def test_each_key_is_sealed_for_itself_and_shown_as_a_fingerprint(service: SettingsService) -> None:
    kept = give(service, KEYS)

    assert kept.provider_key_fingerprints == {name: fingerprint(key) for name, key in KEYS.items()}
    assert not any(key in repr(kept) for key in KEYS.values())
    for name, key in KEYS.items():
        sealed, field = kept.sealed_provider_keys[name], provider_key_field(name)
        assert ReversibleBox().open(sealed, tenant=ACME, field=field) == key


def test_those_not_named_stay_and_fingerprints_change_nothing(service: SettingsService) -> None:
    before = give(service, KEYS)

    assert give(service, {}) == before
    assert give(service, before.provider_key_fingerprints) == before
    changed = give(service, {"gemini": "sk-" + "third"})
    assert set(changed.sealed_provider_keys) == {*KEYS, "gemini"}


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_key_is_taken_back_alone(service: SettingsService, nothing: str | None) -> None:
    give(service, KEYS)

    kept = give(service, {"anthropic": nothing, "openai": nothing})

    assert set(kept.sealed_provider_keys) == set(kept.provider_key_fingerprints) == {"mistral"}


def test_all_keys_are_taken_back_at_once(service: SettingsService) -> None:
    give(service, KEYS)

    assert give(service, None) == TenantSettings()


@pytest.mark.parametrize("provider", ["acme-ai", "ollama", "embedded"])
def test_a_provider_without_an_address_of_its_own_gets_no_key(
    service: SettingsService, provider: str
) -> None:
    with pytest.raises(InvalidRequestError, match="provider_unknown"):
        give(service, {provider: "sk-x"})
    assert service.show(ADMIN, ACME) == TenantSettings()


@pytest.mark.parametrize(
    "keys", [{"Open AI": "k"}, {"openai": "two words"}, {"openai": "k" * 1001}]
)
def test_what_is_no_key_is_refused(service: SettingsService, keys: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        give(service, keys)
