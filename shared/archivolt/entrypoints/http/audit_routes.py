"""The audit log of a tenant, for its administrators."""

from datetime import UTC, datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, Field

from archivolt.domain.audit import AuditEntry
from archivolt.domain.audit_limits import DEFAULT_AUDIT_ENTRIES, MAX_AUDIT_ENTRIES
from archivolt.domain.identity import Role
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.governance.audit import AuditFilter
from archivolt.ports.audit import AuditPage


class Entry(BaseModel):
    """Who did what, when, with what outcome; never content."""

    at: datetime
    user: str
    role: Role
    token_kind: str
    action: str = Field(description="A tool, its step (`propose:…`, `apply:…`), or a route.")
    outcome: str = Field(description='"ok", or the code of the error.')
    surface: str
    milliseconds: int
    vault: str
    path: str
    arguments_digest: str = Field(description="SHA-256 of the canonical JSON of the arguments.")
    details: dict[str, str]

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """Return an entry as it is shown."""
        return cls(
            at=entry.at,
            user=entry.principal.user,
            role=entry.principal.role,
            token_kind=entry.principal.kind.value,
            action=entry.action,
            outcome=entry.outcome,
            surface=entry.surface,
            milliseconds=entry.milliseconds,
            vault=entry.vault,
            path=entry.path,
            arguments_digest=entry.arguments_digest,
            details=entry.details,
        )


class Entries(BaseModel):
    """A page of the log, the newest entry first."""

    entries: list[Entry]
    next_cursor: str | None = Field(
        description="Give it as `cursor` for the entries before these; null at the end."
    )

    @classmethod
    def of(cls, page: AuditPage) -> Self:
        """Return a page as it is shown."""
        return cls(
            entries=[Entry.of(entry) for entry in page.entries], next_cursor=page.next_cursor
        )


def _aware(moment: datetime | None) -> datetime | None:
    """Return a moment; one without a zone is in UTC."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


Moment = Annotated[datetime | None, AfterValidator(_aware)]


class Wanted(BaseModel):
    """The query of `GET /audit`."""

    since: Moment = Field(default=None, description="From then on; left out, the last 30 days.")
    until: Moment = Field(default=None, description="Before then.")
    user: str = Field(default="", description="Of this user only.")
    tool: str = Field(default="", description="Of this tool and its steps, or of this route.")
    limit: int = Field(default=DEFAULT_AUDIT_ENTRIES, ge=1, le=MAX_AUDIT_ENTRIES)
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


def audit_router(services: ServicesOf) -> APIRouter:
    """Return the route of the audit log."""
    router = APIRouter(tags=["audit"])

    @router.get("/audit", summary="See who did what", operation_id="audit")
    def audit(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, query: Annotated[Wanted, Query()]
    ) -> Entries:
        """The entries of your tenant; only its administrators may, with a person's own token.

        A page may hold fewer than `limit`, even none, while `next_cursor` leads on.
        """
        wanted = AuditFilter(
            since=query.since, until=query.until, user=query.user, action=query.tool
        )
        with services().by_hand.doing(
            principal, "audit", surface=surface_of(principal), of_user=query.user
        ):
            page = services().audit.page(
                principal, wanted, limit=query.limit, cursor=query.cursor or None
            )
        return Entries.of(page)

    return router
