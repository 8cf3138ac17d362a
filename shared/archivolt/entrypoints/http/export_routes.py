"""Taking home all that is held of a person, before they erase themselves or at any time."""

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.errors import language_for


def export_router(services: ChatServicesOf) -> APIRouter:
    """Return the route of the export."""
    router = APIRouter(tags=["erasure"])

    @router.get(
        "/export",
        summary="Take home all that is held of you",
        operation_id="export_me",
        response_class=StreamingResponse,
        responses={200: {"content": {"application/zip": {}}}},
    )
    def export_me(request: Request, principal: InteractivePrincipal) -> StreamingResponse:  # pyright: ignore[reportUnusedFunction]
        """Return a ZIP.

        It has your conversations as JSON and Markdown, runs, skills, settings, usage, the names of
        tokens and connections, memberships, and the documents of your own vaults.
        Documents beyond 150 MB are named in `left-out.json`; read those one by one.
        """
        archive = services().taking_home().archive(principal, language_for(request))
        return StreamingResponse(
            archive,
            media_type="application/zip",
            headers={
                "Content-Disposition": 'attachment; filename="archivolt-export.zip"',
                "Cache-Control": "no-store",
            },
        )

    return router
