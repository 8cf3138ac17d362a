"""Who signs in on this machine: by a link, or by a password that a command kept."""

import io
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from archivolt.adapters.jwt.keys import LocalKey
from archivolt.adapters.jwt.verifier import JwtVerifier, TokenRules
from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.oauth import LocalUser, Person
from archivolt.governance.sign_in.local import LINK_AUDIENCE
from archivolt.governance.sign_in.passwords import matches
from archivolt_local import people
from archivolt_local.cli import main
from archivolt_local.tokens import LOCAL_AUDIENCE, LOCAL_ISSUER, TokenSubject, sign_in_link
from archivolt_local.user_records import change
from tests.fakes.clock import FrozenClock
from tests.fakes.oauth import InMemoryLocalUsers, InMemoryOAuthGrants
from tests.oauth import OAuthWorld

KEY = "k" * 32
PASSWORD = "a password " + "of the test"


def verifier(clock: FrozenClock, audience: str) -> JwtVerifier:
    rules = TokenRules(
        issuer=LOCAL_ISSUER,
        audience=audience,
        mcp_audience=audience,
        tenant_claim="tenant",
        role_claim="role",
    )
    return JwtVerifier(LocalKey(KEY), rules, clock)


def test_a_link_is_for_signing_in_within_an_hour_and_for_nothing_else() -> None:
    clock = FrozenClock()
    link = sign_in_link("http://127.0.0.1:8080", TokenSubject(), KEY, clock)
    (token,) = parse_qs(urlsplit(link).query)["token"]

    assert link.startswith("http://127.0.0.1:8080/oauth/link?token=")
    assert verifier(clock, LINK_AUDIENCE).verify(token).role is Role.TENANT_ADMIN
    with pytest.raises(UnauthenticatedError):
        verifier(clock, LOCAL_AUDIENCE).verify(token)
    clock.advance(hours=1, minutes=1)
    with pytest.raises(UnauthenticatedError):
        verifier(clock, LINK_AUDIENCE).verify(token)


def test_people_are_kept_listed_and_removed() -> None:
    users, grants = InMemoryLocalUsers(), InMemoryOAuthGrants()
    record = {"name": "ann", "tenant": "local", "role": "viewer", "password": "hash"}

    added = change(users, grants, ["add"], json.dumps(record))

    assert added == change(users, grants, ["list"], "")
    assert added == [{"name": "ann", "tenant": "local", "role": "viewer"}]
    assert change(users, grants, ["remove", "ann", "local"], "") == []
    assert change(users, grants, ["remove", "ann", "local"], "") == []


@pytest.mark.parametrize("has_password", [True, False])
def test_the_programs_of_who_is_removed_are_out_and_those_of_others_stay(
    has_password: bool,
) -> None:
    users, grants, clock = InMemoryLocalUsers(), InMemoryOAuthGrants(), FrozenClock()
    oauth = OAuthWorld(clock, grants)
    ann, bob = (
        Person(tenant=TenantId("local"), user=UserId(name), role=Role.VIEWER)
        for name in ("ann", "bob")
    )
    if has_password:
        users.put(LocalUser(person=ann, password="hash"))
    gone, stays = oauth.pair(person=ann), oauth.pair(person=bob)

    change(users, grants, ["remove", "ann", "local"], "")

    with pytest.raises(UnauthenticatedError):
        oauth.tokens.verify(gone.access)
    assert oauth.tokens.verify(stays.access).user == "bob"


class AskedStack:
    """A running stack that notes what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.told = ""
        monkeypatch.setattr(people, "running_stack", self.running)
        monkeypatch.setattr(people, "ask", self.ask)

    def running(self, data: object) -> dict[str, str]:
        return {"url": "http://127.0.0.1:8080"}

    def ask(self, stack: object, module: str, *arguments: str, told: str = "") -> object:
        self.asked.append(arguments)
        self.told = told
        return [{"name": "ann", "tenant": "local", "role": "viewer"}]


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> AskedStack:
    return AskedStack(monkeypatch)


def test_the_command_hands_on_a_hash_and_never_the_password(
    stack: AskedStack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))

    assert main(["user", "add", "ann", "--role", "devops", "--data", str(tmp_path)]) == 0

    record = json.loads(stack.told)
    assert stack.asked == [("add",)]
    assert (record["name"], record["tenant"], record["role"]) == ("ann", "local", "devops")
    assert matches(PASSWORD, record["password"])
    assert PASSWORD not in stack.told


@pytest.mark.parametrize(
    ("name", "password", "said"),
    [("ann", "short", "10 to 200 characters"), ("a b", PASSWORD, "without spaces"), ("", "", "")],
)
def test_what_cannot_be_kept_is_said(
    stack: AskedStack,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    password: str,
    said: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))

    assert main(["user", "add", name, "--data", str(tmp_path)]) == 1

    assert said in capsys.readouterr().err
    assert stack.asked == []


def test_the_command_lists_and_removes(
    stack: AskedStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["user", "list", "--data", str(tmp_path)]) == 0
    assert "ann  viewer of local" in capsys.readouterr().out
    assert main(["user", "remove", "ann", "--data", str(tmp_path)]) == 0
    assert stack.asked == [("list",), ("remove", "ann", "local")]
    said = capsys.readouterr().out
    assert "programs they let in are out" in said
    assert "personal access tokens and vaults stay" in said


def test_people_need_a_running_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["sign-in"], ["user", "list"]):
        assert main([*command, "--data", str(tmp_path)]) == 1
        assert "No stack runs" in capsys.readouterr().err
