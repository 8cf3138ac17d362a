"""Providers and models as they are shown (O78)."""

from dataclasses import asdict
from typing import Self

from pydantic import BaseModel, Field

from archivolt.chat.model_choices import ProviderChoice
from archivolt.ports.model_catalogue import ModelCapabilities


class CapabilitiesBody(BaseModel):
    """What a model can do."""

    chat: bool
    embeddings: bool
    rerank: bool
    images: bool = Field(description="It makes images; `vision` is seeing them.")
    video: bool
    audio_speech: bool
    audio_transcription: bool
    vision: bool

    @classmethod
    def of(cls, capabilities: ModelCapabilities) -> Self:
        """Return the eight flags."""
        return cls(**asdict(capabilities))


Capabilities = dict[str, dict[str, CapabilitiesBody]]
"""By provider, then by model."""


class ProviderBody(BaseModel):
    """A provider that can be chosen."""

    provider: str
    configured: bool = Field(description="Whether it can answer: it has a key, or needs none.")
    default_model: str = Field(description='"" where a model has to be named.')
    models: list[str] = Field(description="Well-known ones; a request may name others.")

    @classmethod
    def of(cls, choice: ProviderChoice) -> Self:
        """Return what may be shown."""
        return cls(
            provider=choice.provider,
            configured=choice.configured,
            default_model=choice.default_model,
            models=list(choice.models),
        )


def capabilities_of(choices: list[ProviderChoice]) -> Capabilities:
    """Return what the models of these providers can do."""
    return {
        choice.provider: {
            model: CapabilitiesBody.of(capabilities)
            for model, capabilities in choice.models.items()
        }
        for choice in choices
    }
