"""Agent runs: start them, watch them, decide on their changes, cancel them (contract)."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from archivolt.domain.identity import Principal
from archivolt.domain.run import Run
from archivolt.domain.run_limits import DEFAULT_RUNS, MAX_IDEMPOTENCY_KEY_CHARS, MAX_RUNS
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServices, ChatServicesOf
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.run_bodies import (
    ApprovalBody,
    DecidedBody,
    DecisionBody,
    RunBody,
    RunDetail,
    RunPage,
    RunStarted,
    RunSummary,
)
from archivolt.entrypoints.http.run_events import add_events
from archivolt.runs.deciding import Decision

Limit = Annotated[int, Query(ge=1, le=MAX_RUNS)]
After = Annotated[str | None, Query(max_length=500, description="`next_after` of a page.")]
KeyHeader = Annotated[str, Header(alias="Idempotency-Key", max_length=MAX_IDEMPOTENCY_KEY_CHARS)]


def run_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of runs."""
    router = APIRouter(tags=["agent"])
    _add_start(router, services)
    _add_reading(router, services)
    add_events(router, services)
    _add_deciding(router, services)
    _add_ending(router, services)
    return router


def _add_start(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post("/runs", status_code=202, summary="Start an agent run", operation_id="start_run")
    def start_run(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: InteractivePrincipal,
        body: RunBody,
        idempotency_key: KeyHeader = "",
    ) -> RunStarted:
        """Work on a goal step by step, for minutes or days; changes wait for a person's word."""
        run = (
            services()
            .agent()
            .runs.start(principal, body.request(idempotency_key), language=language_for(request))
        )
        return RunStarted(id=run.id, status=run.status)


def _add_reading(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get("/runs", summary="List your agent runs", operation_id="list_runs")
    def list_runs(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, limit: Limit = DEFAULT_RUNS, after: After = None
    ) -> RunPage:
        """Return one page of your own runs, last active first."""
        page, next_after = services().agent().runs.page(principal, limit=limit, after=after)
        return RunPage(runs=[RunSummary.of(each) for each in page], next_after=next_after)

    @router.get("/runs/{run_id}", summary="Read an agent run", operation_id="read_run")
    def read_run(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, run_id: str
    ) -> RunDetail:
        """Return a run, to its owner or an administrator; its changes to who may decide on them."""
        run = services().agent().runs.read(principal, run_id)
        return _detail(services(), principal, run, decides=run.owner == principal.user)


def _add_deciding(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get(
        "/runs/{run_id}/approvals/{approval_id}",
        summary="Read a change that waits for a person",
        operation_id="read_approval",
    )
    def read_approval(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, run_id: str, approval_id: str
    ) -> ApprovalBody:
        """Return a change to whoever could make it themselves."""
        run, approval = services().agent().decisions.show(principal, run_id, approval_id)
        return ApprovalBody.of(services().agent().runs.shown(run, approval))

    @router.post(
        "/runs/{run_id}/approvals/{approval_id}",
        summary="Decide on a change of an agent run",
        operation_id="decide_approval",
    )
    def decide_approval(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, run_id: str, approval_id: str, body: DecisionBody
    ) -> DecidedBody:
        """Agree, decline, or propose other arguments: those wait then, under an id of their own."""
        decisions = services().agent().decisions
        if body.decision is Decision.EDIT:
            arguments = body.arguments or {}
            run, edited = decisions.edit(principal, run_id, approval_id, arguments)
            return DecidedBody.of(run.id, edited)
        decided = decisions.decide(principal, run_id, approval_id, body.decision)
        return DecidedBody.of(run_id, decided)


def _add_ending(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post("/runs/{run_id}/cancel", summary="Cancel an agent run", operation_id="cancel_run")
    def cancel_run(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, run_id: str
    ) -> RunDetail:
        """End a run at once; what it is doing at this moment is finished, what waits is not."""
        run = services().agent().runs.cancel(principal, run_id)
        return _detail(services(), principal, run, decides=False)

    @router.delete(
        "/runs/{run_id}",
        status_code=204,
        summary="Delete an agent run",
        operation_id="delete_run",
    )
    def delete_run(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, run_id: str
    ) -> Response:
        """Remove a run and all that is kept of it; one that is under way is cancelled first."""
        services().agent().runs.delete(principal, run_id)
        return Response(status_code=204)


def _detail(services: ChatServices, principal: Principal, run: Run, *, decides: bool) -> RunDetail:
    runs = services.agent().runs
    waiting = runs.waiting(run) if decides else []
    return RunDetail.whole(run, waiting, runs.result(principal, run))
