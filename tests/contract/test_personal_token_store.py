"""What every `PersonalTokenStore` promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta

import pytest

from archivolt.adapters.dynamodb.personal_tokens import DynamoPersonalTokens
from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import FULL_REACH, TokenReach
from archivolt.domain.personal_tokens import PersonalToken
from archivolt.ports.personal_tokens import PersonalTokenStore
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE, NewTable
from tests.fakes.clock import START
from tests.fakes.personal_tokens import InMemoryPersonalTokens

LIMIT = 3


def a_token(name: str = "t1", *, minutes: int = 0) -> PersonalToken:
    return PersonalToken(
        id=name,
        tenant=ACME,
        user=ALICE,
        name="laptop",
        reach=FULL_REACH,
        digest="d" * 64,
        fingerprint="…abcd",
        created_at=START + timedelta(minutes=minutes, microseconds=3),
        expires_at=START + timedelta(days=90),
    )


@pytest.fixture
def tokens(store: str, request: pytest.FixtureRequest) -> PersonalTokenStore:
    if store == FAKE:
        return InMemoryPersonalTokens()
    return DynamoPersonalTokens(request.getfixturevalue("new_table")("ControlTable"))


@pytest.mark.parametrize(
    "reach",
    [
        FULL_REACH,
        TokenReach(read_only=True),
        TokenReach(vaults=frozenset({"v1", "v2"})),
        TokenReach(vaults=frozenset()),
    ],
)
def test_a_token_is_read_back(tokens: PersonalTokenStore, reach: TokenReach) -> None:
    token = replace(a_token(), reach=reach)

    tokens.add(token, limit=LIMIT)

    assert tokens.find("t1") == token


def test_an_unknown_token_is_none(tokens: PersonalTokenStore) -> None:
    assert tokens.find("t1") is None


def test_a_removed_token_is_gone_at_once_and_makes_room(tokens: PersonalTokenStore) -> None:
    for number in range(LIMIT):
        tokens.add(a_token(f"t{number}"), limit=LIMIT)

    tokens.remove(a_token("t1"))
    tokens.remove(a_token("t1"))

    assert tokens.find("t1") is None
    tokens.add(a_token("t9"), limit=LIMIT)
    assert {token.id for token in tokens.of_user(ACME, ALICE)} == {"t0", "t2", "t9"}


def test_an_owner_has_at_most_so_many_and_others_are_not_concerned(
    tokens: PersonalTokenStore,
) -> None:
    for number in range(LIMIT):
        tokens.add(a_token(f"t{number}"), limit=LIMIT)

    with pytest.raises(ConflictError, match="too_many_tokens"):
        tokens.add(a_token("t9"), limit=LIMIT)
    tokens.add(replace(a_token("b1"), user=BOB), limit=LIMIT)
    tokens.add(replace(a_token("g1"), tenant=GLOBEX), limit=LIMIT)

    assert tokens.find("t9") is None


def test_lists_show_their_owners_tokens_newest_first(tokens: PersonalTokenStore) -> None:
    tokens.add(a_token("t1"), limit=LIMIT)
    tokens.add(a_token("t2", minutes=1), limit=LIMIT)
    tokens.add(replace(a_token("b1"), user=BOB), limit=LIMIT)
    tokens.add(replace(a_token("g1"), tenant=GLOBEX), limit=LIMIT)

    assert [token.id for token in tokens.of_user(ACME, ALICE)] == ["t2", "t1"]
    assert [token.id for token in tokens.of_tenant(ACME)] == ["t2", "t1", "b1"]


def test_the_day_of_a_use_is_noted_and_revives_nothing(tokens: PersonalTokenStore) -> None:
    tokens.add(a_token("t1"), limit=LIMIT)

    tokens.note_use(a_token("t1"), date(2026, 3, 4))
    tokens.note_use(a_token("gone"), date(2026, 3, 4))

    assert tokens.find("t1") == replace(a_token(), last_used=date(2026, 3, 4))
    assert tokens.find("gone") is None


def test_a_token_that_has_ended_makes_room_before_it_is_removed(
    tokens: PersonalTokenStore,
) -> None:
    tomorrow = START + timedelta(days=1)
    for number in range(LIMIT):
        tokens.add(replace(a_token(f"t{number}"), expires_at=tomorrow), limit=LIMIT)

    for number in range(LIMIT):
        tokens.add(a_token(f"n{number}", minutes=24 * 60), limit=LIMIT)
    with pytest.raises(ConflictError, match="too_many_tokens"):
        tokens.add(a_token("n9", minutes=24 * 60), limit=LIMIT)
    tokens.remove(a_token("t0"))

    assert {token.id for token in tokens.of_user(ACME, ALICE)} >= {"n0", "n1", "n2"}


@pytest.mark.parametrize("token_id", ["x" * 3_000, "\ud800"])
def test_what_no_store_could_keep_is_no_token(tokens: PersonalTokenStore, token_id: str) -> None:
    assert tokens.find(token_id) is None


@pytest.mark.dynamodb_local
def test_ten_at_once_do_not_get_past_the_limit(new_local_table: NewTable) -> None:
    tokens = DynamoPersonalTokens(new_local_table("ControlTable"))

    def add(number: int) -> bool:
        try:
            tokens.add(a_token(f"t{number}"), limit=LIMIT)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(10) as pool:
        added = list(pool.map(add, range(10)))

    assert len(tokens.of_user(ACME, ALICE)) == sum(added)
    assert 1 <= sum(added) <= LIMIT
