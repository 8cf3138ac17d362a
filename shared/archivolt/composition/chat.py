"""What answers messages: the models, the turns, and the routes in front of them."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.agent.state import LoopLimits
    from archivolt.bootstrap import Container
    from archivolt.chat.configured import Environment
    from archivolt.chat.current_places import CurrentPlaces
    from archivolt.chat.model_choices import ModelChoices
    from archivolt.chat.providers import ModelSelector
    from archivolt.chat.scope import ScopeCollector
    from archivolt.chat.skills import SkillService
    from archivolt.chat.taking_home import TakingHome
    from archivolt.chat.turns import SendMessage
    from archivolt.chat.waiting import WaitingTurns
    from archivolt.domain.errors import ForbiddenError
    from archivolt.domain.identity import Principal
    from archivolt.entrypoints.http.chat_services import AgentRuns, ChatServices
    from archivolt.ports.model_catalogue import ModelCatalogue


class ChatContainer:
    """Builds and keeps the collaborators of the chat."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def limits(self) -> "LoopLimits":
        """The brakes of a turn."""
        from archivolt.agent.state import LoopLimits

        return LoopLimits(tool_calls=self._on.settings.bookslm_max_tool_calls)

    @cached_property
    def catalogue(self) -> "ModelCatalogue":
        """What models can do, and what they cost."""
        from archivolt.adapters.models.table import ModelTable

        return ModelTable()

    @cached_property
    def models(self) -> "ModelSelector":
        """Which model answers."""
        from archivolt.adapters.chat_models import OutboundChatModels
        from archivolt.chat.providers import ModelSelector
        from archivolt.composition.metering import meter_of
        from archivolt.governance.metered_models import MeteredModels

        return ModelSelector(
            self._on.tenant_settings,
            self._on.secret_box,
            MeteredModels(
                OutboundChatModels(lambda: self._on.outbound_async_client, self.catalogue),
                meter_of(self._on),
            ),
            self.catalogue,
            environment=self._environment(),
        )

    @cached_property
    def model_choices(self) -> "ModelChoices":
        """What people choose a model from."""
        from archivolt.chat.model_choices import ModelChoices

        return ModelChoices(self.models, self.catalogue)

    @cached_property
    def scopes(self) -> "ScopeCollector":
        """The part of the vaults that a question is about."""
        from archivolt.chat.scope import ScopeCollector
        from archivolt.vaults.kept_texts import KeptTexts

        kept = KeptTexts(self._on.catalogue, lambda: self._on.index.note_index)
        return ScopeCollector(self._on.vaults, self._on.files, kept, self._on.clock)

    @cached_property
    def skills(self) -> "SkillService":
        """The methods a model is given."""
        from archivolt.adapters.dynamodb.skills import DynamoSkills
        from archivolt.chat.skills import SkillService

        return SkillService(lambda: DynamoSkills(self._on.table("control_table")))

    @cached_property
    def waiting(self) -> "WaitingTurns":
        """Turns that wait for a person."""
        from archivolt.chat.waiting import WaitingTurns

        return WaitingTurns(lambda: self._on.secret_box, self._on.clock)

    @cached_property
    def send_message(self) -> "SendMessage":
        """Turns."""
        from archivolt.chat.images import ImageReader
        from archivolt.chat.turns import SendMessage, TurnSupport
        from archivolt.entrypoints.http.middleware import log_unexpected

        support = TurnSupport(
            conversations=self._on.conversations,
            models=self.models,
            tools=self._on.tool_pipeline.registry,
            pipeline=self._on.tool_pipeline,
            scopes=self.scopes,
            skills=self.skills,
            images=ImageReader(self._on.vaults, self._on.files),
            waiting=self.waiting,
            clock=self._on.clock,
            limits=self.limits,
            outside=self._on.tools.federation.outside,
            count=self._let_in,
        )
        return SendMessage(support, lambda error: log_unexpected(error, request_id=""))

    @cached_property
    def places(self) -> "CurrentPlaces":
        """Where the documents of earlier answers are now."""
        from archivolt.chat.current_places import CurrentPlaces
        from archivolt.vaults.moved_paths import MovedPaths

        moved = MovedPaths(self._on.catalogue, self._on.operations, self._on.file_store)
        return CurrentPlaces(self._on.vaults, moved)

    @cached_property
    def services(self) -> "ChatServices":
        """What the chat function stands on."""
        from archivolt.chat.conversations import ConversationService
        from archivolt.chat.editing import Editor
        from archivolt.composition.identity import early_verifier
        from archivolt.composition.metering import usage_reports
        from archivolt.entrypoints.http.chat_services import ChatServices

        return ChatServices(
            enabled=self._on.settings.chat_enabled,
            token_verifier=self._on.token_verifier,
            early_verifier=early_verifier(self._on),
            send_message=self.send_message,
            scopes=self.scopes,
            skills=self.skills,
            editor=Editor(self.models, lambda: self._on.rate_limit, self._on.clock),
            conversations=ConversationService(
                self._on.conversations,
                self.waiting,
                self._on.clock,
                self._on.retention.conversation_receipts,
                current=self.places.in_conversation,
            ),
            model_choices=self.model_choices,
            usage=usage_reports(self._on),
            taking_home=self._taking_home,
            close=self._on.tools.federation.outside.close,
            count=self._count,
            note_refusal=self._note_refusal,
            allowed_origins=self._on.settings.allowed_origins,
            agent=self._agent,
        )

    def _agent(self) -> "AgentRuns":
        from archivolt.entrypoints.http.chat_services import AgentRuns, no_runs

        if not self._on.settings.agent_run_machine_arn:
            return no_runs()
        runs = self._on.runs
        fires = self._on.settings.agent_schedule_group
        return AgentRuns(
            runs=runs.service,
            decisions=runs.decisions,
            timetables=(lambda: runs.timetables) if fires else no_runs,
        )

    def _taking_home(self) -> "TakingHome":
        from archivolt.adapters.dynamodb.skills import DynamoSkills
        from archivolt.chat.taking_home import HeldOfPerson, TakingHome
        from archivolt.composition.identity import oauth_grants, personal_tokens

        return TakingHome(
            HeldOfPerson(
                conversations=self._on.conversations,
                runs=lambda: self._on.runs.store,
                schedules=lambda: self._on.runs.schedules,
                skills=lambda: DynamoSkills(self._on.table("control_table")),
                settings=self._on.user_settings,
                ledger=lambda: self._on.ledger,
                tokens=lambda: personal_tokens(self._on),
                grants=lambda: oauth_grants(self._on),
                accounts=lambda: self._on.tools.federation.account_store,
                vaults=self._on.vault_directory,
                files=self._on.file_store,
                clock=self._on.clock,
                places=self.places,
            )
        )

    def _note_refusal(
        self, principal: "Principal", operation: str, error: "ForbiddenError"
    ) -> None:
        from archivolt.domain.tool import Surface

        self._on.tools.by_hand.note_refusal(principal, operation, error, surface=Surface.IN_APP)

    def _let_in(self, principal: "Principal") -> None:
        """Let in whoever sends a message and count it, while what a turn needs is read."""
        self._on.admission.admit_while(principal, lambda: self._count(principal, "send_message"))

    def _count(self, principal: "Principal", operation: str) -> None:
        self._on.tools.by_hand.count_unrecorded(principal, operation)

    def _environment(self) -> "Environment":
        from archivolt.chat.configured import (
            Environment,
            environment_models,
            environment_providers,
        )

        settings = self._on.settings
        preferred = settings.ai_default_provider
        variables = {
            name: value
            for name, value in settings.model_dump().items()
            if name.endswith(("_api_key", "_base_url", "_model"))
        }
        return Environment(
            providers=environment_providers(variables, preferred=preferred),
            models=environment_models(
                variables, preferred=preferred, preferred_model=settings.ai_default_model
            ),
            tenant=settings.environment_tenant,
            preferred=preferred,
        )
