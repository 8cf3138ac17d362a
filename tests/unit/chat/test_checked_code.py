"""Code that a model proposes is checked first, and goes back to it once (L23)."""

import asyncio
import json

from archivolt.chat.requests import TurnRequest
from archivolt.domain.conversation import ConversationId
from archivolt.domain.paths import VaultPath
from archivolt.domain.stream import ConfirmationRequired, StreamEvent, ToolUseResult
from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import ModelToolCall, ModelTurn
from tests.builders import ALICE, principal
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel

GOOD = "def f():\n    return 1\n"
BROKEN = "def f(:\n    return 1\n"
STILL_BROKEN = "def f()\n    return 1\n"


def writing(content: str, path: str = "a.py", tool: str = "create_file") -> ModelTurn:
    arguments = {"vault": "notes", "path": path, "content": content}
    call = ModelToolCall(id="call", name=tool, arguments=json.dumps(arguments))
    return ModelTurn(text="", tool_calls=(call,), finish_reason="tool_calls")


class Talk:
    """One conversation of Alice with a scripted model over a vault named notes."""

    def __init__(self, *script: ModelTurn) -> None:
        self.model = ScriptedModel(*script)
        self.world = ChatWorld(self.model)
        self.notes = self.world.vault("notes")

    def say(self, text: str = "", *, confirm: tuple[str, ...] = ()) -> list[StreamEvent]:
        kept, _ = self.world.conversations.of_user(principal(ALICE).tenant, ALICE, limit=2)
        conversation = ConversationId(kept[0].id) if kept else None
        turn = TurnRequest(text=text, conversation_id=conversation, confirm=confirm)
        return asyncio.run(self.world.turn(turn, None))

    def told(self, request: int) -> dict[str, object]:
        """What the last result says that the model saw before an answer."""
        [(_, value)] = unwrap_data(self.model.requests[request].messages[-1].text)
        return dict(value)


def asked(events: list[StreamEvent]) -> list[ConfirmationRequired]:
    return [event for event in events if isinstance(event, ConfirmationRequired)]


def test_broken_code_goes_back_to_the_model_and_the_correction_is_shown() -> None:
    talk = Talk(writing(BROKEN), writing(GOOD), ModelTurn(text="Done."))

    events = talk.say("Write f.")

    error = talk.told(1)["error"]
    assert isinstance(error, dict)
    assert error["code"] == "code_check_failed"
    assert error["details"] == {"path": "a.py", "problems": "1:7: invalid syntax", "total": 1}
    [confirmation] = asked(events)
    assert "+    return 1" in confirmation.preview["diff"]
    assert "note" not in confirmation.preview
    assert [e.status for e in events if isinstance(e, ToolUseResult)] == ["error"]

    talk.say(confirm=(confirmation.confirmation_token,))

    assert talk.world.store.read(talk.notes, VaultPath("a.py")).data.decode() == GOOD


def test_code_that_is_broken_twice_is_shown_with_its_errors() -> None:
    talk = Talk(writing(BROKEN), writing(STILL_BROKEN))

    [confirmation] = asked(talk.say("Write f."))

    assert len(talk.model.requests) == 2
    assert confirmation.preview["note"] == (
        "Errors in the code of a.py (line:column): 1:8: expected ':'."
    )


def test_one_correction_is_all_even_after_a_person_was_asked() -> None:
    talk = Talk(writing(BROKEN), writing(GOOD), writing(BROKEN, "b.py"))
    [first] = asked(talk.say("Write f."))

    [second] = asked(talk.say(confirm=(first.confirmation_token,)))

    assert "b.py" in second.preview["note"]
    assert len(talk.model.requests) == 3


def test_the_next_question_has_a_correction_of_its_own() -> None:
    talk = Talk(writing(BROKEN), ModelTurn(text="No."), writing(BROKEN), ModelTurn(text="No."))
    talk.say("Write f.")

    assert asked(talk.say("Try again.")) == []
    assert talk.told(3)["error"]


def test_what_a_change_would_leave_is_checked_and_not_what_it_adds() -> None:
    talk = Talk(
        writing("    return 2\n", tool="append_to_file"),
        writing('{"a": 1,}', "d.json", tool="edit_file"),
        ModelTurn(text="I give up."),
    )
    talk.world.write(talk.notes, "a.py", "def g():\n    x = 1\n")
    talk.world.write(talk.notes, "d.json", "{}")

    [appended] = asked(talk.say("Go on."))
    talk.say(confirm=(appended.confirmation_token,))

    assert "note" not in appended.preview
    assert talk.told(1)["path"] == "a.py"
    assert "code_check_failed" in talk.model.requests[2].messages[-1].text


def test_what_is_no_code_is_not_checked() -> None:
    talk = Talk(writing("def f(:", "a.md"))

    [confirmation] = asked(talk.say("Write a note."))

    assert "note" not in confirmation.preview
