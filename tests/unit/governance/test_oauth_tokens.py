"""Codes and tokens: what they are exchanged for, once, and what ends when one is used again."""

import pytest

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import FULL_REACH, Role, TokenKind, TokenReach
from archivolt.domain.limits import (
    MAX_ACCESS_TOKENS_PER_GRANT,
    MAX_OAUTH_GRANTS,
    OAUTH_ACCESS_SECONDS,
    OAUTH_CODE_SECONDS,
    OAUTH_GRANT_DAYS,
)
from archivolt.domain.oauth import REFRESH_TOKENS, OAuthError
from tests.fakes.faults import FaultLine
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.oauth import PERSON, REDIRECT, VERIFIER, OAuthWorld

READ_ONE = TokenReach(read_only=True, vaults=frozenset({"v1"}))


@pytest.fixture
def world() -> OAuthWorld:
    return OAuthWorld()


def is_good(world: OAuthWorld, token: str) -> bool:
    try:
        world.tokens.verify(token)
    except UnauthenticatedError:
        return False
    return True


def test_a_code_becomes_tokens_that_speak_for_the_person_as_far_as_they_agreed(
    world: OAuthWorld,
) -> None:
    pair = world.pair(READ_ONE)

    caller = world.tokens.verify(pair.access)

    assert (caller.tenant, caller.user, caller.role) == (PERSON.tenant, PERSON.user, Role.VIEWER)
    assert (caller.kind, caller.reach) == (TokenKind.MCP, READ_ONE)
    assert pair.access not in str(pair.grant)
    assert pair.refresh not in str(pair.grant)


def test_a_code_that_comes_again_ends_what_it_gave(world: OAuthWorld) -> None:
    code = world.code()
    pair = world.exchange(code)

    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange(code)

    assert not is_good(world, pair.access)
    with pytest.raises(OAuthError, match="oauth_refresh"):
        world.renew(pair.refresh)


def test_a_code_that_comes_again_late_still_ends_what_it_gave(world: OAuthWorld) -> None:
    code = world.code()
    pair = world.exchange(code)
    world.clock.advance(seconds=OAUTH_CODE_SECONDS + 1)

    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange(code)

    assert not is_good(world, pair.access)


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "avc_other"},
        {"client_id": ""},
        {"redirect_uri": "http://127.0.0.1:7778/callback"},
        {"verifier": "w" * 64},
        {"verifier": ""},
        {"verifier": "v" * 42},
    ],
)
def test_a_code_is_bound_to_client_address_and_verifier_and_stays_good_for_its_own(
    world: OAuthWorld, changed: dict[str, str]
) -> None:
    code = world.code()

    with pytest.raises(OAuthError) as refused:
        world.exchange(code, **changed)

    assert refused.value.error == "invalid_grant"
    assert is_good(world, world.exchange(code).access)


def test_whoever_lacks_the_verifier_ends_nothing_either(world: OAuthWorld) -> None:
    code = world.code()
    pair = world.exchange(code)

    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange(code, verifier="w" * 64)

    assert is_good(world, pair.access)


def test_a_code_of_another_client_is_refused_even_with_its_verifier(world: OAuthWorld) -> None:
    code = world.code()
    world.client = world.registered(REDIRECT)

    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange(code)


def test_a_code_lives_a_minute(world: OAuthWorld) -> None:
    code = world.code()
    world.clock.advance(seconds=OAUTH_CODE_SECONDS)

    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange(code)


def test_newer_clients_name_no_address_with_the_code(world: OAuthWorld) -> None:
    assert is_good(world, world.exchange(world.code(), redirect_uri="").access)


def test_an_unknown_code_is_refused(world: OAuthWorld) -> None:
    with pytest.raises(OAuthError, match="oauth_code"):
        world.exchange("x" * 43, verifier=VERIFIER)


def test_a_renewal_gives_new_tokens_of_the_same_grant(world: OAuthWorld) -> None:
    first = world.pair(READ_ONE)

    second = world.renew(first.refresh)

    assert {first.access, first.refresh}.isdisjoint({second.access, second.refresh})
    one, other = world.tokens.verify(first.access), world.tokens.verify(second.access)
    assert one == other
    assert second.grant.reach == READ_ONE
    assert is_good(world, world.renew(second.refresh).access)


def test_a_refresh_token_that_comes_again_ends_the_whole_family(world: OAuthWorld) -> None:
    first = world.pair()
    second = world.renew(first.refresh)
    third = world.renew(second.refresh)

    with pytest.raises(OAuthError) as refused:
        world.renew(first.refresh)

    assert refused.value.error == "invalid_grant"
    assert not any(is_good(world, each.access) for each in (first, second, third))
    with pytest.raises(OAuthError, match="oauth_refresh"):
        world.renew(third.refresh)


def test_another_grant_of_the_same_client_outlives_a_theft(world: OAuthWorld) -> None:
    other, stolen = world.pair(), world.pair()
    world.renew(stolen.refresh)
    with pytest.raises(OAuthError, match="oauth_refresh"):
        world.renew(stolen.refresh)

    assert is_good(world, world.renew(other.refresh).access)


def test_a_made_up_token_that_names_a_grant_ends_nothing(world: OAuthWorld) -> None:
    pair = world.pair()
    grant_id = REFRESH_TOKENS.id_of(pair.refresh)

    for made_up in (REFRESH_TOKENS.new(grant_id), pair.access, pair.refresh[:-1], ""):
        with pytest.raises(OAuthError, match="oauth_refresh"):
            world.renew(made_up)

    assert is_good(world, pair.access)
    assert is_good(world, world.renew(pair.refresh).access)


def test_another_client_cannot_renew(world: OAuthWorld) -> None:
    pair = world.pair()

    with pytest.raises(OAuthError, match="oauth_refresh"):
        world.tokens.renew(pair.refresh, "avc_other")

    assert is_good(world, world.renew(pair.refresh).access)


def test_an_access_token_lives_an_hour_and_a_grant_ninety_days(world: OAuthWorld) -> None:
    pair = world.pair()
    world.clock.advance(seconds=OAUTH_ACCESS_SECONDS - 1)
    assert is_good(world, pair.access)
    world.clock.advance(seconds=1)
    assert not is_good(world, pair.access)

    world.clock.advance(days=OAUTH_GRANT_DAYS - 1)
    late = world.renew(pair.refresh)
    world.clock.advance(days=1)

    assert not is_good(world, late.access)
    with pytest.raises(OAuthError, match="oauth_refresh"):
        world.renew(late.refresh)


def test_calls_on_their_way_go_through_while_tokens_are_renewed(world: OAuthWorld) -> None:
    pairs = [world.pair()]
    for _ in range(MAX_ACCESS_TOKENS_PER_GRANT):
        pairs.append(world.renew(pairs[-1].refresh))

    good = [is_good(world, pair.access) for pair in pairs]

    assert good == [False] + [True] * MAX_ACCESS_TOKENS_PER_GRANT


@pytest.mark.parametrize("which", ["access", "refresh"])
def test_a_client_ends_its_grant_by_either_token(world: OAuthWorld, which: str) -> None:
    pair = world.pair()
    token = getattr(pair, which)

    world.tokens.revoke(token, "avc_other")
    assert is_good(world, pair.access)
    world.tokens.revoke(token, world.client.id)
    world.tokens.revoke(token, world.client.id)

    assert not is_good(world, pair.access)


def test_an_access_token_with_anything_changed_is_nobodys(world: OAuthWorld) -> None:
    token = world.pair().access
    changed = [
        token[:place] + ("a" if token[place] != "a" else "b") + token[place + 1 :]
        for place in range(len(token))
    ]

    for text in (*changed, token + "a", token[:-1], token.replace("avo_", "avr_"), token + "\n"):
        assert not is_good(world, text)


def test_a_refresh_token_opens_no_door(world: OAuthWorld) -> None:
    assert not is_good(world, world.pair().refresh)


def test_a_person_keeps_so_many_grants_and_the_oldest_end(world: OAuthWorld) -> None:
    first = world.pair()
    for _ in range(MAX_OAUTH_GRANTS - 1):
        world.clock.advance(seconds=1)
        world.pair()
    world.clock.advance(seconds=1)
    last = world.pair(FULL_REACH)

    assert not is_good(world, first.access)
    assert is_good(world, last.access)
    assert len(world.grants.of_user(PERSON.tenant, PERSON.user)) == MAX_OAUTH_GRANTS


def test_tokens_are_told_even_if_old_grants_cannot_be_ended_now() -> None:
    line = FaultLine()
    world = OAuthWorld(grants=line.across(InMemoryOAuthGrants()))
    line.take_down("of_user")

    assert is_good(world, world.pair().access)
