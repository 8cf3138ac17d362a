"""What a turn begins with: the rules, the method, the conversation so far, or where it waited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from archivolt.agent.prompts import system_prompt
from archivolt.agent.skills import instruction
from archivolt.agent.state import LoopState
from archivolt.agent.window import rules_of
from archivolt.chat.citations import SourceCollector
from archivolt.chat.history import model_history, with_images
from archivolt.chat.images import is_of_a_vault
from archivolt.chat.outside import OutsideTools
from archivolt.chat.progress import LoopStart
from archivolt.chat.providers import ChosenModel
from archivolt.chat.requests import TurnRequest
from archivolt.chat.running import RunningTurn
from archivolt.chat.toolbox import Toolbox
from archivolt.chat.waiting import KeptTurn
from archivolt.domain.conversation import Author, Conversation, Message
from archivolt.domain.messages import Language
from archivolt.domain.skill import Skill
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelImage, ModelMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a turn is made of.

    `kept` is the turn that waits in the conversation, `skill` the method to follow, if any;
    `outside` is what MCP servers of others offer, `answers` the person's to what these asked.
    """

    chosen: ChosenModel
    conversation: Conversation
    scope: JsonObject | None
    kept: KeptTurn | None
    decisions: Mapping[str, bool]
    answers_in: Language
    skill: Skill | None
    images: tuple[ModelImage, ...] = ()
    outside: OutsideTools = field(default_factory=OutsideTools)
    answers: Mapping[str, Mapping[str, JsonObject]] = field(
        default_factory=dict[str, Mapping[str, JsonObject]]
    )


def with_question(
    conversation: Conversation, request: TurnRequest, written_at: datetime
) -> Conversation:
    """Return the conversation with what the person says, if they say anything."""
    if not request.text:
        return conversation
    question = Message(
        number=conversation.message_count + 1,
        author=Author.USER,
        text=request.text,
        written_at=written_at,
    )
    return replace(
        conversation,
        message_count=question.number,
        messages=(*conversation.messages, question),
    )


def rules_for(
    today: date, language: Language, prepared: Prepared, toolbox: Toolbox
) -> list[ModelMessage]:
    """Return what the model is told before the conversation (L19)."""
    prompt = system_prompt(language, today, prepared.scope)
    skill = prepared.skill
    method = [instruction(skill, language, toolbox.names)] if skill else []
    return [ModelMessage(role="system", text=prompt), *method]


def loop_start(
    request: TurnRequest, rules: Sequence[ModelMessage], prepared: Prepared, toolbox: Toolbox
) -> LoopStart:
    """Return where the loop begins: with the conversation, or where it waited."""
    if prepared.kept is None:
        said = prepared.conversation.messages
        state = LoopState(
            messages=(*rules, *with_images(model_history(said), prepared.images)),
            tools=toolbox.names,
            private=bool(
                prepared.scope is not None
                or prepared.conversation.private
                or any(map(is_of_a_vault, request.images))
            ),
        )
        return LoopStart(state=state)
    state = prepared.kept.state
    if request.text:
        told = state.messages[len(rules_of(state.messages)) :]
        state = replace(state, messages=(*rules, *told))
    return LoopStart(
        state=state,
        decisions=prepared.decisions,
        says=request.text,
        images=prepared.images,
        answers=prepared.answers,
    )


def give_sources(turn: RunningTurn, prepared: Prepared) -> None:
    """Let an answer cite what the model was given beside the question."""
    collector = turn.progress.collector
    collector.restore(prepared.kept.passages if prepared.kept else ())
    add_scope(collector, prepared.scope)


def add_scope(collector: SourceCollector, scope: JsonObject | None) -> None:
    """Let an answer cite what a person pointed at; None: nothing."""
    scope = scope or {"places": [], "documents": []}
    named = [(place["vault"], place["path"]) for place in scope["places"]]
    for document in scope["documents"]:
        if (document["vault"], document["path"]) in named:
            collector.add(document)
        else:
            collector.add_at_hand(document)
