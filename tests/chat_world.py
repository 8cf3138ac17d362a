"""The chat over fakes: conversations, settings and models beside the documents of `World`."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from archivolt.adapters.json_schema.arguments import JsonSchemaArguments
from archivolt.adapters.models.table import ModelTable
from archivolt.agent.state import LoopLimits
from archivolt.chat.conversations import ConversationService
from archivolt.chat.current_places import CurrentPlaces
from archivolt.chat.editing import Editor
from archivolt.chat.images import ImageReader
from archivolt.chat.model_choices import ModelChoices
from archivolt.chat.outside import Outside
from archivolt.chat.providers import ModelSelector
from archivolt.chat.requests import TurnRequest
from archivolt.chat.running import RunningTurn
from archivolt.chat.scope import ScopeCollector
from archivolt.chat.skills import SkillService
from archivolt.chat.turns import SendMessage, TurnSupport
from archivolt.chat.waiting import WaitingTurns
from archivolt.domain.conversation import Conversation, ConversationId
from archivolt.domain.federation import McpServer, McpTransport, exposed
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.settings import TenantSettings
from archivolt.domain.stream import StreamEvent
from archivolt.federation.calls import McpCalls
from archivolt.governance.conversation_receipts import ConversationReceipts
from archivolt.governance.metered_models import MeteredModels
from archivolt.governance.metering import Meter
from archivolt.governance.usage import UsageReports
from archivolt.ports.chat_model import ChatModel
from archivolt.ports.conversations import ConversationStore
from archivolt.ports.ledger import Ledger
from archivolt.vaults.kept_texts import KeptTexts
from archivolt.vaults.moved_paths import MovedPaths
from tests.builders import ACME, ALICE, principal
from tests.fakes.conversations import InMemoryConversations
from tests.fakes.erasures import InMemoryErasures
from tests.fakes.federation import ScriptedServer
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.models import ScriptedModels
from tests.fakes.skills import InMemorySkills
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

PRICES: Final = {"m-1": {"input": "1", "output": "2"}}
"""What the model of the tests costs: a micro-dollar a token sent, two for one that comes."""


class ChatWorld(World):
    """`World` with somebody to talk to; with a `model`, Acme has a provider configured."""

    def __init__(
        self,
        model: ChatModel | None = None,
        limits: LoopLimits | None = None,
        conversations: ConversationStore | None = None,
        books: Ledger | None = None,
        *,
        rates: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(**(rates or {}))
        self.conversations = conversations or InMemoryConversations()
        self.settings = InMemoryTenantSettings()
        self.models = ScriptedModels(model)
        self.crashes: list[BaseException] = []
        self.ledger = InMemoryLedger()
        self.books = books or self.ledger
        self.usage_events = RecordedUsage()
        self.meter = Meter(lambda: self.books, lambda: self.usage_events, self.clock)
        if model is not None:
            configured = TenantSettings(
                chat_base_url="http://model.test/v1", chat_model="m-1", chat_model_prices=PRICES
            )
            self.settings.save(ACME, configured)
        self.kept_skills = InMemorySkills()
        self.skills = SkillService(lambda: self.kept_skills)
        self.asked_later: list[Callable[[], None]] = []
        self.runs_programs = True
        self._limits = limits or LoopLimits()
        self.send_message = self._send_message()
        waiting = WaitingTurns(ReversibleBox, self.clock)
        self.conversation_service = ConversationService(
            self.conversations,
            waiting,
            self.clock,
            ConversationReceipts(InMemoryErasures(), self.clock),
            current=self.places.in_conversation,
        )

    async def pause(self, seconds: float) -> None:
        """Wait between two looks whether a turn shall stop."""
        await asyncio.sleep(seconds)

    def use_model(self, name: str) -> None:
        """Have another model of the provider answer."""
        kept = self.settings.load(ACME)
        prices = {**kept.chat_model_prices, name: PRICES["m-1"]}
        self.settings.save(ACME, replace(kept, chat_model=name, chat_model_prices=prices))

    def allow_web_after_documents(self) -> None:
        """Let the model ask the web, whatever it has seen."""
        kept = self.settings.load(ACME)
        self.settings.save(ACME, replace(kept, web_after_documents=True))

    def restart(self, model: ChatModel) -> None:
        """Go on as another process over the same stores, with another model behind the provider."""
        self.models = ScriptedModels(model)
        self.pipeline = self.pipeline_of(self.tools())
        del self.outside
        self.send_message = self._send_message()

    @property
    def places(self) -> CurrentPlaces:
        """Where the documents of earlier answers are now."""
        moved = MovedPaths(self.catalogue, self.operations, self.store)
        return CurrentPlaces(self.vaults, moved)

    @cached_property
    def scopes(self) -> ScopeCollector:
        """The part of the vaults that a question is about."""
        kept = KeptTexts(self.catalogue, lambda: self.notes)
        return ScopeCollector(self.vaults, self.files, kept, self.clock)

    @cached_property
    def outside(self) -> Outside:
        """MCP servers of others; what is asked in the background is kept in `asked_later`."""
        calls = McpCalls(
            self.mcp_servers,
            self.mcp_accounts.access,
            lambda: self.mcp_client,
            self.clock,
            programs=self.runs_programs,
        )
        return Outside(calls, JsonSchemaArguments, self.asked_later.append)

    def use_server(
        self,
        server_id: str,
        server: ScriptedServer,
        *,
        known: bool = True,
        transport: McpTransport = McpTransport.STDIO,
    ) -> None:
        """Turn an MCP server on; unless it is `known`, nobody knows its tools."""
        self.mcp_client.servers[server_id] = server
        tools = exposed(server.tools, ()) if known else None
        kept = McpServer(
            id=server_id, title=server_id, enabled=True, transport=transport, tools=tools
        )
        self.mcp_servers.save(ACME, kept)

    @property
    def editor(self) -> Editor:
        """The editor's actions."""
        return Editor(self.selector, lambda: self.rate_limit, self.clock)

    @property
    def selector(self) -> ModelSelector:
        """Which model answers, as things are now."""
        metered = MeteredModels(self.models, self.meter)
        return ModelSelector(self.settings, ReversibleBox(), metered, ModelTable())

    @property
    def usage(self) -> UsageReports:
        """What was used."""
        return UsageReports(lambda: self.books, self.settings, self.meter, self.clock)

    def allow(self, **budgets: object) -> None:
        """Give Acme a budget, under the settings' names."""
        kept = self.settings.load(ACME)
        self.settings.save(ACME, replace(kept, **budgets))  # pyright: ignore[reportArgumentType]  by name

    @property
    def model_choices(self) -> ModelChoices:
        """What people choose a model from."""
        return ModelChoices(self.selector, ModelTable())

    def _send_message(self) -> SendMessage:
        return SendMessage(
            TurnSupport(
                conversations=self.conversations,
                models=self.selector,
                tools=self.pipeline.registry,
                pipeline=self.pipeline,
                scopes=self.scopes,
                skills=self.skills,
                images=ImageReader(self.vaults, self.files),
                waiting=WaitingTurns(ReversibleBox, self.clock),
                clock=self.clock,
                limits=self._limits,
                outside=self.outside,
                count=lambda who: self.count(who, "send_message"),
                pause=self.pause,
            ),
            self.crashes.append,
        )

    async def start(
        self,
        request: TurnRequest | str,
        by: Principal | None = None,
        language: Language = Language.EN,
    ) -> RunningTurn:
        """Start a turn as Alice, or as somebody else."""
        if isinstance(request, str):
            request = TurnRequest(text=request)
        return await self.send_message.start(by or principal(ALICE), request, language=language)

    async def turn(
        self,
        request: TurnRequest | str,
        by: Principal | None = None,
        language: Language = Language.EN,
    ) -> list[StreamEvent]:
        """Run a turn to its end and return its events."""
        return await events_of(await self.start(request, by, language))

    def only_conversation(self, by: Principal | None = None) -> Conversation:
        """Return the caller's one conversation, with its messages."""
        caller = by or principal(ALICE)
        [listed], _ = self.conversations.of_user(caller.tenant, caller.user, limit=9)
        return self.conversations.get(caller.tenant, ConversationId(listed.id))


async def events_of(turn: RunningTurn) -> list[StreamEvent]:
    """Return the events of a turn, to the last."""
    events: list[StreamEvent] = []
    while (event := await turn.next_event()) is not None:
        events.append(event)
    return events
