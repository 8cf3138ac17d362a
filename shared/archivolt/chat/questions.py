"""What a server of others asks in the middle of a call, kept with the call until it is answered."""

from collections.abc import Mapping
from dataclasses import asdict, replace

from archivolt.agent.state import WaitingCall
from archivolt.domain.federation import McpAnswers, QuestionAskedError
from archivolt.domain.tool import JsonObject


def with_question(waiting: WaitingCall, asked: QuestionAskedError) -> WaitingCall:
    """Return a call that waits for answers; what was answered before is kept with it."""
    before = dict(asked.before.content) if asked.before else {}
    question = {
        "server": str(asked.details["server"]),
        "questions": [asdict(question) for question in asked.questions],
    }
    return replace(waiting, question=question, resume={"state": asked.state, "before": before})


def answers_to(waiting: WaitingCall, given: Mapping[str, JsonObject]) -> McpAnswers | None:
    """Return what a server is told; None for a call that asked nothing.

    A question that is agreed to without more is answered by nothing in particular.
    """
    if waiting.question is None or waiting.resume is None:
        return None
    asked = [str(question["id"]) for question in waiting.question["questions"]]
    nothing: JsonObject = {}
    content: dict[str, JsonObject] = {name: given.get(name, nothing) for name in asked}
    state = waiting.resume["state"]
    if state is None:
        content = {**waiting.resume["before"], **content}
    return McpAnswers(content=content, state=state)
