"""Agent runs over fakes: the chat's world with the store, the engine and the workers of runs."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from archivolt.domain.identity import FULL_REACH, Principal
from archivolt.domain.language import Language
from archivolt.domain.personal_tokens import PersonalToken, digest_of, new_token
from archivolt.domain.run import Run, RunApproval, RunEvent, RunRef
from archivolt.domain.run_limits import MAX_RUN_HISTORY
from archivolt.governance.program_tokens import ProgramTokens
from archivolt.governance.token_verifiers import PersonalTokenVerifier
from archivolt.ports.chat_model import ChatModel
from archivolt.ports.personal_tokens import PersonalTokenStore
from archivolt.runs.announcing import RunAnnouncements
from archivolt.runs.calling import RunCalls
from archivolt.runs.deciding import RunDecisions
from archivolt.runs.keeping import RunSeals
from archivolt.runs.requests import RunRequest
from archivolt.runs.service import RunService
from archivolt.runs.stepping import Next, RunSteps
from archivolt.runs.support import RunSupport
from tests.builders import ACME, ALICE, principal
from tests.chat_world import ChatWorld
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import ReversibleBox
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.fakes.runs import InMemoryRuns, NotingEngine
from tests.fakes.schedules import InMemorySchedules, NotingTimer
from tests.fakes.webhooks import NotingDeliveries

if TYPE_CHECKING:
    from archivolt.ports.oauth import OAuthGrantStore

T = TypeVar("T")


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    return asyncio.run(coroutine)


def by_token(tokens: PersonalTokenStore) -> tuple[Principal, PersonalToken]:
    """Give Alice a personal access token for a day; return who it speaks for, and what is kept."""
    secret = new_token()
    token = PersonalToken(
        id=secret.id,
        tenant=ACME,
        user=ALICE,
        name="A script",
        reach=FULL_REACH,
        digest=digest_of(secret.text),
        fingerprint=secret.fingerprint,
        created_at=START,
        expires_at=START + timedelta(days=1),
    )
    tokens.add(token, limit=1)
    verifier = PersonalTokenVerifier(tokens, FrozenClock())
    return verifier.verify(secret.text), token


class RunWorld(ChatWorld):
    """`ChatWorld` with agent runs."""

    def __init__(
        self, model: ChatModel | None = None, *, max_history: int = MAX_RUN_HISTORY
    ) -> None:
        super().__init__(model)
        self.agent_runs = self.line.across(InMemoryRuns())
        self.engine = NotingEngine()
        self.schedules = self.line.across(InMemorySchedules())
        self.timer = NotingTimer()
        self.deliveries = NotingDeliveries()
        self.personal: PersonalTokenStore = InMemoryPersonalTokens()
        self.grants: OAuthGrantStore = InMemoryOAuthGrants()
        self._max_history = max_history

    @property
    def run_support(self) -> RunSupport:
        """What runs stand on, as things are now."""
        return RunSupport(
            admit=self.admission.require,
            tokens=ProgramTokens(lambda: self.personal, lambda: self.grants, self.clock),
            store=self.agent_runs,
            schedules=self.schedules,
            engine=self.engine,
            seals=RunSeals(ReversibleBox),
            models=self.selector,
            tools=self.pipeline.registry,
            pipeline=self.pipeline,
            proposals=lambda: self.proposals,
            vaults=self.vaults,
            scopes=self.scopes,
            skills=self.skills,
            announcements=RunAnnouncements(lambda: self.webhooks, lambda: self.deliveries),
            audit=self.audit,
            clock=self.clock,
        )

    @property
    def run_service(self) -> RunService:
        """What people do with runs."""
        return RunService(self.run_support, self.places)

    @property
    def decisions(self) -> RunDecisions:
        """What people decide on."""
        return RunDecisions(self.run_support)

    @property
    def steps(self) -> RunSteps:
        """What takes steps."""
        return RunSteps(self.run_support, run_async, max_history=self._max_history)

    @property
    def calls(self) -> RunCalls:
        """What runs calls."""
        return RunCalls(self.run_support, run_async)

    def start_run(self, goal: str = "Do it.", by: Principal | None = None, **asked: Any) -> Run:  # noqa: ANN401  JSON
        """Start a run as Alice, or as somebody else."""
        request = RunRequest(goal=goal, **asked)
        return self.run_service.start(by or principal(ALICE), request, language=Language.EN)

    def step(self, run: Run, *, retries: int = 0) -> Next:
        """Take one step, as the execution that the run names now."""
        return self.steps.step(self.ref(run, retries=retries))

    def ref(self, run: Run, *, retries: int = 0) -> RunRef:
        """Return what the run's execution is asked with."""
        now = self.now(run)
        return RunRef(tenant=now.tenant, run=now.id, execution=now.execution, retries=retries)

    def drive(self, run: Run) -> Run:
        """Do what the engine would until the run is over or waits for a person."""
        while True:
            following = self.step(run)
            if following.what == "over" and not self.now(run).status.over:
                continue  # a fresh execution goes on
            if following.what == "approval":
                for call in following.calls:
                    self.wait_for(run, call["call"])
            if following.what in {"over", "approval"}:
                return self.now(run)
            for call in following.calls:
                self.calls.run_tool(self.ref(run), call["call"])

    def wait_for(self, run: Run, place: str) -> None:
        """Have the execution wait for a person."""
        token = f"token of {place} in {self.now(run).execution}"
        self.engine.waiting.add(token)
        self.calls.await_person(self.ref(run), place, token)

    def carry_on(self, run: Run) -> Run:
        """Do what was decided, and go on."""
        for approval in self.agent_runs.approvals(run):
            self.calls.decided(self.ref(run), approval.call)
        return self.drive(run)

    def now(self, run: Run) -> Run:
        """Return the run as it is kept now."""
        return self.agent_runs.get(run.tenant, run.id)

    def waiting(self, run: Run) -> list[RunApproval]:
        """Return the changes that wait for a person."""
        return [each.approval for each in self.run_service.waiting(self.now(run))]

    def told(self, run: Run, name: str = "") -> list[RunEvent]:
        """Return the events of the run, or those of a name."""
        events = self.agent_runs.events(run, after=0, limit=10_000)
        return [event for event in events if name in {"", event.name}]
