"""Connecting an account at a server of others, and calling it with what came of that."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Event, Thread
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ArchivoltError, ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.federation import (
    McpClientSettings,
    McpServer,
    McpTarget,
    McpTool,
    McpTransport,
)
from archivolt.domain.federation_limits import (
    MCP_CLIENT_SECONDS,
    MCP_NEW_CLIENT_SECONDS,
    MCP_RENEW_SECONDS,
    MCP_SIGN_IN_SECONDS,
)
from archivolt.domain.identity import Principal, Role
from archivolt.domain.mcp_accounts import AccountNeededError, McpAccount
from archivolt.federation.calls import McpCalls
from archivolt.federation.sign_ins import SignInAnswer
from archivolt.federation.targets import place_of
from tests.account_world import AccountWorld, connected
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.fakes.authorization_server import SECRET, SERVER
from tests.fakes.clock import FrozenClock
from tests.fakes.federation import InMemoryMcpServers, ScriptedMcpClient, ScriptedServer
from tests.fakes.governance import ReversibleBox
from tests.oauth import PUBLIC_URL

OURS = McpServer(id="ours", enabled=True, transport=McpTransport.HTTP, url=SERVER, tools=())
PLACE = place_of(OURS)
CALLBACK = f"{PUBLIC_URL}/oauth/mcp/callback/{PLACE}"
PAGE = f"{PUBLIC_URL}/oauth/mcp/ours"


class Accounts(AccountWorld):
    """Alice of Acme, and a server that she signs in to; `tokens` are those that it takes."""

    def __init__(
        self,
        server: McpServer = OURS,
        public_url: str = PUBLIC_URL,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(InMemoryMcpServers(), FrozenClock(), public_url=public_url, pause=pause)
        self.servers.save(ACME, server)
        self.alice = principal(ALICE)
        self.sent: list[str] = []
        self.takes: set[str] | None = None

    def begin(self, caller: Principal | None = None) -> str:
        return self.accounts.begin(caller or self.alice, "ours").address

    def connect(
        self, caller: Principal | None = None, changed: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        answer = self.login.signs_in(self.begin(caller), **changed)
        self.accounts.finish(caller or self.alice, PLACE, read(answer))

    def call(self, server: McpServer = OURS, caller: Principal | None = None) -> str:
        return self.access.using(caller or self.alice, server, self._asked)

    def kept(self) -> McpAccount:
        kept = self.store.find(ACME, ALICE, "ours")
        assert kept is not None
        return kept

    def _asked(self, target: McpTarget) -> str:
        token = target.values.get("Authorization", "").removeprefix("Bearer ")
        self.sent.append(token)
        if self.takes is not None and token not in self.takes:
            raise AccountNeededError(target.server)
        return token


def read(answer: dict[str, str]) -> SignInAnswer:
    return SignInAnswer(
        state=answer.get("state", ""),
        code=answer.get("code", ""),
        issuer=answer.get("iss", ""),
        error=answer.get("error", ""),
    )


def failure_of(error: ArchivoltError) -> tuple[str, object]:
    return error.code, error.details.get("reason")


@pytest.fixture
def world() -> Accounts:
    return Accounts()


def test_a_person_is_sent_to_who_lets_them_in_and_is_connected_when_they_are_back(
    world: Accounts,
) -> None:
    address = world.begin()
    asked = dict(parse_qsl(urlsplit(address).query))

    assert address.startswith("https://login.test/authorize?response_type=code&")
    assert (asked["client_id"], asked["redirect_uri"]) == ("client-1", CALLBACK)
    assert (asked["scope"], asked["resource"]) == ("read", SERVER)
    assert world.login.registered == [
        {
            "client_name": "Archivolt",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "web",
            "token_endpoint_auth_method": "none",
        }
    ]
    connected = world.accounts.finish(world.alice, PLACE, read(world.login.signs_in(address)))

    assert connected == OURS
    assert world.accounts.standing(world.alice, "ours").state == "connected"
    assert world.call() == "access-1"
    assert world.login.forms[0]["resource"] == SERVER
    assert world.asked == []


def test_nothing_of_a_sign_in_or_an_account_is_kept_in_the_clear(world: Accounts) -> None:
    world.login.client = {"client_secret": SECRET, "token_endpoint_auth_method": None}
    pending = world.login.signs_in(world.begin())
    verifier_is_sealed = repr(world.store.__dict__)
    world.accounts.finish(world.alice, PLACE, read(pending))

    for kept in (verifier_is_sealed, repr(world.store.__dict__), repr(world.kept())):
        assert "access-1" not in kept
        assert "refresh-1" not in kept
        assert SECRET not in kept
        assert pending["state"] not in kept
    assert world.login.credentials == [f"basic client-1:{SECRET}"]


def test_a_sign_in_is_good_once_for_a_while_and_for_who_began_it(world: Accounts) -> None:
    answer = read(world.login.signs_in(world.begin()))
    other_place = place_of(replace(OURS, url="https://other.test/mcp"))
    strangers = (principal(BOB), principal(ALICE, tenant=GLOBEX))

    for caller, place in ((strangers[0], PLACE), (strangers[1], PLACE), (world.alice, other_place)):
        with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
            world.accounts.finish(caller, place, answer)
    with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
        world.accounts.finish(world.alice, PLACE, replace(answer, state="made up"))
    world.accounts.finish(world.alice, PLACE, answer)
    with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
        world.accounts.finish(world.alice, PLACE, answer)

    late = read(world.login.signs_in(world.begin()))
    world.clock.advance(seconds=MCP_SIGN_IN_SECONDS)
    with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
        world.accounts.finish(world.alice, PLACE, late)
    assert len(world.login.forms) == 1


@pytest.mark.parametrize(
    ("changed", "code", "reason"),
    [
        ({"iss": "https://login.test/evil"}, "mcp_sign_in_unusable", "oauth_issuer"),
        ({"iss": ""}, "mcp_sign_in_unusable", "oauth_issuer"),
        ({"iss": "\ud800"}, "mcp_sign_in_unusable", "oauth_issuer"),
        ({"error": "access_denied", "code": ""}, "mcp_sign_in_refused", "oauth_declined"),
        ({"error": "<b>", "code": ""}, "mcp_sign_in_refused", "oauth_unsaid"),
        ({"code": "made up"}, "mcp_sign_in_refused", "invalid_grant"),
    ],
)
def test_an_answer_of_another_or_without_a_yes_connects_nothing(
    world: Accounts, changed: dict[str, str], code: str, reason: str
) -> None:
    with pytest.raises(ConflictError) as refused:
        world.connect(changed=changed)

    assert failure_of(refused.value) == (code, reason)
    assert world.store.of_user(ACME, ALICE) == []


def test_who_signs_in_while_the_server_is_removed_is_not_connected_and_their_tokens_end(
    world: Accounts,
) -> None:
    def remove_and_make_anew() -> None:
        assert world.servers.delete(ACME, "ours")
        world.store.forget_server(ACME, "ours")
        world.servers.save(ACME, OURS)

    world.login.before_tokens = remove_and_make_anew
    with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
        world.connect()

    assert world.store.of_user(ACME, ALICE) == []
    assert world.login.revoked == ["refresh-1"]
    assert world.asked == []


def test_a_server_that_says_no_issuer_need_not_but_may_not_say_another(world: Accounts) -> None:
    world.login.metadata = {"authorization_response_iss_parameter_supported": None}

    world.connect(changed={"iss": ""})
    with pytest.raises(ConflictError, match="mcp_sign_in_unusable"):
        world.connect(changed={"iss": "https://evil.test"})


def test_a_client_is_registered_once_until_nobody_knows_it_any_more(world: Accounts) -> None:
    world.begin()
    world.connect()
    world.clock.advance(seconds=MCP_NEW_CLIENT_SECONDS + 1)
    world.begin(principal(BOB))
    assert len(world.login.registered) == 1

    world.login.answers["https://login.test/token"] = httpx2.Response(
        401, json={"error": "invalid_client"}
    )
    with pytest.raises(ConflictError):
        world.connect()
    world.begin()
    assert len(world.login.registered) == 2
    world.clock.advance(seconds=MCP_NEW_CLIENT_SECONDS + 1)
    world.begin()
    assert len(world.login.registered) == 3
    world.login.metadata = {"issuer": "https://login.test/acme", "registration_endpoint": None}
    world.begin()
    world.clock.advance(seconds=MCP_CLIENT_SECONDS)
    with pytest.raises(ConflictError, match="mcp_client_needed") as needed:
        world.begin()
    assert needed.value.details["address"] == CALLBACK


def test_what_an_administrator_registered_goes_before_all_else() -> None:
    sealed = ReversibleBox().seal(SECRET, tenant=ACME, field="mcp-client:ours")
    settings = McpClientSettings(id="acme's", sealed=sealed, scope="a b")
    world = Accounts(replace(OURS, oauth=settings))
    world.login.metadata = {
        "client_id_metadata_document_supported": True,
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    }

    asked = dict(parse_qsl(urlsplit(world.begin()).query))
    world.connect()

    assert (asked["client_id"], asked["scope"]) == ("acme's", "a b")
    assert world.login.credentials == [f"post acme's:{SECRET}"]
    assert world.login.registered == []


@pytest.mark.parametrize(
    ("public_url", "client_id"),
    [
        (PUBLIC_URL, f"{PUBLIC_URL}/oauth/mcp/client/{PLACE}"),
        ("http://127.0.0.1:8000", "client-1"),
    ],
)
def test_we_are_an_address_to_who_reads_it_and_register_otherwise(
    public_url: str, client_id: str
) -> None:
    world = Accounts(public_url=public_url)
    world.login.metadata = {"client_id_metadata_document_supported": True}

    world.connect()

    assert world.login.credentials == [f"post {client_id}:"]


def test_tokens_are_renewed_before_they_end_and_with_the_newest(world: Accounts) -> None:
    world.connect()
    world.clock.advance(minutes=58)
    assert world.call() == "access-1"

    world.clock.advance(minutes=1, seconds=30)
    assert (world.call(), world.call()) == ("access-2", "access-2")
    world.clock.advance(hours=1)
    assert world.call() == "access-3"
    assert [form.get("refresh_token") for form in world.login.forms[1:]] == [
        *("refresh-1", "refresh-2")
    ]
    assert world.kept().edition == 3


def test_a_token_without_an_end_is_renewed_when_it_is_refused(world: Accounts) -> None:
    world.login.seconds = None
    world.login.rotates = False
    world.login.token = {"refresh_token": "the same"}
    world.login.good_refresh.add("the same")
    world.connect()
    world.clock.advance(days=400)
    assert world.call() == "access-1"

    world.takes = {"access-2"}
    assert world.call() == "access-2"
    assert world.sent == ["access-1", "access-1", "access-2"]


def test_a_refresh_token_stays_where_no_new_one_comes(world: Accounts) -> None:
    world.connect()
    world.login.rotates = False
    world.login.token = {"refresh_token": None}
    for _ in range(2):
        world.clock.advance(hours=1)
        world.call()

    assert [form.get("refresh_token") for form in world.login.forms[1:]] == ["refresh-1"] * 2


def test_who_is_not_connected_is_told_where_to_and_no_call_is_repeated(world: Accounts) -> None:
    world.takes = {"access-1"}
    with pytest.raises(AccountNeededError) as needed:
        world.call()

    assert needed.value.details == {"server": "ours", "address": PAGE}
    assert world.sent == [""]
    world.connect()
    assert world.call() == "access-1"
    with pytest.raises(AccountNeededError):
        world.call(caller=principal(BOB))


def test_a_key_of_the_tenant_that_is_refused_is_nobodys_account(world: Accounts) -> None:
    sealed = ReversibleBox().seal("key", tenant=ACME, field="mcp:ours:X-Key")
    world.takes = set()
    with pytest.raises(ArchivoltError) as refused:
        world.call(replace(OURS, sealed={"X-Key": sealed}))

    assert failure_of(refused.value) == ("mcp_server_unavailable", "mcp_key_refused")


def test_an_account_goes_before_a_key_of_the_tenant(world: Accounts) -> None:
    sealed = ReversibleBox().seal("Bearer key", tenant=ACME, field="mcp:ours:authorization")
    keyed = replace(OURS, sealed={"authorization": sealed})
    world.connect()
    targets: list[McpTarget] = []

    world.access.using(world.alice, keyed, targets.append)

    assert targets[0].values == {"Authorization": "Bearer access-1"}
    assert "access-1" not in repr(targets)


def test_a_refresh_token_that_is_no_good_asks_the_person_and_nobody_twice(
    world: Accounts,
) -> None:
    world.connect()
    world.login.good_refresh.clear()
    world.clock.advance(hours=1)
    for _ in range(2):
        with pytest.raises(AccountNeededError):
            world.call()

    assert len(world.login.forms) == 2
    standing = world.accounts.standing(world.alice, "ours")
    assert standing.state == "sign_in_needed"
    assert world.kept().sealed == ""
    world.connect()
    assert world.call() == "access-3"


def test_a_token_that_is_refused_and_cannot_be_renewed_is_let_go(world: Accounts) -> None:
    world.login.token = {"refresh_token": None}
    world.connect()
    world.takes = set()
    with pytest.raises(AccountNeededError):
        world.call()

    assert world.accounts.standing(world.alice, "ours").state == "sign_in_needed"


def test_who_lets_in_but_does_not_answer_now_costs_nobody_their_account(world: Accounts) -> None:
    world.connect()
    world.clock.advance(hours=1)
    world.login.answers["https://login.test/token"] = httpx2.Response(503)
    with pytest.raises(ArchivoltError) as failed:
        world.call()
    assert failure_of(failed.value) == ("mcp_server_unavailable", "mcp_http_status")

    del world.login.answers["https://login.test/token"]
    assert world.call() == "access-2"


def test_a_scope_that_is_lacking_is_asked_for_beside_what_is_had(world: Accounts) -> None:
    world.connect()

    def lacks(_: McpTarget) -> str:
        raise AccountNeededError("ours", scope="write read", lacks_scope=True)

    with pytest.raises(AccountNeededError) as needed:
        world.access.using(world.alice, OURS, lacks)

    assert needed.value.details["address"] == PAGE
    standing = world.accounts.standing(world.alice, "ours")
    assert (standing.state, world.kept().wanted) == ("sign_in_needed", "write read")
    assert world.call() == "access-1"
    address = world.begin()
    assert dict(parse_qsl(urlsplit(address).query))["scope"] == "read write"
    world.connect()
    assert world.accounts.standing(world.alice, "ours").state == "connected"


def test_of_many_calls_one_renews_the_tokens_for_all() -> None:
    is_renewed = Event()
    world = Accounts(pause=lambda _: is_renewed.wait(10))
    world.connect()
    world.clock.advance(hours=1)
    together, seen, renew = Barrier(8), list[str](), world.store.renew

    def renew_and_tell(before: McpAccount, after: McpAccount) -> bool:
        kept = renew(before, after)
        is_renewed.set()
        return kept

    world.store.renew = renew_and_tell

    def call() -> None:
        together.wait()
        seen.append(world.call())

    threads = [Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == ["access-2"] * 8
    assert len(world.login.forms) == 2


def test_who_disconnects_while_tokens_are_renewed_stays_disconnected(world: Accounts) -> None:
    world.connect()
    world.clock.advance(hours=1)
    world.login.before_tokens = lambda: world.store.disconnect(ACME, ALICE, "ours")
    with pytest.raises(AccountNeededError):
        world.call()

    assert world.store.of_user(ACME, ALICE) == []
    assert world.login.revoked == ["refresh-2"]


def test_who_disconnects_has_the_tokens_ended_there_and_forgotten_here(world: Accounts) -> None:
    world.connect()
    world.accounts.end(world.alice, "ours")

    assert world.login.revoked == ["refresh-1"]
    assert world.accounts.standing(world.alice, "ours").state == "not_connected"
    with pytest.raises(NotFoundError, match="mcp_account_not_found"):
        world.accounts.end(world.alice, "ours")
    world.connect()
    world.login.answers["https://login.test/revoke"] = httpx2.ConnectError("gone")
    world.accounts.end(world.alice, "ours")
    assert world.store.of_user(ACME, ALICE) == []


def test_a_token_goes_to_the_address_that_it_was_given_for_and_no_other(world: Accounts) -> None:
    world.connect()
    moved = replace(OURS, url="https://evil.test/mcp")
    world.servers.save(ACME, moved)

    assert world.call(moved) == ""
    assert world.accounts.standing(world.alice, "ours").state == "moved"
    assert world.accounts.states(world.alice, [moved]) == {"ours": "moved"}


@pytest.mark.parametrize(
    "server",
    [
        replace(OURS, enabled=False),
        replace(OURS, id="other"),
        replace(OURS, transport=McpTransport.STDIO, command="x"),
    ],
)
def test_nobody_connects_to_what_is_off_or_is_no_address(server: McpServer) -> None:
    world = Accounts(server)
    with pytest.raises(NotFoundError, match="mcp_server_not_found"):
        world.begin()
    assert world.login.asked == []


def test_a_server_that_was_turned_off_meanwhile_is_not_connected_to(world: Accounts) -> None:
    answer = read(world.login.signs_in(world.begin()))
    world.servers.save(ACME, replace(OURS, enabled=False))

    with pytest.raises(ForbiddenError, match="mcp_sign_in_over"):
        world.accounts.finish(world.alice, PLACE, answer)


def test_where_nobody_signs_in_nobody_is_sent_anywhere() -> None:
    world = Accounts(public_url="")
    world.takes = set()

    with pytest.raises(ConflictError, match="mcp_sign_in_unavailable"):
        world.begin()
    with pytest.raises(ConflictError, match="mcp_sign_in_unavailable"):
        world.call()
    assert world.accounts.callback(OURS) == ""


def test_an_administrators_account_is_what_a_server_is_first_asked_with() -> None:
    world = Accounts(replace(OURS, tools=None))
    world.connect(principal(BOB))
    world.connect(principal("admin", role=Role.TENANT_ADMIN))

    assert world.asked == ["admin ours"]


def test_offline_access_is_asked_for_where_it_is_known(world: Accounts) -> None:
    world.login.metadata = {"scopes_supported": ["read", "offline_access"]}
    asked = dict(parse_qsl(urlsplit(world.begin()).query))

    assert (asked["scope"], asked["prompt"]) == ("read offline_access", "consent")


def test_sealed_tokens_open_for_their_own_person_and_server_alone(world: Accounts) -> None:
    world.connect()
    stolen = replace(world.kept(), user=principal(BOB).user)
    connected(world.store, stolen)

    with pytest.raises(ArchivoltError, match="secret_unreadable"):
        world.call(caller=principal(BOB))
    assert base64.b64decode(stolen.sealed).startswith(b"acme/mcp-account:ours:alice/")


def test_who_waits_too_long_for_another_to_renew_gives_up(world: Accounts) -> None:
    world.connect()
    world.clock.advance(hours=1)
    long = world.clock.now() + timedelta(days=1)
    assert world.store.claim(world.kept(), now=world.clock.now(), until=long)

    with pytest.raises(ArchivoltError) as failed:
        world.call()

    assert failure_of(failed.value) == ("mcp_server_unavailable", "mcp_slow")
    assert len(world.login.forms) == 1


def test_the_secret_of_an_administrator_goes_to_whom_it_went_first_until_it_is_given_again() -> (
    None
):
    box, given = ReversibleBox(), McpClientSettings(id="acme's")
    field = "mcp-client:ours"
    first = replace(given, sealed=box.seal(SECRET, tenant=ACME, field=field))
    world = Accounts(replace(OURS, oauth=first))
    world.connect()
    world.login.metadata = {"token_endpoint": "https://evil.test/token"}

    with pytest.raises(ConflictError) as refused:
        world.begin()
    assert failure_of(refused.value) == ("mcp_sign_in_unusable", "oauth_issuer")
    assert "https://evil.test/token" not in world.login.asked
    again = replace(given, sealed=box.seal(f"{SECRET}!", tenant=ACME, field=field))
    world.servers.save(ACME, replace(OURS, oauth=again))
    assert world.begin()


def test_a_secret_that_was_given_before_revocation_counted_stays_with_whom_it_has_then(
    world: Accounts,
) -> None:
    sealed = ReversibleBox().seal(SECRET, tenant=ACME, field="mcp-client:ours")
    world.servers.save(ACME, replace(OURS, oauth=McpClientSettings(id="acme's", sealed=sealed)))
    world.connect()
    kept = world.store.client(ACME, "ours")
    assert kept is not None
    issuer, host = kept.issuer.split(" ")[:2]
    world.store.keep_client(ACME, replace(kept, issuer=f"{issuer} {host}"))
    for revocation in ("https://ends.test/revoke", None):
        world.login.metadata = {"revocation_endpoint": revocation}
        assert world.begin()
    world.login.metadata = {"revocation_endpoint": "https://evil.test/revoke"}

    with pytest.raises(ConflictError, match="mcp_sign_in_unusable"):
        world.begin()


@pytest.mark.parametrize("dropped", [None, "https://login.test/revoke"])
def test_a_secret_may_go_to_fewer_hosts_than_it_was_given_for(
    world: Accounts, dropped: str | None
) -> None:
    world.login.metadata = {"revocation_endpoint": "https://ends.test/revoke"}
    sealed = ReversibleBox().seal(SECRET, tenant=ACME, field="mcp-client:ours")
    world.servers.save(ACME, replace(OURS, oauth=McpClientSettings(id="acme's", sealed=sealed)))
    world.connect()

    world.login.metadata = {"revocation_endpoint": dropped}
    assert world.begin()
    world.login.metadata = {"revocation_endpoint": "https://ends.test/revoke"}
    assert world.begin()


def test_a_client_with_which_nobody_comes_back_is_registered_anew(world: Accounts) -> None:
    world.connect()
    world.clock.advance(hours=1)
    world.login.answers["https://login.test/token"] = httpx2.Response(
        401, json={"error": "invalid_client"}
    )
    with pytest.raises(AccountNeededError):
        world.call()

    world.begin()
    world.clock.advance(seconds=MCP_NEW_CLIENT_SECONDS)
    world.begin()

    assert len(world.login.registered) == 2


@pytest.mark.parametrize("error", ["temporarily_unavailable", "server_error", "slow_down"])
def test_a_refusal_that_passes_costs_nobody_their_account(world: Accounts, error: str) -> None:
    world.connect()
    world.clock.advance(hours=1)
    world.login.answers["https://login.test/token"] = httpx2.Response(400, json={"error": error})
    with pytest.raises(ArchivoltError, match="mcp_server_unavailable"):
        world.call()

    del world.login.answers["https://login.test/token"]
    assert world.call() == "access-2"


def test_what_an_account_lacks_is_noted_beside_a_renewal_and_does_not_grow(
    world: Accounts,
) -> None:
    wanted = ["write", "delete"]

    def lacks(_: McpTarget) -> str:
        raise AccountNeededError("ours", scope=wanted.pop(0), lacks_scope=True)

    world.connect()
    while wanted:
        with pytest.raises(AccountNeededError):
            world.access.using(world.alice, OURS, lacks)
    assert world.kept().wanted == "delete"
    before = world.kept()
    world.clock.advance(minutes=59, seconds=30)
    world.login.before_tokens = lambda: world.store.want(before, "more")

    assert world.call() == "access-2"
    assert world.kept().wanted == "more"


def test_a_value_that_is_no_key_leaves_the_person_to_sign_in(world: Accounts) -> None:
    world.takes = set()

    with pytest.raises(AccountNeededError):
        world.call(replace(OURS, plain={"X-Team": "a"}))


def test_what_ails_an_account_is_not_noted_of_its_server() -> None:
    tool = McpTool(name="read", read_only=True)
    server = replace(OURS, tools=(tool,))
    world = Accounts(server)
    world.connect()
    world.clock.advance(hours=1)
    world.login.answers["https://login.test/token"] = httpx2.Response(503)
    client = ScriptedMcpClient({"ours": ScriptedServer([tool])})
    calls = McpCalls(world.servers, world.access, lambda: client, world.clock, programs=False)

    with pytest.raises(ArchivoltError, match="mcp_server_unavailable"):
        calls.call(world.alice, server, tool, {}, None)

    assert world.servers.of_tenant(ACME) == [server]


@pytest.mark.parametrize(
    "address", ["https://login.test/authorize?client_id=evil", "https://:pw@login.test/authorize"]
)
def test_nobody_is_sent_to_an_address_that_speaks_for_us(world: Accounts, address: str) -> None:
    world.login.metadata = {"authorization_endpoint": address}

    with pytest.raises(ConflictError) as refused:
        world.begin()

    assert failure_of(refused.value) == ("mcp_sign_in_unusable", "oauth_address")


@pytest.mark.parametrize("named", ["request", "request_uri", "response_mode", "prompt"])
def test_nobody_is_sent_to_an_address_that_overrules_what_is_asked(
    world: Accounts, named: str
) -> None:
    world.login.metadata = {"authorization_endpoint": f"https://login.test/authorize?{named}=x"}

    with pytest.raises(ConflictError, match="mcp_sign_in_unusable"):
        world.begin()


def test_an_account_whose_new_tokens_are_refused_needs_a_sign_in_and_renews_no_more(
    world: Accounts,
) -> None:
    world.connect()
    world.takes = set()
    for _ in range(3):
        with pytest.raises(AccountNeededError):
            world.call()

    assert world.sent == ["access-1", "access-2", "access-2", "access-2"]
    assert len(world.login.forms) == 2
    assert world.accounts.standing(world.alice, "ours").state == "sign_in_needed"
    world.takes = {"access-2"}
    assert world.call() == "access-2"
    assert world.accounts.standing(world.alice, "ours").state == "connected"
    world.takes = {"access-3"}
    assert world.call() == "access-3"


def test_what_was_not_done_says_nothing_of_an_account_that_was_refused(world: Accounts) -> None:
    world.connect()
    world.store.refuse(world.kept(), refused=True)

    assert world.access.using(world.alice, OURS, lambda _: None) is None
    assert world.kept().refused
    world.connect()
    assert not world.kept().refused


def as_another(world: Accounts) -> None:
    """Have us be let in as another client from now on."""
    world.login.client = {"client_id": "another"}
    kept = world.store.client(ACME, "ours")
    assert kept is not None
    world.store.keep_client(ACME, replace(kept, good_until=world.clock.now()))


def test_what_a_new_connection_replaces_is_ended_unless_it_may_be_the_same_grant(
    world: Accounts,
) -> None:
    world.connect()
    world.connect()
    assert world.login.revoked == []

    as_another(world)
    world.connect()
    assert world.login.revoked == ["refresh-2"]
    world.login.answers["https://login.test/revoke"] = httpx2.ConnectError("gone")
    as_another(world)
    world.login.client = {"client_id": "a third"}
    world.connect()
    assert world.call() == "access-4"


def test_who_connects_as_another_while_tokens_are_renewed_leaves_none_of_before(
    world: Accounts,
) -> None:
    def connect_anew() -> None:
        world.login.before_tokens = lambda: None
        as_another(world)
        world.connect()

    world.connect()
    world.clock.advance(hours=1)
    world.login.before_tokens = connect_anew

    assert world.call() == "access-3"
    # What it replaced, which the renewal used up meanwhile, and what that brought.
    assert world.login.revoked == ["refresh-1", "refresh-2"]


def test_who_connects_anew_meanwhile_is_not_asked_to_and_no_token_goes_elsewhere(
    world: Accounts,
) -> None:
    world.connect()
    before, deadline = world.kept(), Deadline(world.clock.now, MCP_RENEW_SECONDS)
    world.connect()

    assert world.renewal.renewed(before, deadline) == world.kept()
    assert world.renewal.renewed(replace(before, renewable=False), deadline) == world.kept()
    assert world.renewal.renewed(replace(before, place="another"), deadline) is None


def test_who_connects_anew_while_the_tokens_before_are_refused_is_not_asked_to(
    world: Accounts,
) -> None:
    def connect_anew() -> None:
        world.login.before_tokens = lambda: None
        world.connect()
        world.login.good_refresh.remove("refresh-1")

    world.connect()
    world.clock.advance(hours=1)
    world.login.before_tokens = connect_anew

    assert world.call() == "access-3"


def test_a_client_whose_secret_ends_is_registered_anew_before_that(world: Accounts) -> None:
    ends = world.clock.now() + timedelta(hours=2)
    world.login.client = {
        "client_secret": SECRET,
        "client_secret_expires_at": int(ends.timestamp()),
        "token_endpoint_auth_method": None,
    }
    world.connect()
    world.clock.advance(hours=1, minutes=49)
    world.begin()
    assert len(world.login.registered) == 1

    world.clock.advance(minutes=1)
    world.login.client["client_secret_expires_at"] = 0
    world.begin()
    world.connect()
    world.clock.advance(days=20)
    world.begin()
    assert len(world.login.registered) == 2


def test_an_issuer_that_names_itself_with_a_slash_answers_with_it(world: Accounts) -> None:
    world.login.resource = {"authorization_servers": ["https://login.test"]}
    own = world.login.described() | {"issuer": "https://login.test/"}
    place = "https://login.test/.well-known/oauth-authorization-server"
    world.login.answers[place] = httpx2.Response(200, json=own)

    world.connect(changed={"iss": "https://login.test/"})

    assert world.call() == "access-1"


def test_a_client_that_comes_back_to_this_machine_is_registered_as_a_program() -> None:
    world = Accounts(public_url="http://127.0.0.1:8000")
    world.begin()

    assert world.login.registered[0]["application_type"] == "native"


def test_who_renews_so_late_that_another_did_goes_on_with_what_they_have(world: Accounts) -> None:
    def renew_meanwhile() -> None:
        world.login.before_tokens = lambda: None
        world.clock.advance(seconds=MCP_RENEW_SECONDS)
        world.call()

    world.connect()
    world.clock.advance(hours=1)
    world.login.before_tokens = renew_meanwhile
    world.login.rotates = False

    assert world.call() == "access-3"
    assert world.kept().edition == 2
    assert world.login.revoked == []


def test_a_token_that_is_still_good_is_used_where_no_newer_one_can_be_had(world: Accounts) -> None:
    world.connect()
    world.login.answers["https://login.test/token"] = httpx2.Response(503)
    world.clock.advance(minutes=59, seconds=50)

    assert world.call() == "access-1"
    world.clock.advance(seconds=10)
    with pytest.raises(ArchivoltError, match="mcp_server_unavailable"):
        world.call()


def test_a_token_that_lasts_a_minute_is_not_renewed_for_every_call(world: Accounts) -> None:
    world.login.seconds = 60
    world.connect()
    calls = [world.call()]
    for _ in range(4):
        world.clock.advance(seconds=20)
        calls.append(world.call())

    assert calls == ["access-1", "access-1", "access-2", "access-2", "access-3"]
