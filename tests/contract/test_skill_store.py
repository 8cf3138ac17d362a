"""What every `SkillStore` promises."""

from dataclasses import replace

import pytest

from archivolt.adapters.dynamodb.skills import DynamoSkills
from archivolt.domain.skill import Skill
from archivolt.ports.skills import SkillStore
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE
from tests.fakes.skills import InMemorySkills

HAIKU = Skill(
    id="haiku",
    title="Haïku",
    icon="🍃",
    description="Répondre en haïku.",
    prompt="Cinq,\nsept,\ncinq.",
    keywords=("haïku", "poème court*"),
)


@pytest.fixture
def skills(store: str, request: pytest.FixtureRequest) -> SkillStore:
    if store == FAKE:
        return InMemorySkills()
    return DynamoSkills(request.getfixturevalue("new_table")("ControlTable"))


def test_what_was_kept_is_given_back(skills: SkillStore) -> None:
    plain = replace(HAIKU, id="a", keywords=())
    skills.save(ACME, ALICE, HAIKU)
    skills.save(ACME, ALICE, plain)

    assert skills.of_user(ACME, ALICE) == [plain, HAIKU]


def test_a_skill_of_the_same_id_is_replaced(skills: SkillStore) -> None:
    skills.save(ACME, ALICE, HAIKU)
    skills.save(ACME, ALICE, replace(HAIKU, prompt="Five."))

    assert [skill.prompt for skill in skills.of_user(ACME, ALICE)] == ["Five."]


def test_everybody_has_their_own(skills: SkillStore) -> None:
    skills.save(ACME, ALICE, HAIKU)

    assert skills.of_user(ACME, BOB) == skills.of_user(GLOBEX, ALICE) == []
    assert not skills.delete(ACME, BOB, "haiku")
    assert skills.of_user(ACME, ALICE) == [HAIKU]


@pytest.mark.parametrize("odd", ["absent", "", "\ud800", "x" * 3_000])
def test_what_is_removed_is_gone_and_what_is_not_there_is_told(
    skills: SkillStore, odd: str
) -> None:
    skills.save(ACME, ALICE, HAIKU)

    assert skills.delete(ACME, ALICE, "haiku")
    assert not skills.delete(ACME, ALICE, "haiku")
    assert not skills.delete(ACME, ALICE, odd)
    assert skills.of_user(ACME, ALICE) == []
