"""What runs stand on, and what a run is put together from at each of its steps."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from archivolt.agent.state import LoopLimits
from archivolt.chat.asking import ModelCalls
from archivolt.chat.beginnings import add_scope
from archivolt.chat.citations import SourceCollector
from archivolt.chat.providers import ChosenModel, ModelSelector
from archivolt.chat.scope import ScopeCollector
from archivolt.chat.skills import SkillService
from archivolt.chat.toolbox import Pipeline, Toolbox
from archivolt.chat.turns import ToolList
from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.run import Run, RunRef
from archivolt.domain.run_limits import RUN_PROPOSAL_SECONDS
from archivolt.domain.tool import Surface
from archivolt.governance.program_tokens import ProgramTokens
from archivolt.ports.audit import AuditLog
from archivolt.ports.clock import Clock
from archivolt.ports.runs import RunEngine, RunStore
from archivolt.ports.schedules import ScheduleStore
from archivolt.runs.announcing import RunAnnouncements
from archivolt.runs.keeping import KeptLoop, RunSeals, SoFar
from archivolt.tools.proposals import Proposals
from archivolt.vaults.access import VaultService

T = TypeVar("T")


class Await(Protocol):
    """Runs a coroutine to its end, always on the same event loop: connections belong to one."""

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what the coroutine returns, or raise what it raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSupport:
    """The collaborators of runs.

    `admit` refuses whoever may not come in any more, by tenant and user.
    """

    admit: Callable[[TenantId, UserId], object]
    tokens: ProgramTokens
    store: RunStore
    schedules: ScheduleStore
    engine: RunEngine
    seals: RunSeals
    models: ModelSelector
    tools: ToolList
    pipeline: Pipeline
    proposals: Callable[[], Proposals]
    vaults: VaultService
    scopes: ScopeCollector
    skills: SkillService
    announcements: RunAnnouncements
    audit: AuditLog
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run with what a step of it needs."""

    run: Run
    kept: KeptLoop
    chosen: ChosenModel
    toolbox: Toolbox
    model: ModelCalls

    @property
    def sources(self) -> SourceCollector:
        """The passages that the run was given so far."""
        return sources_of(self.kept.so_far)


def live_run(on: RunSupport, ref: RunRef) -> Run | None:
    """Return the run, if this execution is the one to work on it.

    The execution after this one is started where the one before had no time for it.

    Raises:
        UnavailableError: The store, or the engine.

    """
    run = on.store.get(ref.tenant, ref.run)
    if run.status.over:
        # Whoever ended it may have died before it could forget what was said, and tell.
        on.store.forget(run)
        on.announcements.ended(run, again=True)
        return None
    if run.execution == ref.execution:
        return run
    if run.execution > ref.execution:
        on.engine.start(run)
    return None


def open_run(on: RunSupport, run: Run) -> OpenRun:
    """Return a run with its model and its tools, as the settings are now (S13).

    Raises:
        ForbiddenError: As `require_admitted`; or its owner may not ask a model.
        ConflictError: It was ended meanwhile.
        ArchivoltError: Its model cannot be asked any more.

    """
    require_admitted(on, run)
    try:
        kept = on.seals.opened_loop(run, on.store.sealed_state(run))
    except NotFoundError as error:
        raise ConflictError("conflict") from error
    chosen = on.models.select(run.principal, provider=run.provider, model=run.model)
    chosen = chosen.within(run.id)
    toolbox = toolbox_of(on, run, chosen)
    limits = LoopLimits(
        steps=run.caps.steps,
        tool_calls=run.caps.tool_calls,
        seconds=run.caps.minutes * 60,
        context_tokens=chosen.context_tokens,
    )
    model = ModelCalls(chosen, toolbox, limits=limits, language=run.answers_in)
    return OpenRun(run=run, kept=kept, chosen=chosen, toolbox=toolbox, model=model)


def require_admitted(on: RunSupport, run: Run) -> None:
    """Check that a run may still go on as the caller who started it.

    Raises:
        ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`;
            `run_token_ended`: what a program started it with was revoked, or is over.
        UnavailableError: It cannot be read.

    """
    on.admit(run.tenant, run.owner)
    if not on.tokens.is_good(run.token):
        raise ForbiddenError("run_token_ended")


def require_vaults(on: RunSupport, run: Run) -> None:
    """Check that a run still reaches what it was started in; each of its calls asks for its own.

    Raises:
        ForbiddenError: `run_vault_lost`: its owner is no member any more of one of its vaults.
        UnavailableError: It cannot be read.

    """
    vaults = run.principal.reach.vaults
    if vaults and not vaults <= reached(on, run.principal):
        raise ForbiddenError("run_vault_lost")


def reached(on: RunSupport, principal: Principal) -> frozenset[str]:
    """Return the ids of the vaults that a caller reaches now."""
    return frozenset(access.vault.ref.id for access in on.vaults.accessible(principal))


def toolbox_of(on: RunSupport, run: Run, chosen: ChosenModel) -> Toolbox:
    """Return the tools of a run: those of the chat, as the person who started it."""
    specs = on.tools.specs(Surface.IN_APP)
    return Toolbox(
        on.pipeline,
        specs,
        run.principal,
        run.answers_in,
        reaches_out=chosen.reaches_out,
        proposal_seconds=RUN_PROPOSAL_SECONDS,
    )


def sources_of(so_far: SoFar) -> SourceCollector:
    """Return the passages that a run was given."""
    collector = SourceCollector()
    collector.restore(so_far.passages)
    add_scope(collector, so_far.scope)
    return collector
