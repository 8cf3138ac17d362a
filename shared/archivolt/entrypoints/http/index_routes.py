"""The index of a vault: how far it is, what it lacks and why, and having it made anew."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.limits import (
    DEFAULT_ATTENTION,
    MAX_ATTENTION_COUNT,
    MAX_ATTENTION_PAGE,
    MAX_EXTRACTED_CHARS,
)
from archivolt.domain.messages import Language, message_for
from archivolt.domain.sync import SyncStart
from archivolt.entrypoints.http.authentication import CurrentPrincipal, InteractivePrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.ports.index_runs import IndexRun
from archivolt.tools.redaction import redacted
from archivolt.vaults.index_state import IndexReport, rebuildable

_SHOWN = [state for state in IndexState if state is not IndexState.DELETED]


class Unindexed(StrEnum):
    """The states of documents that are not indexed."""

    PENDING = IndexState.PENDING.value
    NO_TEXT = IndexState.NO_TEXT.value
    OCR_NEEDED = IndexState.OCR_NEEDED.value
    UNSUPPORTED = IndexState.UNSUPPORTED.value
    TOO_BIG = IndexState.TOO_BIG.value
    FAILED = IndexState.FAILED.value


class UnindexedDocument(BaseModel):
    """A document that is not indexed, and why."""

    path: str = Field(description="Secrets taken out.")
    state: Unindexed
    reason: str = Field(description="A stable code; empty for what is pending.")
    message: str = Field(description="The reason for a person, in the caller's language.")
    since: datetime

    @classmethod
    def of(cls, entry: CatalogueEntry, language: Language) -> Self:
        """Return an entry of the catalogue as it is shown."""
        details = {"limit": MAX_EXTRACTED_CHARS}
        return cls(
            path=redacted(str(entry.path)),
            state=Unindexed(entry.state.value),
            reason=entry.reason,
            message=message_for(entry.reason, language, details) if entry.reason else "",
            since=entry.updated_at,
        )


class Rebuild(BaseModel):
    """An index that is being made anew."""

    since: datetime
    done: int = Field(description="Documents that were made anew.")


class IndexOfVault(BaseModel):
    """How far a vault is indexed."""

    vault: str
    files: int
    states: dict[str, int] = Field(
        description="pending: found by words, vectors follow; indexed; no_text; ocr_needed: scans"
        " and images that nothing here reads; unsupported; too_big; failed."
    )
    attention: list[UnindexedDocument] = Field(
        description="Documents that are not indexed, by state and path; not the pending ones, "
        "unless they are asked for."
    )
    more: bool = Field(description="Whether there are more: ask with a greater offset.")
    last_sync: datetime | None = Field(
        description="When documents and index were last compared to the end; null: never."
    )
    rebuild: Rebuild | None = Field(description="null: it is not being made anew.")

    @classmethod
    def of(cls, report: IndexReport, language: Language) -> Self:
        """Return a report as it is shown."""
        return cls(
            vault=report.vault,
            files=sum(report.counts.values()),
            states=_all_states(report.counts),
            attention=[UnindexedDocument.of(entry, language) for entry in report.attention],
            more=report.more,
            last_sync=report.run.compared_at,
            rebuild=_rebuild(report.run),
        )


class RebuildStarted(BaseModel):
    """What became of a request for a rebuild."""

    status: SyncStart = Field(
        description="started: it runs in the background; already_running: somebody asked before."
    )


def _all_states(counts: Mapping[IndexState, int]) -> dict[str, int]:
    return {state.value: counts.get(state, 0) for state in _SHOWN}


def _rebuild(run: IndexRun) -> Rebuild | None:
    return Rebuild(since=run.rebuild_since, done=run.rebuilt) if run.rebuild_since else None


def index_router(services: ServicesOf) -> APIRouter:
    """Return the routes of the index."""
    router = APIRouter(tags=["vaults"])
    _add_state(router, services)
    _add_rebuild(router, services)
    return router


def _add_state(router: APIRouter, services: ServicesOf) -> None:
    @router.get(
        "/vault/{vault}/index",
        summary="See how far a vault is indexed",
        operation_id="index_state",
    )
    def index_state(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: CurrentPrincipal,
        vault: str,
        state: Unindexed | None = None,
        offset: Annotated[int, Query(ge=0, le=MAX_ATTENTION_COUNT)] = 0,
        limit: Annotated[int, Query(ge=1, le=MAX_ATTENTION_PAGE)] = DEFAULT_ATTENTION,
    ) -> IndexOfVault:
        """How many documents are in each state, and which are not indexed and why."""
        wanted = IndexState(state.value) if state else None
        with services().by_hand.doing(
            principal, "index_state", vault=vault, surface=surface_of(principal)
        ):
            access = services().vaults.access(principal, vault)
            report = services().index.report(access, state=wanted, offset=offset, limit=limit)
        return IndexOfVault.of(report, language_for(request))


def _add_rebuild(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/vault/{vault}/index/rebuild",
        status_code=202,
        summary="Have the index of a vault made anew",
        operation_id="rebuild_index",
    )
    def rebuild_index(principal: InteractivePrincipal, vault: str) -> RebuildStarted:  # pyright: ignore[reportUnusedFunction]
        """For owners, and administrators who are members.

        It runs in the background; searches are answered from what is there until it is replaced.
        No document is changed, and text that did not change is not embedded again.
        """
        with services().by_hand.doing(principal, "rebuild_index", vault=vault):
            access = services().vaults.access(principal, vault)
            ref = rebuildable(principal, access)
            status = services().rebuilds.request(principal.user, ref)
        return RebuildStarted(status=status)
