"""What the chat routes stand on."""

from collections.abc import Callable
from dataclasses import dataclass

from archivolt.chat.conversations import ConversationService
from archivolt.chat.editing import Editor
from archivolt.chat.model_choices import ModelChoices
from archivolt.chat.scope import ScopeCollector
from archivolt.chat.skills import SkillService
from archivolt.chat.turns import SendMessage
from archivolt.ports.governance import TokenVerifier


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """The collaborators of the chat function.

    `enabled` is the feature flag of S6; `close` ends what else runs when the function ends;
    `allowed_origins` as in the settings.
    """

    enabled: bool
    token_verifier: TokenVerifier
    send_message: SendMessage
    scopes: ScopeCollector
    skills: SkillService
    editor: Editor
    conversations: ConversationService
    model_choices: ModelChoices
    allowed_origins: str = ""
    usage: UsageReports
    close: Callable[[], None]


ChatServicesOf = Callable[[], ChatServices]
"""Gives the services when a request needs them: routes are made without."""
