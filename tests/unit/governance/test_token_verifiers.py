"""Which tokens verify, and for whom they speak."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import jwt
import pytest

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import FULL_REACH, Principal, Role, TokenKind, TokenReach
from archivolt.domain.oauth import ACCESS_TOKENS, REFRESH_TOKENS
from archivolt.domain.personal_tokens import PersonalToken, digest_of, id_of, new_token
from archivolt.domain.redaction import redact
from archivolt.governance.token_verifiers import PersonalTokenVerifier, TokenVerifiers
from tests.builders import ACME, ALICE, principal
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import KnownTokens
from tests.fakes.personal_tokens import InMemoryPersonalTokens

REACH = TokenReach(read_only=True, vaults=frozenset({"v1"}))


class TheWorld:
    """A store with one token in it, and who verifies it."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.store = InMemoryPersonalTokens()
        self.secret = new_token()
        self.store.add(
            PersonalToken(
                id=self.secret.id,
                tenant=ACME,
                user=ALICE,
                name="laptop",
                reach=REACH,
                digest=digest_of(self.secret.text),
                fingerprint=self.secret.fingerprint,
                created_at=START,
                expires_at=START + timedelta(days=1),
            ),
            limit=9,
        )
        self.verifier = PersonalTokenVerifier(self.store, self.clock)

    @property
    def kept(self) -> PersonalToken:
        found = self.store.find(self.secret.id)
        assert found is not None
        return found


@pytest.fixture
def world() -> TheWorld:
    return TheWorld()


def test_a_token_speaks_for_its_owner_within_its_reach(world: TheWorld) -> None:
    assert world.verifier.verify(world.secret.text) == Principal(
        tenant=ACME,
        user=ALICE,
        role=Role.VIEWER,
        token_id=digest_of(world.secret.text)[:32],
        kind=TokenKind.PERSONAL,
        reach=REACH,
        program="laptop",
    )


def test_a_token_ends_at_its_moment(world: TheWorld) -> None:
    world.clock.advance(days=1)

    with pytest.raises(UnauthenticatedError, match="invalid_token"):
        world.verifier.verify(world.secret.text)


def test_a_revoked_token_ends_at_once(world: TheWorld) -> None:
    world.store.remove(world.kept)

    with pytest.raises(UnauthenticatedError, match="invalid_token"):
        world.verifier.verify(world.secret.text)


def test_another_secret_under_the_same_id_is_nobody(world: TheWorld) -> None:
    world.store.remove(world.kept)
    other = new_token()
    world.store.add(replace(world_token(other.id), digest=digest_of(world.secret.text)), limit=9)

    with pytest.raises(UnauthenticatedError, match="invalid_token"):
        world.verifier.verify(other.text)


def world_token(token_id: str) -> PersonalToken:
    return PersonalToken(
        id=token_id,
        tenant=ACME,
        user=ALICE,
        name="other",
        reach=FULL_REACH,
        digest="",
        fingerprint="",
        created_at=START,
        expires_at=START + timedelta(days=1),
    )


class _NoStore(InMemoryPersonalTokens):
    def find(self, token_id: str) -> PersonalToken | None:
        raise AssertionError(token_id)


@pytest.mark.parametrize("change", ["", "x", "\u00e9", "\n", " "])
def test_what_has_not_the_form_of_a_token_costs_no_read(change: str) -> None:
    token = new_token().text
    wrong = token + change if change else token[:-1]

    with pytest.raises(UnauthenticatedError, match="invalid_token"):
        PersonalTokenVerifier(_NoStore(), FrozenClock()).verify(wrong)


def test_one_wrong_character_is_told_by_the_checksum() -> None:
    token = new_token().text
    for place in range(len("avp_"), len(token)):
        other = "a" if token[place] != "a" else "b"
        with pytest.raises(UnauthenticatedError):
            id_of(token[:place] + other + token[place + 1 :])


def test_the_use_of_a_token_is_noted_once_a_day(world: TheWorld) -> None:
    for _ in range(3):
        world.verifier.verify(world.secret.text)

    assert world.kept.last_used == START.date()
    assert world.store.uses_noted == 1


def test_the_front_door_notes_nothing(world: TheWorld) -> None:
    PersonalTokenVerifier(world.store, world.clock, notes_use=False).verify(world.secret.text)

    assert world.kept.last_used is None


def test_every_token_is_judged_by_the_one_whose_form_it_has(world: TheWorld) -> None:
    theirs = jwt.encode({"iss": "https://idp.example"}, "k" * 32)
    of_them = principal("them")
    of_client = principal("client")
    access = ACCESS_TOKENS.new()
    verifiers = TokenVerifiers(
        lambda: KnownTokens({theirs: of_them, "opaque": of_them}),
        personal=lambda: world.verifier,
        granted=lambda: KnownTokens({access: of_client}),
    )

    assert verifiers.verify(theirs) is of_them
    assert verifiers.verify("opaque") is of_them
    assert verifiers.verify(access) is of_client
    assert verifiers.verify(world.secret.text).user == ALICE


@pytest.mark.parametrize(
    "token", ["", ".", "a.b.c", "a.W10.c", "a." + "W" * 7000 + ".c", "x" * 10_000, "é.é.é"]
)
def test_no_token_makes_the_choice_fail(token: str, world: TheWorld) -> None:
    nobody = KnownTokens({})
    verifiers = TokenVerifiers(
        lambda: nobody, personal=lambda: world.verifier, granted=lambda: nobody
    )

    with pytest.raises(UnauthenticatedError, match="invalid_token"):
        verifiers.verify(token)


@pytest.mark.parametrize("new", [lambda: new_token().text, ACCESS_TOKENS.new, REFRESH_TOKENS.new])
def test_a_token_in_a_document_is_masked(new: Callable[[], str]) -> None:
    token = new()

    assert token not in redact(f"see {token} there").text
