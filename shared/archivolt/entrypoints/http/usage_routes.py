"""What was used and what it cost: one's own, and a tenant's (S31, S32)."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.usage_bodies import UsageBody

Period = Annotated[
    str,
    Query(
        pattern=r"^(\d{4}-(0[1-9]|1[0-2]))?$",
        description="A month of UTC, as `2026-11`; left out, this one.",
    ),
]
Format = Annotated[
    Literal["json", "csv"] | None,
    Query(description="Left out, `Accept: text/csv` asks for a table."),
]
_CSV: Final = "text/csv"
_DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": UsageBody,
        "description": "JSON, or a table.",
        "content": {_CSV: {"schema": {"type": "string"}}},
    }
}


def usage_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of usage."""
    router = APIRouter(tags=["usage"])

    @router.get(
        "/usage",
        summary="See what you used",
        operation_id="own_usage",
        response_model=None,
        responses=_DOCUMENTED,
    )
    def own_usage(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: InteractivePrincipal,
        period: Period = "",
        format: Format = None,  # noqa: A002  the name in the address
    ) -> Response | UsageBody:
        """Tell what your own messages, edits and searches used in a month."""
        report = services().usage.own(principal, period=period)
        return _shown(request, UsageBody.of(report), format)

    @router.get(
        "/usage/tenant",
        summary="See what a tenant used",
        operation_id="tenant_usage",
        response_model=None,
        responses=_DOCUMENTED,
    )
    def tenant_usage(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: InteractivePrincipal,
        period: Period = "",
        tenant: Annotated[str, Query(description="Left out, yours.")] = "",
        format: Format = None,  # noqa: A002  the name in the address
    ) -> Response | UsageBody:
        """Tell what everybody used; whose it was, to administrators alone."""
        report = services().usage.of_tenant(principal, period=period, tenant=tenant)
        return _shown(request, UsageBody.of(report), format)

    return router


def _shown(request: Request, body: UsageBody, wanted: str | None) -> Response | UsageBody:
    accepted = request.headers.get("accept", "").split(",")[0].partition(";")[0].strip()
    if wanted == "csv" or (wanted is None and accepted.lower() == _CSV):
        named = {"Content-Disposition": f'attachment; filename="usage-{body.period}.csv"'}
        return Response(body.table(), media_type=f"{_CSV}; charset=utf-8", headers=named)
    return body
