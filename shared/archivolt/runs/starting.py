"""Starting a run: everything that can be checked is checked, and where its loop begins is kept.

It begins where the chat would with the goal as the message (decision 21).
"""

import hashlib
import uuid
from dataclasses import replace
from datetime import timedelta

from archivolt.chat.beginnings import Prepared, loop_start, rules_for
from archivolt.chat.language import answer_language
from archivolt.chat.requests import readable
from archivolt.chat.scope import scope_for
from archivolt.chat.skills import chosen_skill
from archivolt.domain.conversation import Author, Conversation, ConversationId, Message
from archivolt.domain.errors import (
    ConflictError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, TokenKind, TokenReach
from archivolt.domain.messages import Language
from archivolt.domain.run import Run, RunEvent, RunId
from archivolt.domain.run_limits import MAX_OPEN_RUNS, MAX_RUNS, OPEN_RUN_DAYS
from archivolt.runs.ending import recorded
from archivolt.runs.keeping import KeptLoop, SoFar
from archivolt.runs.requests import RunRequest
from archivolt.runs.support import RunSupport, reached, toolbox_of


class StartRun:
    """Starts runs."""

    def __init__(self, on: RunSupport) -> None:
        self._on = on

    def start(self, principal: Principal, request: RunRequest, *, language: Language) -> Run:
        """Start a run, or return the one that this request started before.

        Raises:
            InvalidRequestError: An empty goal, a place or a provider that does not exist, a cap in
                money for a model without a price.
            NotFoundError: A vault or a place; `skill_not_found`.
            ConflictError: `idempotency_key_reused`; `runs_too_many`.
            ForbiddenError: `chat_disabled`, `provider_not_allowed`.
            UnauthenticatedError: `invalid_token`: its token was revoked meanwhile.
            UnavailableError: It cannot be kept, or driven, now.

        """
        request = replace(request, goal=readable(request.goal))
        run = self._new(principal, request, language)
        before = self._before(run, request)
        if before is not None:
            return before
        self._require_room(run)
        run, kept = self._begun(run, request)
        recorded(self._on, run, "run:start", "ok")
        told = {"model": run.model} | ({"schedule": run.schedule} if run.schedule else {})
        started = RunEvent(name="run_started", data=told, at=run.created_at)
        try:
            run = self._on.store.create(run, self._on.seals.loop(run, kept), [started])
        except ConflictError:
            # The same request was faster elsewhere.
            return self._before(run, request) or run
        self._driven(run, request)
        return run

    def _driven(self, run: Run, request: RunRequest) -> None:
        """Have a new run driven; one that nobody will ask for again is not kept otherwise.

        A request with a key finds its run when it is sent again, and has that driven.
        """
        try:
            self._on.engine.start(run)
        except UnavailableError as error:
            if not request.idempotency_key:
                self._on.store.delete(run)
            recorded(self._on, run, "run:start", error.code)
            raise

    def _before(self, run: Run, request: RunRequest) -> Run | None:
        """Return the run that a request with this key started; it is driven if it is not yet."""
        if not request.idempotency_key:
            return None
        try:
            found = self._on.store.get(run.tenant, run.id)
        except NotFoundError:
            return None
        if found.digest != run.digest:
            raise ConflictError("idempotency_key_reused")
        if not found.status.over:
            self._on.engine.start(found)
        return found

    def _require_room(self, run: Run) -> None:
        """Refuse one more than a user may have under way; of several at once a few may get by."""
        since = run.created_at - timedelta(days=OPEN_RUN_DAYS)
        count, after = 0, None
        while True:
            page, after = self._on.store.of_user(run.tenant, run.owner, limit=MAX_RUNS, after=after)
            count += sum(not each.status.over for each in page)
            if count >= MAX_OPEN_RUNS:
                raise ConflictError("runs_too_many", limit=MAX_OPEN_RUNS)
            if after is None or page[-1].updated_at < since:
                return

    def _new(self, principal: Principal, request: RunRequest, language: Language) -> Run:
        now = self._on.clock.now()
        return Run(
            id=_id_of(principal, request),
            principal=self._narrowed(principal, request.vaults),
            goal=request.goal,
            created_at=now,
            updated_at=now,
            caps=request.caps,
            language=language,
            answers_in=answer_language(request.goal, language),
            provider=request.provider,
            model=request.model,
            digest=request.digest,
            token=self._on.tokens.name_of(principal),
        )

    def _narrowed(self, principal: Principal, vaults: tuple[str, ...]) -> Principal:
        """Return the caller as far as the run may reach: in these vaults, where any are named."""
        if vaults:
            ids = frozenset(self._on.vaults.access(principal, each).vault.ref.id for each in vaults)
        elif principal.reach.vaults is not None:
            # What its token names and it does not reach was lost before, and is none of the run's.
            ids = reached(self._on, principal)
        else:
            return principal
        reach = TokenReach(read_only=principal.reach.read_only, vaults=ids)
        return replace(principal, reach=reach)

    def _begun(self, run: Run, request: RunRequest) -> tuple[Run, KeptLoop]:
        """Return the run with its model, and where its loop begins."""
        caller = run.principal
        chosen = self._on.models.select(caller, provider=run.provider, model=run.model)
        scope = scope_for(self._on.scopes.collect(caller, request.turn), chosen)
        prepared = Prepared(
            chosen=chosen,
            conversation=_conversation(run),
            scope=scope,
            kept=None,
            decisions={},
            answers_in=run.answers_in,
            skill=chosen_skill(
                request.turn,
                self._on.skills.own(caller),
                language=run.answers_in,
                routed=chosen.has_skills,
            ),
        )
        # Later steps ask the very model that the run began with.
        run = replace(run, provider=chosen.provider, model=chosen.name)
        toolbox = toolbox_of(self._on, run, chosen)
        rules = rules_for(run.created_at.date(), run.answers_in, prepared, toolbox)
        state = loop_start(request.turn, rules, prepared, toolbox).state
        return run, KeptLoop(state=state, so_far=SoFar(scope=scope))


def _conversation(run: Run) -> Conversation:
    """Return what a chat would be about the goal: its first message."""
    said = Message(number=1, author=Author.USER, text=run.goal, written_at=run.created_at)
    return Conversation(
        id=ConversationId(run.id),
        tenant=run.tenant,
        owner=run.owner,
        title="",
        created_at=run.created_at,
        updated_at=run.created_at,
        message_count=1,
        messages=(said,),
    )


def _id_of(principal: Principal, request: RunRequest) -> RunId:
    """Return a new id; of a request with a key always the same one, for the same user."""
    if not request.idempotency_key:
        return RunId(uuid.uuid4().hex)
    named = f"{principal.tenant}/{principal.user}/{request.idempotency_key}"
    if principal.kind is TokenKind.SCHEDULED:
        named = f"{principal.kind.value}\n{named}"  # what people name is none of a schedule's
    return RunId(hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:32])
