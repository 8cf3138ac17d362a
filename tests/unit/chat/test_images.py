"""Images that a person shows to a model (O77)."""

import asyncio
import base64
from dataclasses import replace

import pytest

from archivolt.agent.keeping import state_from_json, state_to_json
from archivolt.agent.state import LoopState
from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, NotFoundError
from archivolt.domain.limits import MAX_IMAGE_BYTES, MAX_MESSAGE_IMAGES
from archivolt.domain.paths import vault_uri
from archivolt.ports.chat_model import ModelImage, ModelMessage, ModelTurn
from tests.builders import ACME, BOB, principal
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel
from tests.images import png

IMAGE = png(2, 2)
PASTED = f"data:image/png;base64,{base64.b64encode(IMAGE).decode()}"
KINDS = {
    "image/png": IMAGE,
    "image/jpeg": b"\xff\xd8\xff\xe0rest",
    "image/gif": b"GIF89arest",
    "image/webp": b"RIFF\x04\0\0\0WEBPrest",
}


class Looking(ChatWorld):
    """A world whose provider has a model that sees."""

    def __init__(self) -> None:
        self.model = ScriptedModel(ModelTurn(text="A white square."))
        super().__init__(self.model)
        self.settings.save(ACME, replace(self.settings.load(ACME), chat_model="gpt-4o"))

    def show(self, *images: str, text: str = "What is this?", by: str = "alice") -> ModelMessage:
        """Ask about images and return what the model was given."""
        asyncio.run(self.turn(TurnRequest(text=text, images=images), by=principal(by)))
        return self.model.requests[-1].messages[-1]


def refused(*images: str, by: str = "alice", world: Looking | None = None) -> ArchivoltError:
    with pytest.raises(ArchivoltError) as raised:
        (world or Looking()).show(*images, by=by)
    return raised.value


@pytest.mark.parametrize("kind", KINDS)
def test_a_pasted_image_reaches_the_model_as_what_it_is(kind: str) -> None:
    said = f"data:image/png;base64,{base64.b64encode(KINDS[kind]).decode()}"

    shown = Looking().show(said)

    data = base64.b64encode(KINDS[kind]).decode()
    assert shown.images == (ModelImage(media_type=kind, data=data),)
    assert shown.text == "What is this?"


@pytest.mark.parametrize("provider", ["gemini", "ollama"])
def test_a_gif_is_refused_for_a_provider_that_takes_none(provider: str) -> None:
    world = Looking()
    settings = replace(
        world.settings.load(ACME), chat_provider=provider, chat_model="gemini-2.5-pro"
    )
    world.settings.save(ACME, settings)
    gif, png_image = (base64.b64encode(KINDS[f"image/{kind}"]).decode() for kind in ("gif", "png"))

    error = refused(f"data:image/png;base64,{gif}", world=world)

    assert (error.code, error.details["reason"]) == ("image_unusable", "image_gif")
    assert world.model.requests == []
    assert len(world.show(f"data:image/gif;base64,{png_image}").images) == 1


def test_an_image_of_a_vault_reaches_the_model() -> None:
    world = Looking()
    world.write(world.vault("photos"), "été/a b.png", IMAGE)

    shown = world.show(vault_uri("photos", "été/a b.png"), PASTED)

    assert [base64.b64decode(image.data) for image in shown.images] == [IMAGE, IMAGE]


def test_images_of_others_vaults_are_not_found() -> None:
    world = Looking()
    world.write(world.vault("photos"), "a.png", IMAGE)

    there = refused("vault://photos/a.png", by=BOB, world=world)
    nowhere = refused("vault://nowhere/a.png", by=BOB)

    assert isinstance(there, NotFoundError)
    assert (there.code, nowhere.code) == ("vault_not_found", "vault_not_found")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://example.test/a.png", "image_address"),
        ("file:///etc/passwd", "image_address"),
        ("data:image/png,raw", "image_address"),
        ("vault://", "image_address"),
        ("data:image/png;base64,%%%", "image_damaged"),
        ("data:image/png;base64,é", "image_damaged"),
        ("data:image/png;base64,", "image_kind"),
        (f"data:image/png;base64,{base64.b64encode(b'<svg/>').decode()}", "image_kind"),
    ],
)
def test_what_is_no_image_is_refused_with_its_reason(address: str, reason: str) -> None:
    error = refused(address)

    assert isinstance(error, InvalidRequestError)
    assert (error.code, error.details["reason"]) == ("image_unusable", reason)


def test_a_text_of_a_vault_is_no_image() -> None:
    world = Looking()
    world.write(world.vault("notes"), "a.md", "text")

    assert refused("vault://notes/a.md", world=world).code == "image_unusable"


def test_images_have_a_largest_size_and_number() -> None:
    large = IMAGE + bytes(MAX_IMAGE_BYTES)
    world = Looking()
    world.write(world.vault("photos"), "a.png", large)

    pasted = f"data:image/png;base64,{base64.b64encode(large).decode()}"
    assert refused(pasted).code == "image_too_large"
    assert refused("vault://photos/a.png", world=world).code == "image_too_large"
    assert refused(*[PASTED] * (MAX_MESSAGE_IMAGES + 1)).details["reason"] == "images_too_many"


def test_an_image_needs_no_words_and_is_not_kept() -> None:
    world = Looking()

    shown = world.show(PASTED, text="")

    assert len(shown.images) == 1
    kept = world.only_conversation()
    assert [message.text for message in kept.messages] == ["[image]", "A white square."]
    assert PASTED[-20:] not in repr(kept)


def test_a_later_question_is_asked_without_the_image() -> None:
    world = Looking()
    world.show(PASTED)
    conversation = world.only_conversation().id

    asyncio.run(world.turn(TurnRequest(text="And now?", conversation_id=conversation)))

    assert all(not message.images for message in world.model.requests[-1].messages)


def test_a_state_is_kept_without_its_images() -> None:
    image = ModelImage(media_type="image/png", data="AAAA")
    asked = ModelMessage(role="user", text="?", images=(image,))

    kept = state_from_json(state_to_json(LoopState(messages=(asked,), tools=frozenset())))

    assert kept.messages == (ModelMessage(role="user", text="?"),)


def test_an_image_among_the_files_a_person_points_at_is_shown() -> None:
    world = Looking()
    vault = world.vault("photos")
    world.write(vault, "a.png", IMAGE)
    world.write(vault, "b.png", IMAGE + bytes(MAX_IMAGE_BYTES))
    world.write(vault, "c.bin", b"\0\1\2")
    places = tuple(
        Place(kind=PlaceKind.FILE, vault="photos", path=path)
        for path in ("a.png", "b.png", "c.bin")
    )
    asked = TurnRequest(text="And this?", context=ContextKind.DOCUMENTS, places=places)

    asyncio.run(world.turn(replace(asked, images=(PASTED,))))

    system, *_, question = world.model.requests[-1].messages
    assert len(question.images) == 2
    assert system.text.count("shown_as_image") == 1
    assert system.text.count("file_not_text") == 2

    world.settings.save(ACME, replace(world.settings.load(ACME), chat_model="deepseek-v4-flash"))
    asyncio.run(world.turn(asked))
    blind = world.model.requests[-1].messages
    assert blind[-1].images == ()
    assert blind[0].text.count("file_not_text") == 3


def test_an_image_for_a_model_without_eyes_is_refused_before_anything_is_kept() -> None:
    world = Looking()
    world.settings.save(ACME, replace(world.settings.load(ACME), chat_model="deepseek-v4-flash"))

    with pytest.raises(InvalidRequestError, match="vision_unsupported"):
        world.show(PASTED)
    assert world.model.requests == []
