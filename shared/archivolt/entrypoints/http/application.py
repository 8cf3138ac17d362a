"""The frame of every HTTP application: errors, request ids, limits, origins, identity.

The routes are put in by each application; this file refuses to know any of them.
"""

import re
from collections.abc import Callable

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from archivolt.domain.limits import MAX_REQUEST_BYTES
from archivolt.entrypoints.http.authentication import Gate
from archivolt.entrypoints.http.errors import DOCUMENTED_ERRORS, add_error_handlers
from archivolt.entrypoints.http.middleware import (
    REQUEST_ID_HEADER,
    BodyLimit,
    LastResort,
    RequestId,
)
from archivolt.ports.governance import TokenVerifier


def create_application(
    title: str,
    *,
    token_verifier: Callable[[], TokenVerifier],
    allowed_origins: str = "",
    resource_metadata: str = "",
    openapi_url: str | None = None,
    gate: Gate | None = None,
) -> FastAPI:
    """Return an application without routes.

    Args:
        title: Its name in OpenAPI.
        token_verifier: Called at each request, so that nothing is built at import.
        allowed_origins: Origins of browser pages that may call, separated by commas or spaces.
        resource_metadata: The URL a 401 points at (RFC 9728 §5.1), or empty.
        openapi_url: Where the application's own OpenAPI is served, if anywhere.
        gate: What callers are held to; None: to the table of rights alone.

    """
    app = FastAPI(
        title=title,
        version="1",
        openapi_url=openapi_url,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=DOCUMENTED_ERRORS,
    )
    app.state.token_verifier = token_verifier
    app.state.gate = gate or Gate()
    put_in_frame(app, allowed_origins=allowed_origins, resource_metadata=resource_metadata)
    return app


def put_in_frame(app: Starlette, *, allowed_origins: str = "", resource_metadata: str = "") -> None:
    """Give an application what every one has; its arguments are those of `create_application`."""
    app.state.resource_metadata = resource_metadata
    add_error_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(BodyLimit, limit=MAX_REQUEST_BYTES)
    app.add_middleware(LastResort)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=origins(allowed_origins),
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=[REQUEST_ID_HEADER, "WWW-Authenticate", "Retry-After"],
        max_age=600,
    )
    app.add_middleware(RequestId)


def origins(setting: str) -> list[str]:
    """Return the origins in a setting, without a final slash."""
    return [origin.rstrip("/") for origin in re.split(r"[\s,]+", setting) if origin]
