"""Of documents that are no text files, the model is given what was read of them (decision 114)."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from archivolt.agent.prompts import SCOPE
from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.limits import MAX_CONTEXT_FILE_CHARS, MAX_INLINE_CONTENT_BYTES
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.stream import Notice
from archivolt.domain.untrusted import unwrap_data
from archivolt.domain.vault import ETag
from archivolt.ports.chat_model import ModelTurn
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n"
OFFICE = b"PK\x03\x04\x00\x00"
PNG = b"\x89PNG\r\n\x1a\n\x00"


class Asking(ChatWorld):
    """Alice asks about what is in her inbox."""

    def __init__(self) -> None:
        self.model = ScriptedModel(*(ModelTurn(text="Read.") for _ in range(3)))
        super().__init__(self.model)
        self.inbox = self.vault("inbox")

    def keep(
        self,
        path: str,
        data: bytes,
        text: str | None = None,
        state: IndexState = IndexState.INDEXED,
        reason: str = "",
    ) -> CatalogueEntry:
        """Add a file that was read as a text, or not and why."""
        info = self.write(self.inbox, path, data)
        before = self.catalogue.get(self.inbox, VaultPath(path))
        assert before is not None
        later = Generation(f"{before.generation}-read")
        entry = replace(before, state=state, reason=reason, generation=later)
        assert self.catalogue.advance(entry, previous=before)
        self._note(info, entry, text)
        return entry

    def ask(
        self, *paths: str, language: Language = Language.EN, directory: bool = False
    ) -> tuple[dict[str, Any], list[Notice]]:
        """Return the documents that the model is given, by path, and what Alice is told."""
        kind = PlaceKind.DIRECTORY if directory else PlaceKind.FILE
        request = TurnRequest(
            text="What is in there?",
            context=ContextKind.DIRECTORY if directory else ContextKind.DOCUMENTS,
            places=tuple(Place(kind=kind, vault="inbox", path=path) for path in paths),
        )
        events = asyncio.run(self.turn(request, language=language))
        found = unwrap_data(self.model.requests[-1].messages[0].text)
        [scope] = [value for source, value in found if source == SCOPE]
        told = [event for event in events if isinstance(event, Notice)]
        return {document["path"]: document for document in scope["documents"]}, told


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("rapport.pdf", PDF),
        ("verger.docx", OFFICE),
        ("without-ending", OFFICE),
        ("letter.eml", b"Content-Transfer-Encoding: base64\n\nYQ==\n"),
        ("large.bin", bytes(MAX_INLINE_CONTENT_BYTES + 1)),
    ],
)
@pytest.mark.parametrize("directory", [False, True])
def test_the_model_is_given_what_was_read_of_a_document(
    path: str, data: bytes, *, directory: bool
) -> None:
    world = Asking()
    world.keep(path, data, "<!-- page 1 -->\n\nThirty apple trees.")

    documents, told = world.ask("" if directory else path, directory=directory)

    assert documents[path]["content"] == "<!-- page 1 -->\n\nThirty apple trees."
    assert documents[path]["is_whole"] is True
    assert told == []


def test_of_a_long_document_the_beginning_is_given_and_of_one_read_in_part_what_was_read() -> None:
    world = Asking()
    world.keep("long.pdf", PDF, "a" * (MAX_CONTEXT_FILE_CHARS + 1))
    world.keep("part.pdf", PDF, "Page 1.", reason="pages_unread")

    documents, _ = world.ask("long.pdf", "part.pdf")

    assert len(documents["long.pdf"]["content"]) == MAX_CONTEXT_FILE_CHARS
    assert documents["long.pdf"]["is_whole"] is False
    assert (documents["part.pdf"]["content"], documents["part.pdf"]["is_whole"]) == (
        "Page 1.",
        False,
    )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (IndexState.NO_TEXT, "document_without_text"),
        (IndexState.OCR_NEEDED, "ocr_needed"),
        (IndexState.FAILED, "document_encrypted"),
        (IndexState.FAILED, "document_broken"),
        (IndexState.TOO_BIG, "document_too_large"),
        (IndexState.UNSUPPORTED, "unsupported_format"),
        (IndexState.DELETED, "document_not_read_yet"),
    ],
)
def test_of_what_could_not_be_read_the_person_is_told_why(state: IndexState, reason: str) -> None:
    world = Asking()
    world.keep("a.pdf", PDF, state=state, reason=reason)
    world.keep("b.pdf", PDF, state=state, reason=reason)

    documents, [told] = world.ask("a.pdf", "b.pdf")

    assert documents["a.pdf"]["unread"] == told.code == reason
    assert told.message.endswith("Not given to the model: a.pdf, b.pdf.")


def test_it_is_told_in_the_language_of_the_person_and_names_a_few_documents() -> None:
    world = Asking()
    names = [f"{number}.pdf" for number in range(7)]
    for name in names:
        world.keep(name, PDF, state=IndexState.FAILED, reason="document_encrypted")

    _, [told] = world.ask(*names, language=Language.FR)

    assert told.message == (
        "Ce document est protégé par un mot de passe ; déposez-le sans. "
        "Non transmis au modèle : 0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf, +2."
    )


def test_a_document_that_changed_since_it_was_read_is_not_given_as_it_was() -> None:
    world = Asking()
    entry = world.keep("a.pdf", PDF, "As it was.")
    world.store.replace(world.inbox, VaultPath("a.pdf"), PDF + b"new", expected=ETag(entry.etag))

    documents, [told] = world.ask("a.pdf")

    assert documents["a.pdf"]["unread"] == told.code == "document_not_read_yet"


def test_an_index_that_is_down_is_told_and_stops_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Asking()
    world.keep("a.pdf", PDF, "Text.")

    def down(*_: object) -> str:
        raise UnavailableError("unavailable")

    monkeypatch.setattr(world.notes, "text", down)

    assert [told.code for told in world.ask("a.pdf")[1]] == ["unavailable"]


def test_of_an_image_a_model_without_eyes_is_given_its_words_or_the_person_is_told() -> None:
    world = Asking()
    world.use_model("deepseek-v4-flash")
    world.keep("photo.png", PNG, state=IndexState.OCR_NEEDED, reason="ocr_needed")
    world.keep("sign.png", PNG, "No entry.")

    documents, [told] = world.ask("photo.png", "sign.png")

    assert documents["sign.png"]["content"] == "No entry."
    assert told.code == "vision_unsupported"
    assert "photo.png" in told.message


def test_an_image_with_words_is_shown_all_the_same() -> None:
    world = Asking()
    world.use_model("gpt-4o")
    world.keep("sign.png", PNG, "No entry.")

    documents, told = world.ask("sign.png")

    assert documents["sign.png"]["content"] == "No entry."
    assert len(world.model.requests[-1].messages[-1].images) == 1
    assert told == []
