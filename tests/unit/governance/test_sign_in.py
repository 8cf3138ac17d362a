"""People in a browser: passwords, links, sessions, and how often anybody may try."""

from datetime import timedelta

import pytest

from archivolt.domain.errors import ForbiddenError, InvalidRequestError, RateLimitedError
from archivolt.domain.identity import Role, TokenKind
from archivolt.domain.limits import (
    BROWSER_SESSION_SECONDS,
    MAX_PASSWORD_CHARS,
    MAX_SIGN_INS_PER_ADDRESS,
    MAX_SIGN_INS_PER_NAME,
    MIN_PASSWORD_CHARS,
    SIGN_IN_WINDOW_SECONDS,
)
from archivolt.domain.oauth import LocalUser, Person
from archivolt.governance.sign_in.local import LocalSignIn
from archivolt.governance.sign_in.passwords import NOBODYS, Cost, hashed, matches
from archivolt.governance.sign_in.sessions import BrowserSessions
from archivolt.governance.throttle import Throttle
from tests.builders import ACME, ALICE, principal
from tests.fakes.clock import FrozenClock
from tests.fakes.governance import InMemoryRates, KnownTokens
from tests.fakes.oauth import InMemoryBrowserSessions, InMemoryLocalUsers

PERSON = Person(tenant=ACME, user=ALICE, role=Role.DEVOPS)
PASSWORD = "correct " + "horse battery"
CHEAP = Cost(n=2, r=1, p=1)
KEPT = hashed(PASSWORD, CHEAP)
# One that is too long is refused at once, where a test makes many attempts.
UNHASHED = "x" * (MAX_PASSWORD_CHARS + 1)


class SignInWorld:
    """Alice with a password, and a link for her."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.store = InMemoryBrowserSessions()
        self.sessions = BrowserSessions(self.store, self.clock)
        users = InMemoryLocalUsers()
        users.put(LocalUser(person=PERSON, password=KEPT))
        links = KnownTokens({"link": principal(ALICE, role=Role.DEVOPS)})
        throttle = Throttle(InMemoryRates(), self.clock)
        self.local = LocalSignIn(users, self.store, links, throttle, self.clock)

    def attempt(self, name: str, password: str, *, address: str = "192.0.2.1") -> Person:
        return self.local.by_password(name, password, address=address)


@pytest.fixture
def world() -> SignInWorld:
    return SignInWorld()


def test_who_has_the_password_is_signed_in(world: SignInWorld) -> None:
    assert world.attempt(ALICE, PASSWORD) == PERSON


@pytest.mark.parametrize(
    ("name", "password"),
    [
        (ALICE, PASSWORD + "!"),
        ("Alice", PASSWORD),
        ("", ""),
        ("a#b", PASSWORD),
        ("x" * 10_000, UNHASHED),
        (ALICE, "\ud800" * 12),
    ],
)
def test_nobody_else_is_and_is_told_the_same(world: SignInWorld, name: str, password: str) -> None:
    with pytest.raises(ForbiddenError, match="sign_in_failed"):
        world.attempt(name, password)


def test_a_name_is_tried_so_often_and_then_not_even_with_the_password(world: SignInWorld) -> None:
    for number in range(MAX_SIGN_INS_PER_NAME):
        with pytest.raises(ForbiddenError):
            world.attempt(ALICE, UNHASHED, address=f"192.0.2.{number}")

    with pytest.raises(RateLimitedError):
        world.attempt(ALICE, PASSWORD)

    world.clock.advance(seconds=SIGN_IN_WINDOW_SECONDS)
    assert world.attempt(ALICE, PASSWORD) == PERSON


def test_one_address_tries_so_many_names(world: SignInWorld) -> None:
    for number in range(MAX_SIGN_INS_PER_ADDRESS):
        with pytest.raises(ForbiddenError):
            world.attempt(f"name-{number}", UNHASHED)

    with pytest.raises(RateLimitedError):
        world.attempt(ALICE, PASSWORD)
    assert world.attempt(ALICE, PASSWORD, address="192.0.2.2") == PERSON


def test_a_link_signs_in_once_and_looking_at_it_does_not_use_it_up(world: SignInWorld) -> None:
    assert world.local.who("link") == world.local.who("link") == PERSON
    assert world.local.by_link("link") == PERSON

    with pytest.raises(ForbiddenError, match="link_spent"):
        world.local.by_link("link")
    with pytest.raises(ForbiddenError, match="link_spent"):
        world.local.who("another")


def test_passwords_are_hashed_with_salt_at_a_cost_that_is_kept_with_them() -> None:
    usual = hashed(PASSWORD)

    assert usual.startswith(f"scrypt${2**15}$8$3$")
    assert hashed(PASSWORD, CHEAP) != KEPT
    assert PASSWORD not in usual + KEPT
    assert matches(PASSWORD, usual)
    assert matches(PASSWORD, KEPT)
    assert not matches(PASSWORD + "!", KEPT)
    assert not matches("", NOBODYS)


@pytest.mark.parametrize("length", [MIN_PASSWORD_CHARS - 1, MAX_PASSWORD_CHARS + 1])
def test_a_password_has_a_length(length: int) -> None:
    with pytest.raises(InvalidRequestError, match="password_length"):
        hashed("x" * length)


def test_a_session_is_known_by_its_secret_for_eight_hours(world: SignInWorld) -> None:
    secret = world.sessions.begin(PERSON)
    found = world.sessions.find(secret)

    assert found is not None
    assert found.person == PERSON
    assert (found.principal.user, found.principal.kind) == (ALICE, TokenKind.INTERACTIVE)
    assert found.principal.role is Role.DEVOPS
    assert world.store.find(secret) is None
    assert world.sessions.find(found.session.digest) is None
    world.clock.advance(seconds=BROWSER_SESSION_SECONDS)
    assert world.sessions.find(secret) is None


def test_a_session_that_was_ended_is_nobodys(world: SignInWorld) -> None:
    secret = world.sessions.begin(PERSON)

    world.sessions.end(secret)

    assert world.sessions.find(secret) is None
    assert world.sessions.find("") is None


def test_a_form_is_of_its_own_session_only(world: SignInWorld) -> None:
    one, other = (world.sessions.find(world.sessions.begin(PERSON)) for _ in range(2))
    assert one is not None
    assert other is not None

    assert one.sent(one.form_token)
    assert not any(one.sent(text) for text in ("", other.form_token, "é", "\ud800"))
    assert timedelta(0) < one.session.expires_at - world.clock.now()
