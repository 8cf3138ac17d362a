"""What the stores behind OAuth promise: clients, codes, grants, browser sessions, local people."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from archivolt.adapters.dynamodb.browser_sessions import DynamoBrowserSessions
from archivolt.adapters.dynamodb.local_users import DynamoLocalUsers
from archivolt.adapters.dynamodb.oauth_clients import DynamoOAuthClients
from archivolt.adapters.dynamodb.oauth_grants import DynamoOAuthGrants
from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import FULL_REACH, Role, TokenReach, UserId
from archivolt.domain.oauth import (
    AccessDigest,
    AuthorizationCode,
    BrowserSession,
    LocalUser,
    OAuthClient,
    OAuthGrant,
    Person,
)
from archivolt.ports.oauth import (
    BrowserSessionStore,
    LocalUserStore,
    OAuthClientStore,
    OAuthGrantStore,
)
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE, NewTable
from tests.contract.test_concurrency import race
from tests.fakes.clock import START
from tests.fakes.oauth import (
    InMemoryBrowserSessions,
    InMemoryLocalUsers,
    InMemoryOAuthClients,
    InMemoryOAuthGrants,
)

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ALICE_OF_ACME = Person(tenant=ACME, user=ALICE, role=Role.DEVOPS)


def a_client(client_id: str = "c1") -> OAuthClient:
    return OAuthClient(
        id=client_id,
        name="A client",
        redirect_uris=("http://127.0.0.1/callback", "https://client.example/back"),
        expires_at=START + timedelta(days=1, microseconds=7),
    )


def a_code(digest: str = "d1", reach: TokenReach = FULL_REACH) -> AuthorizationCode:
    return AuthorizationCode(
        digest=digest,
        client_id="c1",
        client_name="A client",
        redirect_uri="http://127.0.0.1:7/callback",
        challenge="c" * 43,
        person=ALICE_OF_ACME,
        reach=reach,
        expires_at=START + timedelta(seconds=60),
    )


def a_grant(grant_id: str = "g1", *, person: Person = ALICE_OF_ACME, days: int = 0) -> OAuthGrant:
    return OAuthGrant(
        id=grant_id,
        client_id="c1",
        client_name="A client",
        person=person,
        reach=TokenReach(read_only=True, vaults=frozenset({"v1", "v2"})),
        family="f" * 64,
        refresh="r1",
        access=(AccessDigest(digest="a1", expires_at=START + timedelta(hours=1)),),
        created_at=START + timedelta(days=days),
        expires_at=START + timedelta(days=90),
    )


@pytest.fixture
def clients(store: str, request: pytest.FixtureRequest) -> OAuthClientStore:
    if store == FAKE:
        return InMemoryOAuthClients()
    return DynamoOAuthClients(request.getfixturevalue("new_table")("ControlTable"))


@pytest.fixture
def grants(store: str, request: pytest.FixtureRequest) -> OAuthGrantStore:
    if store == FAKE:
        return InMemoryOAuthGrants()
    return DynamoOAuthGrants(request.getfixturevalue("new_table")("ControlTable"))


@pytest.fixture
def sessions(store: str, request: pytest.FixtureRequest) -> BrowserSessionStore:
    if store == FAKE:
        return InMemoryBrowserSessions()
    return DynamoBrowserSessions(request.getfixturevalue("new_table")("ControlTable"))


@pytest.fixture
def users(store: str, request: pytest.FixtureRequest) -> LocalUserStore:
    if store == FAKE:
        return InMemoryLocalUsers()
    return DynamoLocalUsers(request.getfixturevalue("new_table")("ControlTable"))


def test_a_client_is_read_back_whatever_its_id_and_replaced(clients: OAuthClientStore) -> None:
    address = "https://client.example/" + "x" * 1_900
    for client_id in ("c1", address):
        clients.put(a_client(client_id))
        assert clients.find(client_id) == a_client(client_id)

    renamed = replace(a_client(), name="Another name")
    clients.put(renamed)

    assert clients.find("c1") == renamed
    assert clients.find("c2") is None


@pytest.mark.parametrize("reach", [FULL_REACH, TokenReach(read_only=True, vaults=frozenset())])
def test_a_code_is_read_back(grants: OAuthGrantStore, reach: TokenReach) -> None:
    code = a_code(reach=reach)

    grants.add_code(code)

    assert grants.find_code("d1") == code
    assert grants.find_code("d2") is None


def test_a_code_is_exchanged_once_and_remembers_for_what(grants: OAuthGrantStore) -> None:
    grants.add_code(a_code())

    grants.exchange(a_code(), a_grant("g1"))
    with pytest.raises(ConflictError):
        grants.exchange(a_code(), a_grant("g2"))

    assert grants.find_code("d1") == replace(a_code(), grant="g1")
    assert grants.find("g1") == a_grant("g1")
    assert grants.find("g2") is None


def test_a_code_that_was_never_given_is_exchanged_for_nothing(grants: OAuthGrantStore) -> None:
    with pytest.raises(ConflictError):
        grants.exchange(a_code(), a_grant())

    assert grants.find("g1") is None


def kept(grants: OAuthGrantStore, grant: OAuthGrant) -> OAuthGrant:
    grants.add_code(a_code(f"code-of-{grant.id}"))
    grants.exchange(a_code(f"code-of-{grant.id}"), grant)
    return grant


def test_tokens_are_renewed_from_those_that_are_good_only(grants: OAuthGrantStore) -> None:
    first = kept(grants, a_grant())
    second = first.renewed(refresh="r2", access=())

    grants.renew(first, second)
    with pytest.raises(ConflictError):
        grants.renew(first, first.renewed(refresh="r3", access=()))

    assert grants.find("g1") == second


def test_a_grant_that_has_ended_is_not_renewed(grants: OAuthGrantStore) -> None:
    grant = kept(grants, a_grant())

    grants.remove(grant)
    grants.remove(grant)

    with pytest.raises(ConflictError):
        grants.renew(grant, grant.renewed(refresh="r2", access=()))
    assert grants.find("g1") is None
    assert grants.of_user(ACME, ALICE) == []


def test_people_see_what_they_granted_newest_first_and_nothing_of_others(
    grants: OAuthGrantStore,
) -> None:
    first, second = kept(grants, a_grant("g1")), kept(grants, a_grant("g2", days=1))
    kept(grants, a_grant("g3", person=replace(ALICE_OF_ACME, user=BOB)))
    kept(grants, a_grant("g4", person=replace(ALICE_OF_ACME, tenant=GLOBEX)))

    assert grants.of_user(ACME, ALICE) == [second, first]
    assert [grant.id for grant in grants.of_tenant(ACME)] == ["g2", "g1", "g3"]


def a_session(digest: str = "s1") -> BrowserSession:
    return BrowserSession(
        digest=digest, person=ALICE_OF_ACME, expires_at=START + timedelta(hours=8, microseconds=1)
    )


def test_a_session_is_read_back_until_it_is_ended(sessions: BrowserSessionStore) -> None:
    sessions.add(a_session())
    assert sessions.find("s1") == a_session()
    assert sessions.find("s2") is None

    sessions.remove("s1")

    assert sessions.find("s1") is None


@pytest.mark.parametrize("grant_id", ["", "x" * 3_000])
def test_an_id_that_can_be_none_has_no_grant(grants: OAuthGrantStore, grant_id: str) -> None:
    assert grants.find(grant_id) is None


def test_what_is_good_once_is_spent_once(sessions: BrowserSessionStore) -> None:
    sessions.spend("m1", until=START)
    sessions.spend("m2", until=START)

    with pytest.raises(ConflictError):
        sessions.spend("m1", until=START)


def test_people_are_read_back_replaced_listed_and_forgotten(users: LocalUserStore) -> None:
    bob = LocalUser(person=replace(ALICE_OF_ACME, user=BOB), password="hash-of-bob")
    users.put(bob)
    users.put(LocalUser(person=ALICE_OF_ACME, password="old"))
    alice = LocalUser(person=ALICE_OF_ACME, password="new")
    users.put(alice)

    assert users.find(ALICE) == alice
    assert users.all() == [alice, bob]
    users.remove(BOB)
    users.remove(UserId("nobody"))
    assert users.find(BOB) is None


@pytest.mark.dynamodb_local
def test_a_write_whose_answer_was_lost_is_no_theft(
    local_dynamodb: "DynamoDBClient", new_local_table: NewTable
) -> None:
    table = new_local_table("ControlTable")
    grants, sessions = DynamoOAuthGrants(table), DynamoBrowserSessions(table)
    sent: list[int] = []

    def lose_the_first_answer(attempts: int, **_: object) -> int | None:
        sent.append(attempts)
        return 0 if attempts == 1 else None

    # The stubs let a handler return nothing.
    handler: Any = lose_the_first_answer
    local_dynamodb.meta.events.register_first("needs-retry.dynamodb", handler)
    grant = kept(grants, a_grant())
    grants.renew(grant, grant.renewed(refresh="r2", access=()))
    sessions.add(a_session())
    sessions.spend("m1", until=START)

    assert sent == [1, 2] * 5
    found = grants.find("g1")
    assert found is not None
    assert found.refresh == "r2"
    with pytest.raises(ConflictError):
        sessions.spend("m1", until=START)


@pytest.mark.dynamodb_local
def test_of_several_exchanges_of_one_code_one_wins(new_local_table: NewTable) -> None:
    grants = DynamoOAuthGrants(new_local_table("ControlTable"))
    grants.add_code(a_code())

    outcomes = race(lambda number: grants.exchange(a_code(), a_grant(f"g{number}")))

    assert outcomes.count(None) == 1
    code = grants.find_code("d1")
    assert code is not None
    assert [grant.id for grant in grants.of_user(ACME, ALICE)] == [code.grant]


@pytest.mark.dynamodb_local
def test_of_several_renewals_from_one_token_one_wins(new_local_table: NewTable) -> None:
    grants = DynamoOAuthGrants(new_local_table("ControlTable"))
    grant = kept(grants, a_grant())

    outcomes = race(
        lambda number: grants.renew(grant, grant.renewed(refresh=f"new-{number}", access=()))
    )

    assert outcomes.count(None) == 1


@pytest.mark.dynamodb_local
def test_of_several_uses_at_once_one_is_the_first(new_local_table: NewTable) -> None:
    sessions = DynamoBrowserSessions(new_local_table("ControlTable"))

    assert race(lambda _: sessions.spend("m1", until=START)).count(None) == 1
