"""Whether a model answers, which one, and what models can do (O78)."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from archivolt.chat.model_choices import ModelChoices
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_MODEL_NAME_CHARS, MAX_PROVIDER_NAME_CHARS
from archivolt.domain.messages import Language
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.conversation_bodies import NoticeBody
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.model_bodies import (
    Capabilities,
    CapabilitiesBody,
    ProviderBody,
    capabilities_of,
)


class StatusBody(BaseModel):
    """What would answer a message now that names no provider and no model."""

    available: bool
    provider: str = Field(description='"" where nothing would answer.')
    model: str
    capabilities: CapabilitiesBody | None
    problem: NoticeBody | None = Field(description="Why nothing would answer.")
    providers: list[ProviderBody]


class ModelCapabilitiesBody(BaseModel):
    """What models can do, by provider and model."""

    capabilities: Capabilities


def ai_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["models"])

    @router.get("/status", summary="Tell which model answers", operation_id="ai_status")
    def ai_status(request: Request, principal: InteractivePrincipal) -> StatusBody:  # pyright: ignore[reportUnusedFunction]
        """No provider is asked, and no key is opened."""
        return _status(services().model_choices, principal, language_for(request))

    @router.get(
        "/model-capabilities",
        summary="Tell what models can do",
        operation_id="model_capabilities",
    )
    def model_capabilities(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal,
        provider: Annotated[str, Query(max_length=MAX_PROVIDER_NAME_CHARS)] = "",
        model: Annotated[str, Query(max_length=MAX_MODEL_NAME_CHARS)] = "",
    ) -> ModelCapabilitiesBody:
        """All well-known models; with `model`, that one of `provider`, well known or not."""
        choices = services().model_choices
        if model:
            told = CapabilitiesBody.of(choices.capabilities(provider, model))
            return ModelCapabilitiesBody(capabilities={provider: {model: told}})
        listed = choices.providers(principal)
        wanted = [each for each in listed if provider in {"", each.provider}]
        return ModelCapabilitiesBody(capabilities=capabilities_of(wanted))

    return router


def _status(choices: ModelChoices, principal: Principal, language: Language) -> StatusBody:
    providers = [ProviderBody.of(each) for each in choices.providers(principal)]
    try:
        provider, model = choices.default(principal)
    except ArchivoltError as error:
        return StatusBody(
            available=False,
            provider="",
            model="",
            capabilities=None,
            problem=NoticeBody(code=error.code, message=error.message(language)),
            providers=providers,
        )
    return StatusBody(
        available=True,
        provider=provider,
        model=model,
        capabilities=CapabilitiesBody.of(choices.capabilities(provider, model)),
        problem=None,
        providers=providers,
    )
