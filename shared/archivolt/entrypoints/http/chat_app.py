"""The application of the chat function: `/api/v1/chat/*`, `/agent/*`, `/ai/*`, and `/healthz`.

The last is for the Web Adapter.
"""

import asyncio
from functools import cached_property
from typing import Final

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.entrypoints.http.ai_routes import ai_router
from archivolt.entrypoints.http.application import create_application
from archivolt.entrypoints.http.authentication import Gate
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.context_routes import context_router
from archivolt.entrypoints.http.conversation_routes import conversation_router
from archivolt.entrypoints.http.editor_routes import editor_router
from archivolt.entrypoints.http.errors import error_response, language_for
from archivolt.entrypoints.http.export_routes import export_router
from archivolt.entrypoints.http.message_routes import message_router
from archivolt.entrypoints.http.run_routes import run_router
from archivolt.entrypoints.http.schedule_routes import schedule_router
from archivolt.entrypoints.http.skill_routes import skill_router
from archivolt.entrypoints.http.usage_routes import usage_router

PREFIX: Final = "/api/v1/chat"
AI_PREFIX: Final = "/api/v1/ai"
AGENT_PREFIX: Final = "/api/v1/agent"

# They count beside what else they wait for.
_COUNTED_WHERE_DONE: Final = frozenset({"send_message", "edit_text"})
# Beside what it reads first: a person waits for the first word.
_LET_IN_WHERE_DONE: Final = frozenset({"send_message"})

# How long a stopping server waits for running turns; AWS gives a function two seconds in all.
_DRAIN_SECONDS: Final = 1.5


def create_chat_app(services: ChatServicesOf, allowed_origins: str = "") -> FastAPI:
    """Return the application; `services` is called at each request, so OpenAPI needs none."""
    app = create_application(
        "Archivolt chat",
        token_verifier=lambda: services().token_verifier,
        allowed_origins=allowed_origins,
        gate=_gate(services),
    )
    # The innermost, so that its answers have ids and origins as all others.
    app.user_middleware.append(Middleware(FeatureGate, services=services))
    app.include_router(_health_router())
    app.include_router(message_router(services), prefix=PREFIX)
    app.include_router(context_router(services), prefix=PREFIX)
    app.include_router(conversation_router(services), prefix=PREFIX)
    app.include_router(usage_router(services), prefix=PREFIX)
    app.include_router(export_router(services), prefix=PREFIX)
    app.include_router(run_router(services), prefix=AGENT_PREFIX)
    app.include_router(schedule_router(services), prefix=AGENT_PREFIX)
    app.include_router(ai_router(services), prefix=AI_PREFIX)
    app.include_router(skill_router(services), prefix=AI_PREFIX)
    # The last: it takes any name.
    app.include_router(editor_router(services), prefix=AI_PREFIX)
    return app


def _gate(services: ChatServicesOf) -> Gate:
    def count(principal: Principal, operation: str) -> None:
        services().count(principal, operation)

    def note(principal: Principal, operation: str, error: ForbiddenError) -> None:
        services().note_refusal(principal, operation, error)

    return Gate(
        note_refusal=note,
        count=count,
        counts_itself=_COUNTED_WHERE_DONE,
        admits_itself=_LET_IN_WHERE_DONE,
        early_verifier=lambda: services().early_verifier or services().token_verifier,
    )


class FeatureGate:
    """Answers 404 to everything of the chat while it is turned off (S6)."""

    def __init__(self, app: ASGIApp, services: ChatServicesOf) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer `not_found`."""
        gated = (PREFIX, AGENT_PREFIX, AI_PREFIX)
        is_chat = scope["type"] == "http" and scope["path"].startswith(gated)
        if not is_chat or self._services().enabled:
            await self._app(scope, receive, send)
            return
        response = error_response(NotFoundError("not_found"), language_for(Request(scope)))
        await response(scope, receive, send)


class LazyChatApp:
    """The ASGI application of the function; nothing is built before the first request."""

    def __init__(self, services: ChatServicesOf) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the server's start and stop."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self._built(scope, receive, send)

    @cached_property
    def _built(self) -> FastAPI:
        return create_chat_app(self._services, self._services().allowed_origins)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """Say that the start needs nothing; at the stop, let running turns end (S9)."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
                continue
            if "_built" in self.__dict__:
                await self._services().send_message.drain(_DRAIN_SECONDS)
                await asyncio.to_thread(self._services().close)
            await send({"type": "lifespan.shutdown.complete"})
            return


def _health_router() -> APIRouter:
    router = APIRouter(tags=["health"], include_in_schema=False)

    @router.get("/healthz")
    def health() -> dict[str, str]:  # pyright: ignore[reportUnusedFunction]
        return {"status": "ok"}

    return router
