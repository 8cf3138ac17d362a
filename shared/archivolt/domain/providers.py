"""Well-known providers: where they are, what they speak, and what they answer with."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import urlsplit

EMBEDDED: Final = "embedded"
EMBEDDED_MODEL: Final = "archivolt-extractive"
LAST_DEFAULT: Final = "deepseek"
"""The provider that is asked first where nothing names another (O71)."""


class WireFormat(StrEnum):
    """How a provider is spoken to."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class Preset(NamedTuple):
    """Where a well-known provider is, and the model it answers with unless one is named.

    That of a provider that takes a key has a price in the table of models, else it never answers.
    `keyless`: it is somebody's own machine, and asks for no key. `gif`: it takes images of this
    kind beside PNG, JPEG and WebP, which all do (decision 60).
    """

    base_url: str
    model: str
    wire_format: WireFormat = WireFormat.OPENAI
    keyless: bool = False
    gif: bool = True


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "deepseek": Preset("https://api.deepseek.com/v1", "deepseek-v4-flash"),
        "mistral": Preset("https://api.mistral.ai/v1", "mistral-small-latest"),
        "openai": Preset("https://api.openai.com/v1", "gpt-6.1-sol"),
        "openrouter": Preset("https://openrouter.ai/api/v1", "deepseek/deepseek-v4-flash"),
        "anthropic": Preset(
            "https://api.anthropic.com/v1", "claude-sonnet-5-5", WireFormat.ANTHROPIC
        ),
        "gemini": Preset(
            "https://generativelanguage.googleapis.com/v1beta",
            "gemini-3.8-flash",
            WireFormat.GEMINI,
            gif=False,
        ),
        "ollama": Preset("http://127.0.0.1:11434/v1", "llama3.1", keyless=True, gif=False),
        "vllm": Preset("http://127.0.0.1:8000/v1", "", keyless=True),
    }
)
NO_PRESET: Final = Preset("", "")

# Anthropic and Gemini have addresses that speak OpenAI's format, and gateways use their names.
_OPENAI_PATHS: Final = ("/chat/completions", "/openai")


def takes_gif(provider: str) -> bool:
    """Tell whether a provider takes GIF images, as those do that nobody knows."""
    return PRESETS.get(provider, NO_PRESET).gif


def wire_format_of(provider: str, base_url: str) -> WireFormat:
    """Return what a provider speaks at an address."""
    if urlsplit(base_url).path.rstrip("/").endswith(_OPENAI_PATHS):
        return WireFormat.OPENAI
    return PRESETS.get(provider, NO_PRESET).wire_format
