"""Which model answers a turn (O72, S5, S10)."""

from collections.abc import Mapping

import pytest

from archivolt.chat.configured import (
    ConfiguredProvider,
    Environment,
    environment_models,
    environment_providers,
)
from archivolt.chat.providers import ChosenModel, ModelSelector
from archivolt.domain.errors import ForbiddenError, InvalidRequestError, UnavailableError
from archivolt.domain.providers import EMBEDDED, EMBEDDED_MODEL, PRESETS, WireFormat
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings, provider_key_field
from archivolt.governance.metered_models import MeteredModels
from archivolt.ports.chat_model import ProviderConnection
from tests.builders import ACME, ALICE, GLOBEX, principal
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.ledger import unbounded_meter
from tests.fakes.models import PricedModels, ScriptedModels

OURS = ConfiguredProvider(
    connection=ProviderConnection(provider="openai", base_url="https://ours.test/v1", key="env"),
    model="env-model",
)


class Choosing:
    """A selector, and what it connected to."""

    def __init__(
        self,
        settings: TenantSettings | None = None,
        *environment: ConfiguredProvider,
        serves: str | None = None,
        preferred: str = "",
        models: Mapping[str, str] | None = None,
    ) -> None:
        store = InMemoryTenantSettings()
        if settings:
            store.save(ACME, settings)
        self.models = ScriptedModels()
        self._selector = ModelSelector(
            store,
            ReversibleBox(),
            MeteredModels(self.models, unbounded_meter()),
            PricedModels(),
            environment=Environment(
                providers=environment, models=models or {}, tenant=serves, preferred=preferred
            ),
        )

    def select(self, provider: str = "", model: str = "", tenant: str = ACME) -> ChosenModel:
        caller = principal(ALICE, tenant=tenant)
        return self._selector.select(caller, provider=provider, model=model)

    @property
    def connection(self) -> ProviderConnection:
        [connection] = self.models.connections
        return connection


def tenant(**settings: object) -> TenantSettings:
    key = settings.pop("key", None)
    if key:
        box = ReversibleBox()
        settings["sealed_chat_api_key"] = box.seal(str(key), tenant=ACME, field=CHAT_API_KEY)
    return TenantSettings(**settings)  # pyright: ignore[reportArgumentType]


def test_without_any_key_the_embedded_provider_answers() -> None:
    chosen = Choosing().select()

    assert (chosen.provider, chosen.name) == (EMBEDDED, EMBEDDED_MODEL)


def test_a_tenants_provider_answers_with_its_key_address_model_and_limit() -> None:
    settings = tenant(
        chat_provider="acme-ai",
        chat_base_url="https://ai.acme.test/v1",
        chat_model="big",
        chat_max_tokens_per_request=77,
        key="sk-acme",
    )
    choosing = Choosing(settings)

    chosen = choosing.select()

    assert (chosen.provider, chosen.name, chosen.max_tokens) == ("acme-ai", "big", 77)
    assert choosing.connection == ProviderConnection(
        provider="acme-ai", base_url="https://ai.acme.test/v1", key="sk-acme"
    )


def test_an_address_without_a_key_is_enough() -> None:
    choosing = Choosing(tenant(chat_base_url="http://localhost:11434/v1", chat_model="qwen3"))

    assert choosing.select().name == "qwen3"
    assert choosing.connection.key == ""


def test_a_known_provider_needs_no_address_and_has_a_model() -> None:
    choosing = Choosing(tenant(chat_provider="deepseek", key="sk"))

    assert choosing.select().name == "deepseek-v4-flash"
    assert choosing.connection.base_url.startswith("https://api.deepseek.com")


def test_the_request_names_another_model_of_the_same_provider() -> None:
    assert Choosing(tenant(chat_provider="mistral", key="sk")).select(model="large").name == "large"


def test_the_request_can_ask_for_the_embedded_provider_without_any_key_being_opened() -> None:
    damaged = TenantSettings(chat_provider="openai", sealed_chat_api_key="ZGFtYWdlZA==")

    assert Choosing(damaged).select(EMBEDDED).provider == EMBEDDED
    with pytest.raises(UnavailableError, match="secret_unreadable"):
        Choosing(damaged).select()


def test_a_key_is_never_sent_to_a_provider_it_was_not_configured_for() -> None:
    choosing = Choosing(tenant(chat_provider="deepseek", key="sk-deepseek"))

    with pytest.raises(InvalidRequestError, match="provider_not_configured"):
        choosing.select("openai")
    assert choosing.models.connections == []


def test_a_provider_nobody_knows_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequestError, match="provider_unknown") as raised:
        Choosing().select("no-such")
    assert set(PRESETS) <= set(str(raised.value.details["known"]).split(", "))


def test_an_unknown_provider_without_an_address_is_told() -> None:
    with pytest.raises(InvalidRequestError, match="provider_unknown"):
        Choosing(tenant(chat_provider="acme-ai", key="sk")).select()


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("anthropic", WireFormat.ANTHROPIC),
        ("gemini", WireFormat.GEMINI),
        ("mistral", WireFormat.OPENAI),
    ],
)
def test_a_known_provider_is_spoken_to_in_its_own_format(name: str, spoken: WireFormat) -> None:
    choosing = Choosing(tenant(chat_provider=name, key="sk"))

    assert choosing.select().name == PRESETS[name].model
    assert choosing.connection.wire_format is spoken


@pytest.mark.parametrize(
    "address",
    [
        "https://api.anthropic.test/v1/chat/completions",
        "https://gateway.test/v1beta/openai/",
    ],
)
def test_an_address_that_speaks_openais_format_is_spoken_to_in_it(address: str) -> None:
    choosing = Choosing(tenant(chat_provider="gemini", chat_base_url=address, key="sk"))

    choosing.select()

    assert choosing.connection.wire_format is WireFormat.OPENAI


@pytest.mark.parametrize("name", ["ollama", "vllm"])
def test_a_provider_on_ones_own_machine_needs_no_key(name: str) -> None:
    choosing = Choosing(tenant(chat_provider=name, chat_model="qwen3"))

    assert choosing.select().name == "qwen3"
    assert choosing.connection.base_url.startswith("http://127.0.0.1")


def test_the_defaults_come_after_the_tenants_choice_and_before_the_environments() -> None:
    mistral = ConfiguredProvider(
        connection=ProviderConnection(provider="mistral", base_url="https://m.test/v1", key="env"),
        model="env-mistral",
    )
    defaults = tenant(ai_default_provider="mistral", ai_default_models={"mistral": "kept"})
    chosen = tenant(
        chat_provider="openai", ai_default_provider="mistral", ai_default_models={"openai": "kept"}
    )

    assert Choosing(None, OURS, mistral).select().name == "env-model"
    assert Choosing(defaults, OURS, mistral).select().name == "kept"
    assert Choosing(defaults, OURS, mistral).select(model="asked").name == "asked"
    assert Choosing(defaults, OURS, mistral).select("openai").name == "env-model"
    assert Choosing(chosen, OURS, mistral).select().name == "kept"


def test_a_default_without_a_key_leaves_what_has_one() -> None:
    settings = tenant(ai_default_provider="anthropic")

    assert Choosing(settings, OURS).select().provider == "openai"
    assert Choosing(settings).select().provider == EMBEDDED


def test_a_request_chooses_among_the_providers_that_the_tenant_gave_keys_for() -> None:
    box = ReversibleBox()
    sealed = {
        name: box.seal(f"sk-{name}", tenant=ACME, field=provider_key_field(name))
        for name in ("anthropic", "mistral")
    }
    settings = tenant(chat_provider="openai", key="sk-openai", sealed_provider_keys=sealed)

    def key_for(name: str) -> tuple[str, str]:
        choosing = Choosing(settings)
        choosing.select(name)
        return choosing.connection.key, choosing.connection.base_url

    assert key_for("") == ("sk-openai", PRESETS["openai"].base_url)
    assert key_for("anthropic") == ("sk-anthropic", PRESETS["anthropic"].base_url)
    assert key_for("mistral") == ("sk-mistral", PRESETS["mistral"].base_url)
    with pytest.raises(InvalidRequestError, match="provider_not_configured"):
        Choosing(settings).select("gemini")


def test_a_key_given_for_the_tenants_own_address_wins_over_a_further_one() -> None:
    box = ReversibleBox()
    further = box.seal("sk-further", tenant=ACME, field=provider_key_field("openai"))
    choosing = Choosing(
        tenant(
            chat_base_url="https://gateway.test/v1",
            chat_model="m",
            key="sk-own",
            sealed_provider_keys={"openai": further},
        )
    )

    choosing.select("openai")

    assert (choosing.connection.key, choosing.connection.base_url) == (
        "sk-own",
        "https://gateway.test/v1",
    )


def test_a_default_among_further_providers_answers_with_its_own_key() -> None:
    box = ReversibleBox()
    sealed = box.seal("sk-m", tenant=ACME, field=provider_key_field("mistral"))
    choosing = Choosing(
        tenant(ai_default_provider="mistral", sealed_provider_keys={"mistral": sealed}), OURS
    )

    assert choosing.select().provider == "mistral"
    assert choosing.connection.key == "sk-m"


def test_the_deployments_default_comes_before_the_order_of_the_well_known_ones() -> None:
    box = ReversibleBox()
    sealed = {
        name: box.seal("sk", tenant=ACME, field=provider_key_field(name))
        for name in ("deepseek", "anthropic")
    }
    settings = tenant(sealed_provider_keys=sealed)

    assert Choosing(settings).select().provider == "deepseek"
    assert Choosing(settings, preferred="anthropic").select().provider == "anthropic"
    assert Choosing(settings, preferred="gemini").select().provider == "deepseek"


def test_the_embedded_provider_can_be_the_default() -> None:
    assert Choosing(tenant(ai_default_provider=EMBEDDED), OURS).select().provider == EMBEDDED


def test_of_several_keys_in_the_environment_deepseeks_is_used_first() -> None:
    variables = {"openai_api_key": "sk-o", "deepseek_api_key": "sk-d", "gemini_api_key": "sk-g"}

    chosen = Choosing(None, *environment_providers(variables), serves=None).select()

    assert (chosen.provider, chosen.name) == ("deepseek", "deepseek-v4-flash")


def test_a_tenant_restricts_its_people_to_some_providers() -> None:
    mistral = ConfiguredProvider(
        connection=ProviderConnection(provider="mistral", base_url="https://m.test/v1"), model="m"
    )
    settings = tenant(chat_allowed_providers=("mistral",))
    choosing = Choosing(settings, OURS, mistral)

    with pytest.raises(ForbiddenError, match="provider_not_allowed"):
        choosing.select("openai")
    assert choosing.select().provider == "mistral"
    assert choosing.select(EMBEDDED).provider == EMBEDDED
    assert Choosing(settings, OURS).select().provider == EMBEDDED


@pytest.mark.parametrize(
    ("model", "sees"), [("gpt-4o", True), ("gpt-4o-2024-08-06", True), ("o3-mini", False)]
)
def test_a_chosen_model_tells_whether_it_sees(model: str, sees: bool) -> None:
    assert Choosing(None, OURS).select(model=model).sees is sees


def test_an_own_endpoint_needs_a_model() -> None:
    with pytest.raises(InvalidRequestError, match="model_required"):
        Choosing(tenant(chat_provider="vllm", chat_base_url="http://vllm.test/v1")).select()


def test_a_known_provider_without_a_key_leaves_the_embedded_one() -> None:
    assert Choosing(tenant(chat_provider="deepseek")).select().provider == EMBEDDED


def test_a_tenants_provider_without_a_key_leaves_what_is_said_next() -> None:
    sealed = {
        "mistral": ReversibleBox().seal("sk", tenant=ACME, field=provider_key_field("mistral"))
    }
    settings = tenant(
        chat_provider="anthropic",
        chat_model="claude-opus-5",
        ai_default_provider="mistral",
        sealed_provider_keys=sealed,
    )

    chosen = Choosing(settings).select()

    assert (chosen.provider, chosen.name) == ("mistral", PRESETS["mistral"].model)
    assert Choosing(tenant(chat_provider="anthropic"), OURS).select().provider == "openai"


def test_the_environment_comes_after_the_tenant() -> None:
    assert Choosing(None, OURS).select().name == "env-model"
    own = tenant(chat_provider="deepseek", key="sk")
    assert Choosing(own, OURS).select().provider == "deepseek"
    assert Choosing(own, OURS).select("openai").name == "env-model"


def test_a_tenants_model_is_used_with_the_environments_key() -> None:
    settings = tenant(chat_provider="openai", chat_model="theirs")

    assert Choosing(settings, OURS).select().name == "theirs"


def test_a_tenants_key_wins_over_the_environments_for_the_same_provider() -> None:
    choosing = Choosing(tenant(chat_provider="openai", key="sk-acme"), OURS)

    choosing.select()

    assert choosing.connection.key == "sk-acme"


def test_the_environments_key_serves_no_second_tenant() -> None:
    choosing = Choosing(None, OURS, serves=ACME)

    assert choosing.select().provider == "openai"
    assert choosing.select(tenant=GLOBEX).provider == EMBEDDED
    with pytest.raises(InvalidRequestError, match="provider_not_configured"):
        choosing.select("openai", tenant=GLOBEX)


def test_a_tenant_can_insist_on_the_embedded_provider() -> None:
    assert Choosing(tenant(chat_provider=EMBEDDED), OURS).select().provider == EMBEDDED


def test_a_tenant_without_chat_is_refused() -> None:
    with pytest.raises(ForbiddenError, match="chat_disabled"):
        Choosing(tenant(chat_enabled=False)).select()


def test_a_key_does_not_show_when_a_connection_is_printed() -> None:
    assert "sk-acme" not in repr(ProviderConnection(provider="p", key="sk-acme"))


def test_the_environments_providers_are_those_with_a_key_the_preferred_first() -> None:
    variables = {
        "deepseek_api_key": "sk-d",
        "openai_api_key": "sk-o",
    }

    found = environment_providers(variables, preferred="openai")

    assert [(each.connection.provider, each.model) for each in found] == [
        ("openai", "gpt-6.1-sol"),
        ("deepseek", "deepseek-v4-flash"),
    ]
    assert found[0].connection.key == "sk-o"


def test_the_default_model_is_the_default_providers_alone() -> None:
    variables = {"deepseek_model": "small", "openai_model": "o3", "embedding_model": "e5"}

    found = environment_models(variables, preferred="deepseek", preferred_model="big")

    assert found == {"deepseek": "big", "openai": "o3"}
    assert environment_models({}, preferred_model="big") == {}


@pytest.mark.parametrize("own", [True, False])
def test_the_environments_model_answers_with_a_tenants_own_key_too(own: bool) -> None:
    models = {"mistral": "env-mistral"}
    key = ReversibleBox().seal("sk", tenant=ACME, field=provider_key_field("mistral"))
    further: dict[str, object] = {
        "ai_default_provider": "mistral",
        "sealed_provider_keys": {"mistral": key},
    }
    given: dict[str, object] = {"chat_provider": "mistral", "key": "sk"} if own else further

    assert Choosing(tenant(**given), models=models).select().name == "env-mistral"
    named = tenant(**given, ai_default_models={"mistral": "kept"})
    assert Choosing(named, models=models).select().name == "kept"
    assert Choosing(tenant(**given)).select().name == PRESETS["mistral"].model


def test_an_address_of_ones_own_needs_no_key() -> None:
    [found] = environment_providers({"openai_base_url": "http://localhost:11434/v1"})

    assert found.connection.base_url == "http://localhost:11434/v1"
