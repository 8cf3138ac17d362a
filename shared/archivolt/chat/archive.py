"""Finding what was said in past conversations, and taking one home."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import Author, Conversation, Message, ToolCallRecord
from archivolt.domain.errors import NotFoundError
from archivolt.domain.folding import folded
from archivolt.domain.identity import Principal
from archivolt.domain.language import Language
from archivolt.domain.language import Message as Sentence
from archivolt.domain.limits import MAX_SEARCHED_CONVERSATIONS
from archivolt.ports.conversations import ConversationStore

_AT_ONCE: Final = 16
_AROUND: Final = 80
_PERSON: Final = Sentence("You", "Vous")
_SOURCES: Final = Sentence("Sources", "Sources")
_STOPPED: Final = Sentence("Stopped.", "Arrêtée.")
_STEPS: Final = Sentence("Steps", "Étapes")
_STATES: Final[Mapping[str, Sentence]] = {
    "error": Sentence("failed", "en échec"),
    "proposed": Sentence("proposed", "proposé"),
    "declined": Sentence("declined", "refusé"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConversation:
    """A conversation and where the words are: in a message, or (number 0) in the title."""

    conversation: Conversation
    message: int
    excerpt: str


class ConversationSearch:
    """Looks through a person's own conversations, last used first."""

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    def search(
        self, principal: Principal, words: str, *, after: str | None = None
    ) -> tuple[list[FoundConversation], str | None]:
        """Return the conversations with all of the words in one message or in the title.

        Case and accents do not count. One call looks through so many conversations; the second
        value goes on from there, None after the last.
        """
        wanted = folded(words).split()
        page, next_after = self._store.of_user(
            principal.tenant, principal.user, limit=MAX_SEARCHED_CONVERSATIONS, after=after
        )
        if not wanted:
            return [], None
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = pool.map(partial(self._found, wanted), page)
            return [each for each in found if each is not None], next_after

    def _found(self, wanted: Sequence[str], listed: Conversation) -> FoundConversation | None:
        if _has(listed.title, wanted):
            return FoundConversation(conversation=listed, message=0, excerpt=listed.title)
        try:
            whole = self._store.get(listed.tenant, listed.id)
        except NotFoundError:
            return None
        for message in reversed(whole.messages):
            if _has(message.text, wanted):
                excerpt = _around(message.text, wanted)
                return FoundConversation(
                    conversation=listed, message=message.number, excerpt=excerpt
                )
        return None


def as_markdown(conversation: Conversation, language: Language) -> str:
    """Return a conversation as a document: who said what and when, and the sources."""
    parts = [f"# {_line(conversation.title)}"]
    for message in conversation.messages:
        by_person = message.author is Author.USER
        who = _PERSON.spoken(language) if by_person else "Archivolt"
        parts.append(f"## {who} — {message.written_at:%Y-%m-%d %H:%M} UTC")
        parts.append(message.text)
        if message.stopped:
            parts.append(f"*{_STOPPED.spoken(language)}*")
        if message.tool_calls:
            parts.append(f"{_STEPS.spoken(language)}:")
            parts.append("\n".join(_step(call, language) for call in message.tool_calls))
        if message.citations:
            parts.append(f"{_SOURCES.spoken(language)}:")
            parts.append("\n".join(dict.fromkeys(_sources(message))))
    return "\n\n".join(part for part in parts if part) + "\n"


def _step(call: ToolCallRecord, language: Language) -> str:
    """Return a call as a line: what it was, what became of it, and where."""
    status = _STATES.get(call.status)
    outcome = f" ({status.spoken(language)})" if status else ""
    places = ", ".join(f"<{uri}>" for uri in touched_uris(call))
    return f"- `{call.tool_name}`{outcome}{f': {places}' if places else ''}"


def _sources(message: Message) -> list[str]:
    return [f"- [{_label(citation.path)}]({citation.uri})" for citation in message.citations]


def _label(path: str) -> str:
    return path.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _line(text: str) -> str:
    return " ".join(text.split())


def _has(text: str, wanted: Sequence[str]) -> bool:
    plain = folded(text)
    return all(word in plain for word in wanted)


def _around(text: str, wanted: Sequence[str]) -> str:
    """Return the text around the first of the words; folding may have moved it by a little."""
    plain = folded(text)
    at = min(plain.find(word) for word in wanted)
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    excerpt = _line(text[start:end])
    return f"{'…' if start else ''}{excerpt}{'…' if end < len(text) else ''}"
