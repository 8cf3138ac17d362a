"""What is known of models (O78): the table, editions of a model, and families by name."""

from decimal import Decimal

import pytest

from archivolt.adapters.models.table import ModelTable
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.providers import EMBEDDED, EMBEDDED_MODEL, PRESETS

TABLE = ModelTable()


@pytest.mark.parametrize(
    ("provider", "model", "sees"),
    [
        ("openai", "gpt-4o", True),
        ("openai", "gpt-4o-2024-08-06", True),
        ("openai", "o3-mini", False),
        ("deepseek", "deepseek-v4-flash", False),
        ("anthropic", "claude-sonnet-4-20250514", True),
        ("anthropic", "claude-of-tomorrow", True),
        ("gemini", "gemini-2.5-flash-001", True),
        ("mistral", "mistral-small-latest", True),
        ("openrouter", "openai/gpt-4o-mini", True),
        ("openrouter", "deepseek/deepseek-v4-flash", False),
        ("vllm", "Qwen/Qwen2.5-VL-7B-Instruct", True),
        ("ollama", "llama3.2-vision:11b", True),
        ("ollama", "llava:13b", True),
        ("ollama", "qwen3:8b", False),
        ("acme-ai", "m-1", False),
    ],
)
def test_a_model_is_known_by_its_name_its_edition_or_its_family(
    provider: str, model: str, sees: bool
) -> None:
    capabilities = TABLE.capabilities(provider, model)

    assert capabilities.vision is sees
    assert capabilities.chat is True


@pytest.mark.parametrize(
    ("model", "flag"),
    [
        ("text-embedding-3-small", "embeddings"),
        ("bge-reranker-v2", "rerank"),
        ("dall-e-3", "images"),
        ("sora-2", "video"),
        ("tts-1", "audio_speech"),
        ("whisper-1", "audio_transcription"),
    ],
)
def test_what_is_no_chat_model_is_told_apart(model: str, flag: str) -> None:
    capabilities = TABLE.capabilities("openai", model)

    assert getattr(capabilities, flag) is True
    assert capabilities.chat is False


@pytest.mark.parametrize("provider", [name for name in PRESETS if name != "vllm"])
def test_every_well_known_provider_lists_models_and_the_one_it_answers_with(provider: str) -> None:
    default = TABLE.capabilities(provider, PRESETS[provider].model)

    assert TABLE.models(provider)
    assert default.chat is True


def test_prices_are_those_of_the_model_whatever_its_edition() -> None:
    assert TABLE.price("openai", "gpt-4o-2024-08-06") == TABLE.price("openai", "gpt-4o")
    assert TABLE.price("openrouter", "openai/gpt-4o") == TABLE.price("openai", "gpt-4o")
    assert TABLE.price("openai", "gpt-4o").output == Decimal("10.00")
    sonnet = TABLE.price("anthropic", "claude-sonnet-4-5")
    assert TABLE.price("openrouter", "anthropic/claude-sonnet-4.5") == sonnet


@pytest.mark.parametrize("provider", ["deepseek", "mistral", "openai", "anthropic", "gemini"])
def test_the_model_that_a_provider_answers_with_has_a_price(provider: str) -> None:
    price = TABLE.price(provider, PRESETS[provider].model)

    assert 0 < price.input < price.output


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("deepseek-v4-flash", 1_000_000),
        ("claude-sonnet-5-5", 1_000_000),
        ("claude-opus-4-6", 1_000_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-3-5-haiku-latest", 200_000),
        ("claude-haiku-5-5", 100_000),
        ("gpt-6.1-sol", 272_000),
        ("gemini-2.5-pro", 200_000),
        ("mistral-small-latest", 256_000),
    ],
)
def test_a_window_ends_where_its_tokens_get_dearer(model: str, tokens: int) -> None:
    assert TABLE.context_tokens("any", model) == tokens


def test_behind_a_gateway_a_model_costs_what_it_costs_at_its_vendor() -> None:
    table = ModelTable()

    assert table.price("acme-ai", "gpt-4o") == table.price("openai", "gpt-4o")
    assert table.price("acme-ai", "gpt-4o-2024-08-06") == table.price("openai", "gpt-4o")


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("acme-ai", "gpt-9"),
        ("openai", "gpt-9"),
        ("ollama", "llama3.1"),
        ("openrouter", "openai/gpt-4o:free"),
        ("openrouter", "openrouter/auto"),
    ],
)
def test_a_price_that_nobody_wrote_down_is_unknown_and_never_free(
    provider: str, model: str
) -> None:
    with pytest.raises(InvalidRequestError, match="model_price_unknown"):
        TABLE.price(provider, model)


@pytest.mark.parametrize("provider", [name for name, each in PRESETS.items() if not each.keyless])
def test_the_model_that_answers_unless_one_is_named_has_a_price(provider: str) -> None:
    assert TABLE.price(provider, PRESETS[provider].model).output > 0


def test_the_embedded_provider_costs_nothing() -> None:
    assert TABLE.price(EMBEDDED, EMBEDDED_MODEL).cost(1_000, 1_000) == 0
