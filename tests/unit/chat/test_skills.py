"""The method of a turn (L18 to L21), and the skills that people keep (O74)."""

import asyncio
from dataclasses import replace

import pytest

from archivolt.chat.requests import TurnRequest
from archivolt.domain.conversation import ConversationId
from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError
from archivolt.domain.limits import MAX_SKILLS
from archivolt.domain.skill import Skill
from archivolt.domain.stream import SkillChosen, StreamEvent
from archivolt.ports.chat_model import ModelTurn
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel

BROKEN = "mon script plante avec TypeError"
HAIKU = Skill(
    id="haiku", title="Haïku", icon="", description="", prompt="Five.", keywords=("haïku",)
)


def asking() -> tuple[ChatWorld, ScriptedModel]:
    model = ScriptedModel(ModelTurn(text="Well."))
    return ChatWorld(model), model


def chosen(events: list[StreamEvent]) -> list[tuple[str, str]]:
    return [(event.name, event.title) for event in events if isinstance(event, SkillChosen)]


def systems(model: ScriptedModel) -> list[str]:
    return [m.text for m in model.requests[-1].messages if m.role == "system"]


def test_the_method_that_fits_is_told_to_the_model_and_shown() -> None:
    world, model = asking()

    events = asyncio.run(world.turn(BROKEN))

    assert chosen(events) == [("debogage-systematique", "Débogage systématique")]
    assert [event.event for event in events[:2]] == ["message_start", "skill"]
    _, method = systems(model)
    assert method.startswith("Méthode à suivre pour cette tâche :\n1. **Reproduire.**")


def test_an_ordinary_message_gets_none() -> None:
    world, model = asking()

    assert chosen(asyncio.run(world.turn("Where is the key?"))) == []
    assert len(systems(model)) == 1


def test_it_is_for_this_turn_alone_and_not_kept() -> None:
    world, model = asking()
    asyncio.run(world.turn(BROKEN))
    conversation = ConversationId(world.only_conversation().id)

    events = asyncio.run(world.turn(TurnRequest(text="Merci", conversation_id=conversation)))

    assert (chosen(events), len(systems(model))) == ([], 1)
    kept = world.only_conversation()
    assert "Méthode" not in "".join(message.text for message in kept.messages)


def test_a_skill_that_is_named_wins_and_one_that_is_not_there_is_refused() -> None:
    world, model = asking()
    world.skills.save(principal(ALICE), HAIKU)

    events = asyncio.run(world.turn(TurnRequest(text=BROKEN, skill="haiku")))

    assert chosen(events) == [("haiku", "Haïku")]
    assert systems(model)[1].endswith("\nFive.")
    for skill, by in (("gone", principal(ALICE)), ("haiku", principal(BOB))):
        with pytest.raises(NotFoundError, match="skill_not_found"):
            asyncio.run(world.turn(TurnRequest(text="Hi", skill=skill), by=by))
    assert world.conversations.of_user(ACME, BOB, limit=1) == ([], None)


def test_a_persons_own_skill_is_found_by_its_words_before_those_that_are_shipped() -> None:
    world, _ = asking()
    world.skills.save(principal(ALICE), replace(HAIKU, keywords=("TypeError", "script")))

    assert chosen(asyncio.run(world.turn(BROKEN)))[0][0] == "haiku"
    assert chosen(asyncio.run(world.turn(BROKEN, by=principal(BOB))))[0][0] != "haiku"


def test_a_tenant_turns_them_off_but_for_those_that_are_named() -> None:
    world, _ = asking()
    settings = world.settings.load(ACME)
    world.settings.save(ACME, replace(settings, skills_enabled=False))

    assert chosen(asyncio.run(world.turn(BROKEN))) == []
    named = TurnRequest(text=BROKEN, skill="refactor-sur")
    assert chosen(asyncio.run(world.turn(named))) == [("refactor-sur", "Refactorisation sûre")]


def test_an_id_is_made_of_the_title() -> None:
    world, _ = asking()

    kept = world.skills.save(principal(ALICE), replace(HAIKU, id="", title="Été à Noël !"))

    assert kept.id == "ete-a-noel"
    assert world.skills.own(principal(ALICE)) == [kept]


@pytest.mark.parametrize(
    ("skill", "code"),
    [
        (replace(HAIKU, id="creation-web"), "skill_is_builtin"),
        (replace(HAIKU, id="", title="Création web"), "skill_is_builtin"),
        (replace(HAIKU, id="", title="!!!"), "invalid_request"),
    ],
)
def test_what_cannot_be_named_is_refused(skill: Skill, code: str) -> None:
    world, _ = asking()

    with pytest.raises(ArchivoltError, match=code):
        world.skills.save(principal(ALICE), skill)
    assert world.skills.own(principal(ALICE)) == []


def test_a_person_keeps_so_many_and_may_still_replace_one() -> None:
    world, _ = asking()
    for number in range(MAX_SKILLS):
        world.skills.save(principal(ALICE), replace(HAIKU, id=f"s{number}"))

    with pytest.raises(ConflictError, match="skills_too_many"):
        world.skills.save(principal(ALICE), replace(HAIKU, id="more"))
    world.skills.save(principal(ALICE), replace(HAIKU, id="s1", prompt="Seven."))
    world.skills.save(principal(ALICE, tenant=GLOBEX), HAIKU)


def test_only_ones_own_is_removed() -> None:
    world, _ = asking()
    world.skills.save(principal(ALICE), HAIKU)

    for by, name in ((principal(BOB), "haiku"), (principal(ALICE), "creation-web")):
        with pytest.raises(NotFoundError, match="skill_not_found"):
            world.skills.delete(by, name)
    world.skills.delete(principal(ALICE), "haiku")
    assert world.skills.own(principal(ALICE)) == []
