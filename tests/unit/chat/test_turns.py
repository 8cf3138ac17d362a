"""A turn from the message to what is stored of it (S24, S25, S33)."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from archivolt.agent.state import LoopLimits
from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.conversation import Author, Conversation, ConversationId
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, Role, TenantId
from archivolt.domain.messages import Language
from archivolt.domain.settings import TenantSettings
from archivolt.domain.stream import (
    Citations,
    ContentDelta,
    Failure,
    MessageEnd,
    MessageStart,
    Notice,
    StreamEvent,
    ToolUseResult,
    ToolUseStart,
)
from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    TextDelta,
)
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_message, principal
from tests.chat_world import ChatWorld, events_of
from tests.fakes.conversations import InMemoryConversations
from tests.fakes.models import ScriptedModel, Wait, calling, counted

ResultT = TypeVar("ResultT")


def run(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    return asyncio.run(coroutine)


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


def names(events: list[StreamEvent]) -> list[str]:
    """The events' names, runs of text counted once."""
    kept: list[str] = []
    for event in events:
        if not (kept and kept[-1] == event.event == "content_delta"):
            kept.append(event.event)
    return kept


def only(events: list[StreamEvent], kind: type[Any]) -> Any:  # noqa: ANN401
    [event] = [event for event in events if isinstance(event, kind)]
    return event


def documented(model: ScriptedModel | None = None) -> ChatWorld:
    world = ChatWorld(model)
    notes = world.vault("notes")
    world.write(notes, "key.md", "The spare key is under the blue mat.", page=2)
    world.write(notes, "cake.md", "Bake the cake for an hour.")
    return world


def test_the_embedded_provider_finds_quotes_and_cites_a_note() -> None:
    events = run(documented().turn("Where is the spare key?"))

    assert names(events) == [
        "message_start",
        "tool_use_start",
        "tool_use_result",
        "notice",
        "content_delta",
        "citations",
        "message_end",
    ]
    assert "under the blue mat" in text_of(events)
    [cited] = only(events, Citations).items
    assert (cited.uri, cited.vault, cited.path, cited.page) == (
        "vault://notes/key.md",
        "notes",
        "key.md",
        2,
    )
    assert "blue mat" in cited.excerpt
    assert events[-1] == MessageEnd(input_tokens=0, output_tokens=0, tool_calls=1)


def test_the_question_is_answered_in_its_language_whatever_the_browser_speaks() -> None:
    events = run(documented().turn("Où est la clé de la maison ?", language=Language.EN))

    assert "Je ne suis pas un modèle de langage" in text_of(events)


def test_a_model_that_calls_a_tool_gets_its_result_and_answers() -> None:
    model = ScriptedModel(
        counted(calling("search_documents", text="I look.", q="spare key"), 3, 1),
        ModelTurn(text="Under [the mat](vault://notes/key.md).", input_tokens=5, output_tokens=2),
    )
    world = documented(model)

    events = run(world.turn("Where is the key?"))

    assert isinstance(events[0], MessageStart)
    assert events[0].model == "m-1"
    assert text_of(events) == "I look.\n\nUnder [the mat](vault://notes/key.md)."
    start, result = only(events, ToolUseStart), only(events, ToolUseResult)
    assert start.tool_name == "search_documents"
    assert (result.tool_id, result.status) == (start.tool_id, "success")
    assert result.summary.startswith("Search in the documents: spare key — ")
    assert [c.path for c in only(events, Citations).items] == ["key.md"]
    assert events[-1] == MessageEnd(input_tokens=8, output_tokens=3, tool_calls=1)
    [(source, value)] = unwrap_data(model.requests[1].messages[-1].text)
    assert source == "search_documents"
    assert "blue mat" in value["hits"][0]["excerpt"]


def test_what_is_stored_is_what_may_be_stored() -> None:
    model = ScriptedModel(
        counted(calling("read_file", vault="notes", path="key.md"), 3, 1),
        ModelTurn(text="Under the mat.", input_tokens=5, output_tokens=2),
    )
    world = documented(model)

    run(world.turn("Where is the key?"))

    kept = world.only_conversation()
    question, answer = kept.messages
    assert (question.number, question.author, question.text) == (
        1,
        Author.USER,
        "Where is the key?",
    )
    assert (answer.number, answer.author, answer.text) == (2, Author.ASSISTANT, "Under the mat.")
    assert (answer.input_tokens, answer.output_tokens) == (8, 3)
    [call] = answer.tool_calls
    assert (call.tool_name, call.status) == ("read_file", "success")
    assert call.arguments == {"vault": "notes", "path": "key.md"}
    assert call.size > 0
    [citation] = answer.citations
    assert citation.uri == "vault://notes/key.md"
    assert "blue mat" not in repr(kept)
    assert kept.busy_until is None


def test_a_conversation_gets_its_title_from_the_first_message_and_goes_on() -> None:
    model = ScriptedModel(ModelTurn(text="One."), ModelTurn(text="Two."))
    world = documented(model)

    async def talk() -> None:
        first = await world.start("First   question\nof many")
        await events_of(first)
        again = TurnRequest(text="Second", conversation_id=first.plan.conversation.id)
        await world.turn(again)

    run(talk())

    kept = world.only_conversation()
    assert kept.title == "First question of many"
    assert [message.text for message in kept.messages] == [
        "First   question\nof many",
        "One.",
        "Second",
        "Two.",
    ]
    assert [(m.role, m.text) for m in model.requests[1].messages[1:]] == [
        ("user", "First   question\nof many"),
        ("assistant", "One."),
        ("user", "Second"),
    ]


@pytest.mark.parametrize(
    "stranger",
    [principal(BOB), principal(ALICE, tenant=GLOBEX), principal(BOB, role=Role.CPI_ADMIN)],
)
def test_nobody_else_talks_in_a_conversation(stranger: Any) -> None:  # noqa: ANN401
    world = documented()
    run(world.turn("Hello"))
    mine = world.only_conversation()

    with pytest.raises(NotFoundError, match="conversation_not_found"):
        run(world.turn(TurnRequest(text="Hi", conversation_id=mine.id), by=stranger))
    assert world.only_conversation() == mine


def test_another_tenant_finds_nothing_of_ours() -> None:
    world = documented()

    events = run(world.turn("Where is the spare key?", by=principal(ALICE, tenant=GLOBEX)))

    assert "blue mat" not in repr(events)
    assert not any(isinstance(event, Citations) for event in events)


@pytest.mark.parametrize(
    "asked",
    [
        TurnRequest(text=" "),
        TurnRequest(text="Hello", provider="none-such"),
        TurnRequest(text="Hello", conversation_id=ConversationId("none-such")),
    ],
)
def test_whoever_may_not_come_in_hears_that_before_anything_else(asked: TurnRequest) -> None:
    late = threading.Event()

    class Suspended(ChatWorld):
        def count(self, principal: Principal, operation: str) -> None:
            late.wait(0.05)  # the others are over by then
            raise ForbiddenError("user_suspended")

    with pytest.raises(ForbiddenError, match="user_suspended"):
        run(Suspended(ScriptedModel(ModelTurn(text="Hello."))).start(asked))


def test_what_nobody_is_shown_parts_no_words() -> None:
    class Thinking(ScriptedModel):
        async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextDelta(text="", unseen=9)
            async for event in super().create_message(request):
                yield event
                if isinstance(event, TextDelta):
                    yield TextDelta(text="", unseen=9)

    world = ChatWorld(
        Thinking(
            calling("list_vaults", "I look."), calling("list_vaults"), ModelTurn(text="Found it.")
        )
    )

    events = run(world.turn("Where?"))

    assert text_of(events) == "I look.\n\nFound it."
    assert world.only_conversation().messages[-1].text == "I look.\n\nFound it."


def test_a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on() -> None:
    model = ScriptedModel(
        calling("read_file", vault="secret", path="a.md"), ModelTurn(text="I cannot read it.")
    )

    events = run(documented(model).turn("Read it"))

    result = only(events, ToolUseResult)
    assert result.status == "error"
    assert "no vault secret" in result.summary
    [(_, told)] = unwrap_data(model.requests[1].messages[-1].text)
    assert told["error"]["code"] == "vault_not_found"
    assert text_of(events) == "I cannot read it."


def test_calls_of_one_turn_run_and_come_back_in_their_order() -> None:
    calls = tuple(
        ModelToolCall(
            id=f"c{n}", name="read_file", arguments=f'{{"vault":"notes","path":"{path}"}}'
        )
        for n, path in enumerate(["cake.md", "gone.md", "key.md"])
    )
    model = ScriptedModel(ModelTurn(text="", tool_calls=calls), ModelTurn(text="Done."))
    world = documented(model)

    events = run(world.turn("Read all"))

    told = [m for m in model.requests[1].messages if m.role == "tool"]
    assert [m.tool_call_id for m in told] == ["c0", "c1", "c2"]
    kept = world.only_conversation().messages[-1].tool_calls
    assert [(call.tool_id, call.status) for call in kept] == [
        ("c0", "success"),
        ("c1", "error"),
        ("c2", "success"),
    ]
    assert isinstance(events[-1], MessageEnd)
    assert events[-1].tool_calls == 3


def test_a_failing_model_ends_the_turn_with_an_error_and_stores_no_answer() -> None:
    failure = UnavailableError("provider_unavailable", provider="acme-ai", reason="HTTP 500")
    model = ScriptedModel(failure, ModelTurn(text="Better."))
    world = documented(model)

    async def talk() -> tuple[list[StreamEvent], list[StreamEvent]]:
        turn = await world.start("Hello", language=Language.FR)
        failed = await events_of(turn)
        kept = world.only_conversation()
        assert [message.author for message in kept.messages] == [Author.USER]
        assert kept.busy_until is None
        again = TurnRequest(text="Hello", conversation_id=turn.plan.conversation.id)
        return failed, await world.turn(again)

    failed, retried = run(talk())

    assert names(failed) == ["message_start", "content_delta", "error", "message_end"]
    assert only(failed, Failure).code == "provider_unavailable"
    assert "ne répond pas" in only(failed, Failure).message
    assert text_of(retried) == "Better."
    # The question that had no answer counts once.
    assert [m.text for m in model.requests[1].messages[1:]] == ["Hello"]


def test_a_crash_ends_the_turn_with_an_error_and_is_reported() -> None:
    world = documented(ScriptedModel(RuntimeError("secret detail")))

    events = run(world.turn("Hello"))

    assert only(events, Failure).code == "internal"
    assert "secret detail" not in repr(events)
    assert isinstance(world.crashes[0], RuntimeError)
    assert world.only_conversation().busy_until is None


def test_a_model_that_ends_without_a_word_is_asked_once_more() -> None:
    world = documented(ScriptedModel(ModelTurn(text=""), ModelTurn(text="Here I am.")))

    events = run(world.turn("Hello"))

    assert text_of(events) == "Here I am."
    assert [each.text for each in world.only_conversation().messages] == ["Hello", "Here I am."]


def test_an_empty_answer_is_an_error_and_not_stored() -> None:
    world = documented(ScriptedModel(ModelTurn(text="")))

    events = run(world.turn("Hello"))

    assert only(events, Failure).code == "answer_empty"
    assert len(world.only_conversation().messages) == 1


@pytest.mark.parametrize(
    ("model", "limits", "code"),
    [
        (
            ScriptedModel(ModelTurn(text="cut o", finish_reason="length")),
            LoopLimits(),
            "answer_cut",
        ),
        (
            ScriptedModel(calling("list_vaults", text="Again.")),
            LoopLimits(steps=3),
            "loop_too_many_steps",
        ),
        (
            ScriptedModel(calling("list_vaults", text="Again.")),
            LoopLimits(tool_calls=1),
            "loop_too_many_calls",
        ),
        (ScriptedModel(calling("list_vaults", text="A.")), LoopLimits(), "loop_repeated_call"),
        (ScriptedModel(calling("rm_rf", text="A.")), LoopLimits(), "loop_unusable_calls"),
    ],
)
def test_a_brake_stops_the_turn_with_its_reason_and_keeps_what_was_said(
    model: ScriptedModel, limits: LoopLimits, code: str
) -> None:
    world = ChatWorld(model, limits)

    events = run(world.turn("Go"))

    notice = only(events, Notice)
    assert notice.code == code
    assert "?" not in notice.message
    assert world.only_conversation().messages[-1].text == text_of(events)
    assert isinstance(events[-1], MessageEnd)
    assert events[-1].tool_calls <= limits.tool_calls


def test_a_model_that_never_ends_is_stopped_by_the_clock() -> None:
    world = ChatWorld(ScriptedModel(Wait(says="and on")), LoopLimits(seconds=0.05))

    events = run(world.turn("Go"))

    assert only(events, Notice).code == "loop_too_long"
    assert text_of(events) == "and on"


def test_the_wall_clock_counts_between_steps_too() -> None:
    model = ScriptedModel(calling("list_vaults"), ModelTurn(text="never"))
    world = ChatWorld(model)
    list_vaults = world.vaults.summaries

    def slowly(caller: Any) -> Any:  # noqa: ANN401
        world.clock.advance(seconds=1000)
        return list_vaults(caller)

    world.vaults.summaries = slowly  # pyright: ignore[reportAttributeAccessIssue]

    assert only(run(world.turn("Go")), Failure).code == "loop_too_long"


def test_a_listener_that_goes_away_finds_the_answer_in_the_conversation() -> None:
    wait = Wait(says="The whole answer.")
    world = ChatWorld(ScriptedModel(wait))

    async def leave_early() -> None:
        turn = await world.start("Hello")
        assert isinstance(await turn.next_event(), MessageStart)
        wait.go_on.set()
        await turn.wait()

    run(leave_early())

    assert [m.text for m in world.only_conversation().messages] == ["Hello", "The whole answer."]


def test_a_second_turn_in_a_busy_conversation_is_a_conflict() -> None:
    wait = Wait()
    world = ChatWorld(ScriptedModel(wait, ModelTurn(text="Free again.")))

    async def talk() -> str:
        turn = await world.start("One")
        await wait.started.wait()
        second = TurnRequest(text="Two", conversation_id=turn.plan.conversation.id)
        with pytest.raises(ConflictError, match="conversation_busy"):
            await world.start(second)
        wait.go_on.set()
        await turn.wait()
        return text_of(await world.turn(second))

    assert run(talk()) == "Free again."
    assert [m.text for m in world.only_conversation().messages] == [
        "One",
        "…",
        "Two",
        "Free again.",
    ]


class OvertakenConversations(InMemoryConversations):
    """Conversations where, once, another turn is quicker."""

    overtake = False

    def get(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        found = super().get(tenant, conversation_id)
        if self.overtake:
            self.overtake = False
            self.append(found, [a_message(found.message_count + 1, "Quicker")])
        return found


def test_of_two_turns_at_the_same_moment_one_is_answered() -> None:
    conversations = OvertakenConversations()
    world = ChatWorld(ScriptedModel(ModelTurn(text="Yes.")), conversations=conversations)
    run(world.turn("One"))
    second = TurnRequest(text="Two", conversation_id=world.only_conversation().id)

    conversations.overtake = True
    with pytest.raises(ConflictError, match="conversation_busy"):
        run(world.turn(second))

    assert [m.text for m in world.only_conversation().messages] == ["One", "Yes.", "Quicker"]


def test_a_turn_that_died_holds_its_conversation_no_longer_than_a_turn_may_take() -> None:
    world = ChatWorld(ScriptedModel(ModelTurn(text="Alive.")))

    async def talk() -> str:
        turn = await world.start("One")
        await turn.wait()
        kept = world.only_conversation()
        dead = world.clock.now().replace(hour=9)
        world.conversations.append(kept, [], busy_until=dead)
        again = TurnRequest(text="Two", conversation_id=kept.id)
        with pytest.raises(ConflictError, match="conversation_busy"):
            await world.start(again)
        world.clock.advance(hours=1)
        return text_of(await world.turn(again))

    assert run(talk()) == "Alive."


def test_a_cancelled_turn_says_so_and_gives_its_conversation_back() -> None:
    wait = Wait()
    world = ChatWorld(ScriptedModel(wait))

    async def shut_down() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        await world.send_message.drain(0.01)
        return await events_of(turn)

    events = run(shut_down())

    assert names(events) == ["message_start", "content_delta", "error", "message_end"]
    assert only(events, Failure).code == "turn_interrupted"
    kept = world.only_conversation()
    assert (len(kept.messages), kept.busy_until) == (1, None)


def test_shutting_down_lets_a_turn_end_that_can() -> None:
    wait = Wait(says="Done.")
    world = ChatWorld(ScriptedModel(wait))

    async def shut_down() -> None:
        await world.start("Hello")
        await wait.started.wait()
        wait.go_on.set()
        await world.send_message.drain(5)
        await world.send_message.drain(5)

    run(shut_down())

    assert world.only_conversation().messages[-1].text == "Done."


def test_a_conversation_deleted_meanwhile_stays_deleted() -> None:
    wait = Wait()
    world = ChatWorld(ScriptedModel(wait))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        world.conversations.delete(turn.plan.conversation)
        wait.go_on.set()
        return await events_of(turn)

    assert only(run(talk()), Failure).code == "conversation_not_found"
    assert world.conversations.of_user(ACME, ALICE, limit=9) == ([], None)


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 100_001])
def test_a_message_without_words_or_without_end_is_refused(text: str) -> None:
    world = ChatWorld()

    with pytest.raises(InvalidRequestError, match="invalid_request"):
        run(world.turn(text))
    assert world.conversations.of_user(ACME, ALICE, limit=9) == ([], None)


def test_half_a_character_in_a_message_is_replaced() -> None:
    world = ChatWorld()
    run(world.turn("a\ud83d b"))

    assert world.only_conversation().messages[0].text == "a\ufffd b"


def test_images_are_refused_by_a_model_that_does_not_see() -> None:
    with pytest.raises(InvalidRequestError, match="vision_unsupported"):
        run(ChatWorld().turn(TurnRequest(text="What is this?", images=("data:,",))))


def test_a_tenant_that_turned_the_chat_off_is_told_so() -> None:
    world = ChatWorld()
    world.settings.save(ACME, replace(TenantSettings(), chat_enabled=False))

    with pytest.raises(ForbiddenError, match="chat_disabled"):
        run(world.turn("Hello"))


def test_without_tools_the_model_is_offered_none() -> None:
    model = ScriptedModel(ModelTurn(text="Hi."))

    run(documented(model).turn(TurnRequest(text="Hello", use_tools=False)))

    assert model.requests[0].tools == []


def test_the_model_is_offered_the_tools_of_the_chat_with_their_schemas() -> None:
    model = ScriptedModel(ModelTurn(text="Hi."))
    run(documented(model).turn("Hello"))

    functions = [tool["function"] for tool in model.requests[0].tools]
    assert {"search_documents", "read_file", "list_vaults"} <= {f["name"] for f in functions}
    assert all(f["description"] and f["parameters"]["type"] == "object" for f in functions)


def scoped(*places: Place, kind: ContextKind = ContextKind.DOCUMENTS) -> TurnRequest:
    return TurnRequest(text="What does it say?", context=kind, places=places)


def file(path: str, vault: str = "notes") -> Place:
    return Place(kind=PlaceKind.FILE, vault=vault, path=path)


def directory(path: str, vault: str = "notes") -> Place:
    return Place(kind=PlaceKind.DIRECTORY, vault=vault, path=path)


def test_a_document_in_context_is_shown_to_the_model_as_data_and_can_be_cited() -> None:
    model = ScriptedModel(ModelTurn(text="It is under the mat (key.md)."))

    events = run(documented(model).turn(scoped(file("key.md"))))

    system = model.requests[0].messages[0]
    assert system.role == "system"
    [(source, scope)] = unwrap_data(system.text)
    assert source == "scope"
    assert scope["places"] == [{"vault": "notes", "path": "key.md", "kind": "file"}]
    assert "blue mat" in scope["documents"][0]["content"]
    assert [c.uri for c in only(events, Citations).items] == ["vault://notes/key.md"]


def test_of_a_directory_the_names_are_shown() -> None:
    model = ScriptedModel(ModelTurn(text="Two notes."))

    run(documented(model).turn(scoped(directory(""), kind=ContextKind.DIRECTORY)))

    [(_, scope)] = unwrap_data(model.requests[0].messages[0].text)
    assert scope["files"] == ["vault://notes/cake.md", "vault://notes/key.md"]


def test_the_texts_in_a_directory_are_read_and_cited_where_they_are_named() -> None:
    model = ScriptedModel(ModelTurn(text="Under the mat (a/key.md)."), ModelTurn(text="No."))
    world = documented(model)
    notes = world.vault("mixed")
    world.write(notes, "a/key.md", "Under the blue mat.")
    world.write(notes, "a/b/more", "No ending, still text.")
    world.write(notes, "a/photo.png", b"\x89PNG")
    world.write(notes, "a/scan.pdf", b"%PDF")
    world.write(notes, "a/odd.txt", b"\x00\x01\x02")
    world.write(notes, "z.md", "Elsewhere.")
    request = scoped(directory("a", vault="mixed"), kind=ContextKind.DIRECTORY)

    named, unnamed = run(world.turn(request)), run(world.turn(request))

    [(_, scope)] = unwrap_data(model.requests[0].messages[0].text)
    read = {d["path"]: d.get("content") or d["unread"] for d in scope["documents"]}
    assert read == {
        "a/b/more": "No ending, still text.",
        "a/key.md": "Under the blue mat.",
        "a/odd.txt": "file_not_text",
        "a/scan.pdf": "file_not_text",
    }
    assert len(scope["files"]) == 5
    assert [c.path for c in only(named, Citations).items] == ["a/key.md"]
    assert not [event for event in unnamed if isinstance(event, Citations)]


def test_secrets_of_a_document_in_context_are_hidden() -> None:
    model = ScriptedModel(ModelTurn(text="Hm."))
    world = documented(model)
    world.write(world.vault("private"), "a.md", "password: " + "correct-horse-battery-1")

    run(world.turn(scoped(file("a.md", vault="private"))))

    assert "correct-horse" not in model.requests[0].messages[0].text


def test_a_document_in_context_is_cut_at_its_limit_and_so_are_all_together() -> None:
    model = ScriptedModel(ModelTurn(text="Long."))
    world = documented(model)
    long = world.vault("long")
    for number in range(9):
        world.write(long, f"{number}.md", "word " * 10_000)

    run(world.turn(scoped(*(file(f"{n}.md", vault="long") for n in range(9)))))

    [(_, scope)] = unwrap_data(model.requests[0].messages[0].text)
    lengths = [len(document.get("content", "")) for document in scope["documents"]]
    assert lengths[:2] == [30_000, 30_000]
    assert sum(lengths) == 200_000
    assert scope["documents"][0]["is_whole"] is False
    assert scope["documents"][8]["unread"] == "no_room"


def test_a_document_that_is_no_text_is_named_without_content() -> None:
    model = ScriptedModel(ModelTurn(text="A picture."))
    world = documented(model)
    world.write(world.vault("images"), "a.png", b"\x89PNG\x00\x01")

    run(world.turn(scoped(file("a.png", vault="images"))))

    [(_, scope)] = unwrap_data(model.requests[0].messages[0].text)
    assert scope["documents"][0]["unread"] == "file_not_text"


def test_the_embedded_provider_searches_within_the_context() -> None:
    world = documented()
    world.write(world.vault("other"), "key.md", "The spare key of the other house is lost.")
    request = TurnRequest(
        text="Where is the spare key?",
        context=ContextKind.DIRECTORY,
        places=(directory("", vault="other"),),
    )

    events = run(world.turn(request))

    assert {c.vault for c in only(events, Citations).items} == {"other"}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (scoped(file("key.md", vault="secret")), "vault_not_found"),
        (scoped(file("gone.md")), "file_not_found"),
        (scoped(file("../key.md")), "invalid_path"),
        (scoped(directory("gone")), "directory_not_found"),
        (scoped(), "invalid_request"),
        (scoped(kind=ContextKind.DIRECTORY), "invalid_request"),
        (scoped(*[file("key.md")] * 201), "invalid_request"),
    ],
)
def test_a_context_that_is_not_there_is_refused_before_anything_is_stored(
    request_: TurnRequest, code: str
) -> None:
    world = documented()

    with pytest.raises(ArchivoltError, match=code):
        run(world.turn(request_))
    assert world.conversations.of_user(ACME, ALICE, limit=9) == ([], None)


def test_an_unknown_conversation_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="conversation_not_found"):
        run(ChatWorld().turn(TurnRequest(text="Hi", conversation_id=ConversationId("none"))))
