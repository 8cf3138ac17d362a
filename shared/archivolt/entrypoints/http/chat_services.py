"""What the chat routes stand on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from archivolt.domain.errors import UnavailableError
from archivolt.entrypoints.http.authentication import Count, NoteRefusal
from archivolt.ports.governance import TokenVerifier

if TYPE_CHECKING:
    from archivolt.chat.conversations import ConversationService
    from archivolt.chat.editing import Editor
    from archivolt.chat.model_choices import ModelChoices
    from archivolt.chat.scope import ScopeCollector
    from archivolt.chat.skills import SkillService
    from archivolt.chat.taking_home import TakingHome
    from archivolt.chat.turns import SendMessage
    from archivolt.governance.usage import UsageReports
    from archivolt.runs.deciding import RunDecisions
    from archivolt.runs.service import RunService
    from archivolt.runs.timetables import Timetables


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRuns:
    """What people do with agent runs."""

    runs: "RunService"
    decisions: "RunDecisions"
    timetables: "Callable[[], Timetables]"


def no_runs() -> NoReturn:
    """Stand for the runs of a deployment that has no state machine.

    Raises:
        UnavailableError: `runs_unavailable`.

    """
    raise UnavailableError("runs_unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """The collaborators of the chat function.

    `enabled` is the feature flag of S6; `close` ends what else runs when the function ends;
    `early_verifier` is for messages, whose callers `send_message` lets in; None: the usual one.
    `count` holds a caller to the rate limit, `note_refusal` records a refusal; `allowed_origins`
    as in the settings.
    """

    enabled: bool
    token_verifier: TokenVerifier
    early_verifier: TokenVerifier | None = None
    send_message: "SendMessage"
    scopes: "ScopeCollector"
    skills: "SkillService"
    editor: "Editor"
    conversations: "ConversationService"
    model_choices: "ModelChoices"
    agent: Callable[[], AgentRuns] = no_runs
    usage: "UsageReports"
    taking_home: "Callable[[], TakingHome]"
    close: Callable[[], None]
    count: Count = lambda principal, operation: None  # noqa: ARG005  nobody is held
    note_refusal: NoteRefusal = lambda principal, operation, error: None  # noqa: ARG005  unnoted
    allowed_origins: str = ""


ChatServicesOf = Callable[[], ChatServices]
"""Gives the services when a request needs them: routes are made without."""
