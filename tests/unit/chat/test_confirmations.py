"""Changes in the chat: shown, then made only if the person says so (decisions 26 and 28)."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import LoopState, WaitingCall
from archivolt.chat.requests import TurnRequest
from archivolt.chat.waiting import KeptTurn, WaitingTurns
from archivolt.domain.conversation import ConversationId
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, Role, TokenKind
from archivolt.domain.messages import Language
from archivolt.domain.packing import packed
from archivolt.domain.paths import VaultPath
from archivolt.domain.settings import TenantSettings
from archivolt.domain.stream import (
    ConfirmationRequired,
    ContentDelta,
    Failure,
    MessageEnd,
    StreamEvent,
    ToolUseResult,
)
from archivolt.domain.tool import Surface
from archivolt.domain.untrusted import unwrap_data
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.ports.chat_model import ModelImage, ModelMessage, ModelToolCall, ModelTurn
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_conversation, a_message, principal
from tests.chat_world import ChatWorld
from tests.fakes.governance import ReversibleBox
from tests.fakes.models import ScriptedModel, calling

OTHERS = [principal(BOB), principal(ALICE, tenant=GLOBEX), principal(BOB, role=Role.TENANT_ADMIN)]


class Talk:
    """One conversation of Alice with a scripted model over a vault named notes."""

    def __init__(self, *script: ModelTurn | Exception) -> None:
        self.model = ScriptedModel(*script)
        self.world = ChatWorld(self.model)
        self.notes: VaultRef = self.world.vault("notes")
        self.world.write(self.notes, "old.md", "old words")

    def say(
        self, text: str = "", *, by: Principal | None = None, **request: tuple[str, ...]
    ) -> list[StreamEvent]:
        kept, _ = self.world.conversations.of_user(principal(ALICE).tenant, ALICE, limit=2)
        conversation = ConversationId(kept[0].id) if kept else None
        turn = TurnRequest(text=text, conversation_id=conversation, **request)  # pyright: ignore[reportArgumentType]
        return asyncio.run(self.world.turn(turn, by))

    def read(self, path: str) -> str | None:
        try:
            return self.world.store.read(self.notes, VaultPath(path)).data.decode()
        except NotFoundError:
            return None


def creating(*names: str, text: str = "I write it.") -> ModelTurn:
    calls = tuple(
        ModelToolCall(
            id=f"call-{name}",
            name="create_file",
            arguments=f'{{"vault": "notes", "path": "{name}.md", "content": "about {name}"}}',
        )
        for name in names
    )
    return ModelTurn(text=text, tool_calls=calls, finish_reason="tool_calls")


def asked(events: list[StreamEvent]) -> list[ConfirmationRequired]:
    return [event for event in events if isinstance(event, ConfirmationRequired)]


def tokens(events: list[StreamEvent]) -> tuple[str, ...]:
    return tuple(event.confirmation_token for event in asked(events))


def said(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


def statuses(events: list[StreamEvent]) -> list[str]:
    return [event.status for event in events if isinstance(event, ToolUseResult)]


def test_a_change_is_shown_and_not_made() -> None:
    talk = Talk(creating("new"))

    events = talk.say("Write about new.")

    [confirmation] = asked(events)
    assert confirmation.tool_name == "create_file"
    assert "+about new" in confirmation.preview["diff"]
    assert confirmation.expires_at == talk.world.clock.now() + timedelta(days=1)
    assert isinstance(events[-1], MessageEnd)
    assert talk.read("new.md") is None
    assert len(talk.model.requests) == 1


def test_what_is_confirmed_is_made_and_the_model_goes_on() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Done."))
    events = talk.say("Write about new.")

    answer = talk.say(confirm=tokens(events))

    assert talk.read("new.md") == "about new"
    assert (statuses(answer), said(answer)) == (["success"], "Done.")
    [(source, value)] = unwrap_data(talk.model.requests[1].messages[-1].text)
    assert (source, value["path"]) == ("create_file", "new.md")
    question, announced, done = talk.world.only_conversation().messages
    assert [question.text, announced.text, done.text] == [
        "Write about new.",
        "I write it.",
        "Done.",
    ]
    assert [announced.tool_calls[0].status, done.tool_calls[0].status] == ["proposed", "success"]
    assert talk.world.only_conversation().waiting is None


def test_what_is_declined_is_never_made_and_the_model_is_told() -> None:
    talk = Talk(creating("new"), ModelTurn(text="As you wish."))
    events = talk.say("Write about new.")

    answer = talk.say(decline=tokens(events))

    assert talk.read("new.md") is None
    assert (statuses(answer), said(answer)) == (["declined"], "As you wish.")
    [(_, value)] = unwrap_data(talk.model.requests[1].messages[-1].text)
    assert value["status"] == "declined"
    with pytest.raises(ConflictError, match="confirmation_declined"):
        talk.world.pipeline.apply(
            principal(ALICE),
            "create_file",
            tokens(events)[0],
            surface=Surface.IN_APP,
            language=Language.EN,
        )


def test_of_several_each_is_decided_on_its_own_and_the_model_waits_for_the_last() -> None:
    talk = Talk(creating("a", "b", "c"), ModelTurn(text="Two of three."))
    first, second, third = tokens(talk.say("Write all."))

    still = talk.say(confirm=(second,))
    assert tokens(still) == (first, third)
    assert len(talk.model.requests) == 1
    answer = talk.say(confirm=(third,), decline=(first,))

    assert [talk.read(f"{name}.md") for name in "abc"] == [None, "about b", "about c"]
    assert statuses(answer) == ["declined", "success"]
    results = [m for m in talk.model.requests[1].messages if m.role == "tool"]
    assert {m.tool_call_id for m in results} == {"call-a", "call-b", "call-c"}


def test_reads_beside_a_change_run_at_once() -> None:
    read = calling("read_file", vault="notes", path="old.md").tool_calls
    both = ModelTurn(
        text="", tool_calls=(*read, *creating("new").tool_calls), finish_reason="tool_calls"
    )
    talk = Talk(both, ModelTurn(text="Both."))

    events = talk.say("Read, then write.")

    assert statuses(events) == ["success"]
    answer = talk.say(confirm=tokens(events))
    assert said(answer) == "Both."
    assert [m.role for m in talk.model.requests[1].messages[-2:]] == ["tool", "tool"]


def test_a_message_instead_of_an_answer_declines_what_waits_and_is_said() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Shorter then."), ModelTurn(text="Again."))
    token = tokens(talk.say("Write about new."))

    answer = talk.say("Shorter, please.")

    assert (talk.read("new.md"), statuses(answer)) == (None, ["declined"])
    assert talk.model.requests[1].messages[-1].text == "Shorter, please."
    assert talk.model.requests[1].messages[-2].role == "tool"
    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        talk.say(confirm=token)
    # The next turn begins with the conversation again.
    talk.say("And now?")
    said_before = [m.text for m in talk.model.requests[2].messages if m.role == "assistant"]
    assert said_before == [
        "I write it.\n\n[create_file: proposed]",
        "Shorter then.\n\n[create_file: declined]",
    ]


def test_a_word_beside_the_decision_reaches_the_model() -> None:
    talk = Talk(creating("a", "b"), ModelTurn(text="Good."))
    first, _ = tokens(talk.say("Write both."))

    talk.say("Only the first.", confirm=(first,))

    assert [talk.read("a.md"), talk.read("b.md")] == ["about a", None]
    assert talk.model.requests[1].messages[-1].text == "Only the first."


def test_a_decision_is_taken_up_by_another_process() -> None:
    talk = Talk(creating("new"))
    token = tokens(talk.say("Write about new."))
    talk.world.restart(ScriptedModel(ModelTurn(text="Done.")))

    answer = talk.say(confirm=token)

    assert (said(answer), talk.read("new.md")) == ("Done.", "about new")


def test_what_was_confirmed_once_is_not_made_twice_where_the_model_then_failed() -> None:
    down = UnavailableError("provider_unavailable")
    talk = Talk(creating("new"), down, ModelTurn(text="Done."))
    token = tokens(talk.say("Write about new."))
    failed = talk.say(confirm=token)
    assert [event.code for event in failed if isinstance(event, Failure)] == [
        "provider_unavailable"
    ]
    made = talk.world.store.head(talk.notes, VaultPath("new.md"))
    talk.world.store.delete(talk.notes, made.path, expected=made.etag)

    answer = talk.say(confirm=token)

    assert (statuses(answer), said(answer)) == (["success"], "Done.")
    assert talk.read("new.md") is None


def test_a_file_that_changed_meanwhile_is_left_alone_and_the_model_is_told() -> None:
    talk = Talk(creating("new"), ModelTurn(text="It is there already."))
    token = tokens(talk.say("Write about new."))
    talk.world.write(talk.notes, "new.md", "somebody else's")

    answer = talk.say(confirm=token)

    assert (talk.read("new.md"), statuses(answer)) == ("somebody else's", ["error"])


def test_a_change_that_cannot_be_proposed_is_an_error_to_the_model() -> None:
    talk = Talk(creating("old"), ModelTurn(text="It exists."))

    events = talk.say("Write old.")

    assert (asked(events), statuses(events), said(events)[-10:]) == ([], ["error"], "It exists.")


def test_what_has_expired_is_not_made_and_the_conversation_goes_on() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Hello again."))
    token = tokens(talk.say("Write about new."))
    talk.world.clock.advance(days=1)

    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        talk.say(confirm=token)
    answer = talk.say("Still there?")

    assert (talk.read("new.md"), said(answer)) == (None, "Hello again.")


@pytest.mark.parametrize("other", OTHERS)
def test_nobody_else_decides(other: Principal) -> None:
    talk = Talk(creating("new"))
    token = tokens(talk.say("Write about new."))
    if other.tenant == principal(ALICE).tenant:
        talk.world.share(talk.notes, other, VaultRole.OWNER)

    with pytest.raises(NotFoundError, match="conversation_not_found"):
        talk.say(by=other, confirm=token)

    assert talk.read("new.md") is None


@pytest.mark.parametrize("token", ["", "x", "ü", "\ud800", "a" * 2_000])
def test_a_token_of_nothing_that_waits_here_is_a_conflict(token: str) -> None:
    talk = Talk(creating("new"))
    talk.say("Write about new.")

    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        talk.say(confirm=(token,))

    assert talk.read("new.md") is None


def test_a_token_of_another_conversation_decides_nothing() -> None:
    talk = Talk(creating("new"))
    token = tokens(talk.say("Write about new."))
    events = asyncio.run(talk.world.turn("Something else."))
    assert asked(events)
    kept, _ = talk.world.conversations.of_user(principal(ALICE).tenant, ALICE, limit=5)
    newest = next(each for each in kept if each.title == "Something else.")

    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        asyncio.run(
            talk.world.turn(
                TurnRequest(text="", conversation_id=ConversationId(newest.id), confirm=token)
            )
        )


def test_confirmed_and_declined_at_once_is_refused() -> None:
    talk = Talk(creating("new"))
    token = tokens(talk.say("Write about new."))

    with pytest.raises(InvalidRequestError):
        talk.say(confirm=token, decline=token)

    assert talk.read("new.md") is None


def test_two_decisions_at_once_are_one_turn_and_one_conflict() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Done."))
    token = tokens(talk.say("Write about new."))
    conversation = ConversationId(talk.world.only_conversation().id)
    request = TurnRequest(text="", conversation_id=conversation, confirm=token)

    async def both() -> list[list[StreamEvent] | BaseException]:
        return await asyncio.gather(
            *(talk.world.turn(request) for _ in range(2)), return_exceptions=True
        )

    outcomes = asyncio.run(both())

    refused = [each for each in outcomes if isinstance(each, ArchivoltError)]
    assert [error.code for error in refused] == ["conversation_busy"]
    assert talk.read("new.md") == "about new"


def test_a_program_cannot_say_yes_for_a_person_where_a_persons_yes_is_needed() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Refused."))
    talk.world.tenant_settings.save(ACME, TenantSettings(human_confirmation=True))
    program = principal(ALICE, kind=TokenKind.PERSONAL)
    token = tokens(talk.say("Write about new.", by=program))

    answer = talk.say(by=program, confirm=token)

    assert (talk.read("new.md"), statuses(answer)) == (None, ["error"])


def test_who_may_no_longer_write_in_a_vault_makes_no_change_there() -> None:
    call = ModelToolCall(
        id="c", name="create_file", arguments='{"vault": "team", "path": "n.md", "content": "x"}'
    )
    proposed = ModelTurn(text="", tool_calls=(call,), finish_reason="tool_calls")
    talk = Talk(proposed, ModelTurn(text="I may not."))
    team = talk.world.vault("team", owner=principal(BOB))
    talk.world.share(team, principal(ALICE), VaultRole.WRITER)
    token = tokens(talk.say("Write."))
    talk.world.share(team, principal(ALICE), VaultRole.READER)

    answer = talk.say(confirm=token)

    assert (statuses(answer), said(answer)) == (["error"], "I may not.")
    with pytest.raises(NotFoundError):
        talk.world.store.read(team, VaultPath("n.md"))


def test_what_waits_is_for_its_owner_alone() -> None:
    talk = Talk(creating("new"))
    events = talk.say("Write about new.")
    kept = talk.world.only_conversation()
    service = talk.world.conversation_service

    assert service.confirmations(principal(ALICE), kept) == tuple(asked(events))
    assert service.confirmations(principal(BOB, role=Role.TENANT_ADMIN), kept) == ()
    talk.world.clock.advance(days=1)
    assert service.confirmations(principal(ALICE), kept) == ()


def test_the_language_of_the_question_stays_when_the_turn_goes_on() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Fait."))
    token = tokens(talk.say("Écris une note sur ce sujet, s'il te plaît."))

    answer = talk.say(decline=token)

    [result] = [event for event in answer if isinstance(event, ToolUseResult)]
    assert result.summary.endswith("refusé")
    assert talk.model.requests[1].language == Language.FR.value


def test_a_turn_waits_without_the_images_that_the_model_has_seen() -> None:
    image = ModelImage(media_type="image/png", data="i" * 5_000_000)
    shown = ModelMessage(role="user", text="What?", images=(image,))
    world = ChatWorld()
    waits = WaitingCall(
        call=ToolCall(id="c", name="create_file", arguments={}),
        token="t",
        expires_at=world.clock.now() + timedelta(hours=1),
        preview={},
    )
    turn = KeptTurn(
        state=LoopState(messages=(shown,), tools=frozenset(), waiting=(waits,)),
        provider="p",
        model="m",
        language=Language.EN,
        passages=(),
    )
    turns, conversation = WaitingTurns(ReversibleBox, world.clock), a_conversation()

    opened = turns.of(replace(conversation, waiting=turns.seal(conversation, turn)))

    assert opened is not None
    assert opened.state.messages == (replace(shown, images=()),)
    assert opened.state.waiting == (waits,)


def test_several_declined_at_once_do_not_take_the_tools_away() -> None:
    talk = Talk(creating("a", "b", "c", "d"), ModelTurn(text="As you wish."))
    proposed = tokens(talk.say("Write all."))

    talk.say(decline=proposed)

    assert not talk.model.requests[1].answer_only


@pytest.mark.parametrize("agreed", [True, False])
def test_a_decision_that_the_rate_limit_stops_can_be_made_again(agreed: bool) -> None:
    talk = Talk(creating("new"), ModelTurn(text="Done."))
    token = tokens(talk.say("Write about new."))
    confirm, decline = (token, ()) if agreed else ((), token)
    world = talk.world
    with suppress(RateLimitedError):
        while True:
            world.rate_limit.count(principal(ALICE), "create_file", world.clock.now())

    stopped = talk.say(confirm=confirm, decline=decline)
    world.clock.advance(seconds=60)
    answer = talk.say(confirm=confirm, decline=decline)

    assert [event.code for event in stopped if isinstance(event, Failure)] == ["rate_limited"]
    assert (talk.read("new.md") == "about new") is agreed
    assert statuses(answer) == ["success" if agreed else "declined"]


def test_a_turn_that_another_version_kept_is_taken_for_gone() -> None:
    talk = Talk(creating("new"), ModelTurn(text="Hello again."))
    token = tokens(talk.say("Write about new."))
    conversation = talk.world.only_conversation()
    sealed = ReversibleBox().seal(
        packed('{"state": "{}"}'), tenant=ACME, field=f"waiting_turn:{conversation.id}"
    )
    assert conversation.waiting is not None
    talk.world.conversations.append(
        conversation,
        [a_message(3)],
        waiting=replace(conversation.waiting, sealed=sealed),
    )

    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        talk.say(confirm=token)
    assert said(talk.say("Still there?")) == "Hello again."
