"""Which model answers, the defaults people keep, and what can be chosen (O71, O72, O78)."""

from typing import Any

import pytest

from archivolt.domain.settings import TenantSettings
from tests.builders import ACME, GLOBEX
from tests.entrypoints.rest_world import RestWorld
from tests.entrypoints.test_chat_http import bearer, client, documented
from tests.fakes.models import ScriptedModel

API = "/api/v1"
FLAGS = {
    *("chat", "embeddings", "rerank", "images", "video"),
    *("audio_speech", "audio_transcription", "vision"),
}


def config(**named: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"ai_default_provider": "deepseek", "ai_default_models": {}, **named}


def test_the_defaults_are_deepseek_and_no_models() -> None:
    assert RestWorld().get(f"{API}/config").json == config()


def test_what_an_administrator_keeps_is_in_force_for_the_whole_tenant_at_once() -> None:
    world = RestWorld()
    kept = {"ai_default_provider": "mistral", "ai_default_models": {"mistral": "mistral-large"}}

    changed = world.post(f"{API}/config", kept, user="admin")

    assert (changed.status, changed.json) == (200, config(**kept))
    assert world.get(f"{API}/config").json == config(**kept)
    assert world.get(f"{API}/config", user="mallory").json == config()
    assert world.tenant_settings.load(ACME).ai_default_provider == "mistral"
    assert world.tenant_settings.load(GLOBEX) == TenantSettings()


def test_what_a_change_does_not_name_stays_and_null_takes_back() -> None:
    world = RestWorld()
    models = {"openai": "gpt-4.1"}
    world.post(f"{API}/config", {"ai_default_models": models}, user="admin")

    world.post(f"{API}/config", {"ai_default_provider": "openai"}, user="admin")
    assert world.get(f"{API}/config").json == config(
        ai_default_provider="openai", ai_default_models=models
    )
    taken_back = {"ai_default_provider": None, "ai_default_models": None}
    assert world.post(f"{API}/config", taken_back, user="admin").json == config()


@pytest.mark.parametrize("user", ["alice", "operator", "alices-agent", "admins-agent"])
def test_whoever_is_no_administrator_changes_no_default(user: str) -> None:
    world = RestWorld()

    answer = world.post(f"{API}/config", {"ai_default_provider": "openai"}, user=user)

    assert answer.status == 403
    assert world.tenant_settings.load(ACME) == TenantSettings()


@pytest.mark.parametrize(
    "body",
    [
        {"ai_default_provider": "Open AI"},
        {"ai_default_models": {"open ai": "m"}},
        {"ai_default_models": {"openai": ""}},
        {"ai_default_models": {f"p{n}": "m" for n in range(31)}},
        {"chat_api_key": "not-here"},
    ],
)
def test_a_default_that_cannot_be_is_refused(body: dict[str, Any]) -> None:
    assert RestWorld().post(f"{API}/config", body, user="admin").status in {400, 422}


def test_the_models_to_choose_from_have_eight_flags_each() -> None:
    answer = RestWorld().get(f"{API}/config/ai-models").json

    providers = {each["provider"]: each for each in answer["providers"]}
    assert {"deepseek", "openai", "anthropic", "gemini", "mistral", "ollama"} <= set(providers)
    assert [name for name, each in providers.items() if each["configured"]] == ["embedded"]
    assert providers["openai"]["default_model"] in providers["openai"]["models"]
    flags = [model for models in answer["capabilities"].values() for model in models.values()]
    assert all(set(each) == FLAGS for each in flags)
    assert answer["capabilities"]["openai"]["gpt-4o"]["vision"] is True
    assert answer["capabilities"]["deepseek"]["deepseek-v4-flash"]["vision"] is False


def test_a_restricted_tenant_sees_only_what_it_may_choose() -> None:
    world = RestWorld()
    only = {"chat_allowed_providers": ["mistral"]}
    assert world.send("PUT", f"{API}/tenants/acme/settings", only, user="admin").status == 200

    answer = world.get(f"{API}/config/ai-models").json

    assert [each["provider"] for each in answer["providers"]] == ["embedded", "mistral"]
    assert set(answer["capabilities"]) == {"embedded", "mistral"}


def test_a_provider_is_configured_once_it_has_a_key_and_the_key_never_shows() -> None:
    world = RestWorld()
    key = "not-a-" + "real-key"
    given = {"chat_provider_keys": {"anthropic": key, "gemini": key}}

    shown = world.send("PUT", f"{API}/tenants/acme/settings", given, user="admin")
    models = world.get(f"{API}/config/ai-models")

    assert set(shown.json["chat_provider_keys"]) == {"anthropic", "gemini"}
    configured = [each["provider"] for each in models.json["providers"] if each["configured"]]
    assert configured == ["anthropic", "gemini", "embedded"]
    assert key.encode() not in shown.body + models.body
    assert key not in repr(world.tenant_settings.load(ACME))


def test_the_status_tells_who_answers() -> None:
    with client(documented()) as http:
        nobody = http.get(f"{API}/ai/status", headers=bearer()).json()
    with client(documented(ScriptedModel())) as http:
        somebody = http.get(f"{API}/ai/status", headers=bearer()).json()

    assert (nobody["provider"], nobody["model"]) == ("embedded", "archivolt-extractive")
    assert (somebody["provider"], somebody["model"]) == ("openai", "m-1")
    assert somebody["available"] is True
    assert set(somebody["capabilities"]) == FLAGS
    assert {"openai", "embedded"} == {
        each["provider"] for each in somebody["providers"] if each["configured"]
    }


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (TenantSettings(chat_enabled=False), "chat_disabled"),
        (TenantSettings(chat_provider="acme-ai"), "provider_unknown"),
        (TenantSettings(chat_base_url="https://m.test", chat_model="mine"), "model_price_unknown"),
        (
            TenantSettings(chat_provider="openai", chat_allowed_providers=("mistral",)),
            "provider_not_allowed",
        ),
    ],
)
def test_the_status_tells_why_nobody_answers(settings: TenantSettings, code: str) -> None:
    world = documented()
    world.settings.save(ACME, settings)

    with client(world) as http:
        told = http.get(f"{API}/ai/status", headers=bearer()).json()

    assert (told["available"], told["problem"]["code"]) == (False, code)


def test_the_capabilities_of_any_model_can_be_asked_for() -> None:
    address = f"{API}/ai/model-capabilities"
    with client(documented()) as http:
        listed = http.get(address, headers=bearer()).json()["capabilities"]
        one = http.get(f"{address}?provider=anthropic", headers=bearer()).json()["capabilities"]
        own = http.get(f"{address}?provider=vllm&model=qwen2.5-vl-7b", headers=bearer()).json()

    assert set(one) == {"anthropic"}
    assert listed["anthropic"] == one["anthropic"]
    assert own["capabilities"]["vllm"]["qwen2.5-vl-7b"]["vision"] is True


def test_while_the_chat_is_off_these_addresses_are_not_there() -> None:
    with client(documented(), enabled=False) as http:
        answer = http.get(f"{API}/ai/status", headers=bearer())

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
