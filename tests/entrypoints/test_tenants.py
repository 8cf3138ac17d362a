"""Tenants and their people over REST: made, listed, suspended at every door, resumed."""

from typing import Any

import pytest

from archivolt.domain.erasure import pseudonym
from archivolt.domain.identity import Role, UserId
from archivolt.domain.oauth import OAuthError, Person
from archivolt.domain.tenancy import TenantState
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from archivolt.domain.vault import VaultRole
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.entrypoints.mcp_messages import legacy
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld
from tests.oauth import OAuthWorld

API = "/api/v1"
TENANTS = f"{API}/tenants"


@pytest.fixture
def world() -> RestWorld:
    """Alice and Bob of Acme came, and Mallory of Globex."""
    world = RestWorld()
    for user in ("alice", "bob", "mallory"):
        assert world.get(f"{API}/vaults", user=user).status == 200
    return world


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def states(page: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["state"] for each in page["tenants"]}


def test_whoever_comes_makes_their_tenant_known(world: RestWorld) -> None:
    page = world.get(TENANTS, user="root").json

    assert states(page) == {"acme": "active", "globex": "active"}
    assert page["next"] is None
    assert page["tenants"][0] == {
        "id": "acme",
        "name": "",
        "state": "active",
        "first_seen": "2026-09-01T08:30:00Z",
        "changed_at": None,
        "calls_per_window": 0,
    }


def test_a_tenant_is_made_before_anybody_of_it_comes(world: RestWorld) -> None:
    made = world.post(TENANTS, {"id": "initech", "name": "Initech\n"}, user="root")

    assert made.status == 201
    assert (made.json["name"], made.json["state"]) == ("Initech", "active")
    assert error(world.post(TENANTS, {"id": "initech"}, user="root")) == (409, "tenant_exists")
    assert error(world.post(TENANTS, {"id": "acme"}, user="root")) == (409, "tenant_exists")
    assert error(world.post(TENANTS, {"id": "../acme"}, user="root")) == (400, "invalid_request")
    first = world.get(f"{TENANTS}?limit=2", user="root").json
    assert list(states(first)) == ["acme", "globex"]
    assert list(states(world.get(f"{TENANTS}?after=globex", user="root").json)) == ["initech"]


def test_everybody_sees_their_own_tenant_and_no_other(world: RestWorld) -> None:
    assert world.get(f"{TENANTS}/acme").json["id"] == "acme"
    assert world.get(f"{TENANTS}/globex", user="root").json["id"] == "globex"

    there, nowhere = (world.get(f"{TENANTS}/{each}", user="admin") for each in ("globex", "none"))
    assert error(there) == error(nowhere) == (404, "tenant_not_found")
    assert there.body.replace(b"globex", b"none") == nowhere.body
    assert error(world.get(f"{TENANTS}/none", user="root")) == (404, "tenant_not_found")


def test_a_suspended_tenant_finds_every_route_shut_and_others_do_not(world: RestWorld) -> None:
    suspended = world.send("POST", f"{TENANTS}/globex/suspend", user="root")
    assert (suspended.status, suspended.json["state"]) == (200, "suspended")
    assert suspended.json["changed_at"] == "2026-09-01T08:30:00Z"

    for path in ("/vaults", "/tools", "/me/settings", "/tenants/globex", "/tokens"):
        answer = world.get(API + path, user="mallory", Accept_Language="fr")
        assert error(answer) == (403, "tenant_suspended")
        assert "suspendue" in answer.json["error"]["message"]
    assert world.get(f"{API}/vaults", user="alice").status == 200

    resumed = world.send("POST", f"{TENANTS}/globex/resume", user="root")
    assert resumed.json["state"] == "active"
    assert world.get(f"{API}/vaults", user="mallory").status == 200


def test_nobody_suspends_their_own_tenant_or_themselves(world: RestWorld) -> None:
    own = world.send("POST", f"{TENANTS}/acme/suspend", user="root")
    assert error(own) == (409, "own_tenant")
    world.get(f"{API}/vaults", user="admin")

    answer = world.send("POST", f"{TENANTS}/acme/users/admin/suspend", user="admin")

    assert error(answer) == (409, "own_user")


def test_nobody_shuts_out_who_has_the_greater_role(world: RestWorld) -> None:
    for user in ("root", "admin"):
        world.get(f"{API}/vaults", user=user)
    root = Person(tenant=ACME, user=UserId("root"), role=Role.CPI_ADMIN)
    oauth = OAuthWorld(world.clock, world.grants)
    pair = oauth.pair(person=root)
    token = world.post(f"{API}/tokens", {"name": "x", "read_only": True}, user="root").json
    listed = world.get(f"{API}/connections?everybody=true", user="admin").json["connections"]

    for action in ("suspend", "resume"):
        answer = world.send("POST", f"{TENANTS}/acme/users/root/{action}", user="admin")
        assert error(answer) == (403, "forbidden")
    for path in (f"tokens/{token['id']}", f"connections/{listed[0]['id']}"):
        assert error(world.send("DELETE", f"{API}/{path}", user="admin")) == (403, "forbidden")

    for caller in ("root", token["token"], pair.access):
        assert world.get(f"{API}/vaults", user=caller).status == 200
    assert world.send("POST", f"{TENANTS}/acme/users/admin/suspend", user="root").status == 200


def test_a_tenant_that_is_deleted_is_not_resumed(world: RestWorld) -> None:
    world.tenants.set_state(GLOBEX, TenantState.DELETING, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)

    assert error(world.get(f"{API}/vaults", user="mallory")) == (403, "tenant_deleting")
    for action in ("resume", "suspend"):
        answer = world.send("POST", f"{TENANTS}/globex/{action}", user="root")
        assert error(answer) == (409, "tenant_going")
    changed = world.send("PATCH", f"{TENANTS}/globex", {"name": "x"}, user="root")
    assert error(changed) == (409, "tenant_going")


def test_an_administrator_sees_their_people_and_what_these_share(world: RestWorld) -> None:
    world.share(world.vault("plans"), principal(BOB), VaultRole.WRITER)

    page = world.get(f"{TENANTS}/acme/users", user="admin").json
    assert [each["user"] for each in page["users"]] == ["admin", "alice", "bob"]
    assert page["users"][1] == {
        "user": "alice",
        "role": "viewer",
        "state": "active",
        "first_seen": "2026-09-01T08:30:00Z",
        "last_seen": "2026-09-01",
    }
    bob = world.get(f"{TENANTS}/acme/users/bob", user="admin").json
    assert bob["vaults"] == [{"vault": "plans", "role": "writer"}]


def test_people_of_another_tenant_are_shown_to_who_runs_it_all_but_no_vault_of_theirs(
    world: RestWorld,
) -> None:
    users = f"{TENANTS}/globex/users"
    for path in (users, f"{users}/mallory"):
        assert error(world.get(path, user="admin")) == (404, "tenant_not_found")

    assert [each["user"] for each in world.get(users, user="root").json["users"]] == ["mallory"]
    assert world.get(f"{users}/mallory", user="root").json["vaults"] is None
    assert error(world.get(f"{users}/alice", user="root")) == (404, "user_not_found")


def test_a_suspended_user_is_out_with_all_their_programs(world: RestWorld) -> None:
    made = world.post(f"{API}/tokens", {"name": "laptop", "read_only": True}, user="bob").json
    oauth = OAuthWorld(world.clock, world.grants)
    pair = oauth.pair(person=Person(tenant=ACME, user=BOB, role=Role.VIEWER))
    alices = oauth.pair(person=Person(tenant=ACME, user=ALICE, role=Role.VIEWER))
    for token in (made["token"], pair.access, alices.access):
        assert world.get(f"{API}/vaults", user=token).status == 200

    suspended = world.send("POST", f"{TENANTS}/acme/users/bob/suspend", user="admin")

    assert suspended.json["state"] == "suspended"
    assert error(world.get(f"{API}/vaults", user="bob")) == (403, "user_suspended")
    assert error(world.get(f"{API}/vaults", user=made["token"])) == (401, "invalid_token")
    assert error(world.get(f"{API}/vaults", user=pair.access)) == (401, "invalid_token")
    assert world.get(f"{API}/vaults", user=alices.access).status == 200
    assert world.get(f"{API}/vaults", user="alice").status == 200

    world.send("POST", f"{TENANTS}/acme/users/bob/resume", user="admin")
    assert world.get(f"{API}/vaults", user="bob").status == 200
    assert error(world.get(f"{API}/vaults", user=made["token"])) == (401, "invalid_token")


def test_programs_of_a_suspended_tenant_are_out_and_come_in_again(world: RestWorld) -> None:
    made = world.post(f"{API}/tokens", {"name": "x", "read_only": True}, user="mallory").json
    oauth = OAuthWorld(world.clock, world.grants)
    pair = oauth.pair(person=Person(tenant=GLOBEX, user=UserId("mallory"), role=Role.VIEWER))
    world.send("POST", f"{TENANTS}/globex/suspend", user="root")

    for token in (made["token"], pair.access):
        assert error(world.get(f"{API}/vaults", user=token)) == (403, "tenant_suspended")
    world.send("POST", f"{TENANTS}/globex/resume", user="root")

    for token in (made["token"], pair.access):
        assert world.get(f"{API}/vaults", user=token).status == 200


def test_what_administrators_do_is_in_the_audit_log(world: RestWorld) -> None:
    world.send("POST", f"{TENANTS}/globex/suspend", user="root")
    world.send("POST", f"{TENANTS}/globex/suspend", user="admin")

    done = [
        (entry.principal.user, entry.action, entry.outcome)
        for entry in world.audit.entries
        if entry.action == "suspend_tenant" and entry.principal.tenant == ACME
    ]
    assert done == [("root", "suspend_tenant", "ok"), ("admin", "suspend_tenant", "forbidden")]


def test_the_audit_log_says_to_whom_and_what_an_administrator_did_in_both_tenants(
    world: RestWorld,
) -> None:
    key = "sk-" + "0123456789"
    world.send("POST", f"{TENANTS}/acme/users/bob/suspend", user="admin")
    change = {"chat_api_key": key, "chat_model": "m"}
    assert world.send("PUT", f"{TENANTS}/globex/settings", change, user="root").status == 200
    world.send("POST", f"{TENANTS}/globex/users/mallory/suspend", user="root")
    world.send("POST", f"{TENANTS}/nowhere/suspend", user="root")
    world.get(f"{TENANTS}/globex/users", user="root")

    def told(tenant: str) -> list[tuple[str, str, dict[str, str]]]:
        entries = [entry for entry in world.audit.entries if entry.details]
        return [
            (entry.principal.user, entry.action, entry.details)
            for entry in entries
            if entry.principal.tenant == tenant
        ]

    named = {"tenant": "globex", "names": "chat_api_key, chat_model"}
    mallory, root = pseudonym(GLOBEX, UserId("mallory")), pseudonym(ACME, UserId("root"))
    assert told("acme") == [
        ("admin", "suspend_user", {"tenant": "acme", "user": "bob"}),
        ("root", "change_tenant_settings", named),
        ("root", "suspend_user", {"tenant": "globex", "user": mallory}),
        ("root", "suspend_tenant", {"tenant": "nowhere"}),
        ("root", "list_users", {"tenant": "globex"}),
    ]
    there = {"tenant": "globex", "user": "mallory", "by_tenant": "acme"}
    assert told("globex") == [
        (root, "change_tenant_settings", {**named, "by_tenant": "acme"}),
        (root, "suspend_user", there),
    ]
    assert not told("nowhere")
    assert key not in str(world.audit.entries)


def test_mcp_is_shut_to_a_suspended_tenant() -> None:
    world = McpWorld()
    assert world.send(legacy("ping")).status == 200
    world.tenants.set_state(ACME, TenantState.SUSPENDED, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)

    for method in ("ping", "tools/list", "resources/list"):
        answer = world.send(legacy(method))
        assert (answer.status, answer.json["error"]["code"]) == (403, "tenant_suspended")
    assert world.send(legacy("ping"), token="carol").status == 200


def test_no_tokens_are_given_or_renewed_for_a_suspended_tenant() -> None:
    world = BrowserWorld()
    oauth = OAuthWorld(world.clock)
    oauth.tokens = type(oauth.tokens)(oauth.grants, world.clock, world.admission.require)
    pair, code = oauth.pair(), oauth.code()
    world.admission.admit(principal(ALICE))
    world.tenants.set_state(ACME, TenantState.SUSPENDED, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)

    for give in (lambda: oauth.renew(pair.refresh), lambda: oauth.exchange(code)):
        with pytest.raises(OAuthError) as refused:
            give()
        assert (refused.value.code, refused.value.error) == ("tenant_suspended", "access_denied")
    world.tenants.set_state(ACME, TenantState.ACTIVE, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)

    assert oauth.renew(pair.refresh).access


def test_a_browser_of_a_suspended_user_is_shown_no_page() -> None:
    world = BrowserWorld()
    browser = Browser(world)
    assert browser.sign_in(to="/oauth/connections").status == 303
    assert browser.get("/oauth/connections").status == 200
    world.admission.admit(principal(ALICE))
    world.tenants.set_state(ACME, TenantState.SUSPENDED, world.clock.now())
    world.clock.advance(seconds=STANDING_SECONDS)

    for path in ("/oauth/connections", "/approve/waiting"):
        page = browser.get(path)
        assert page.status == 403
        assert "suspended" in page.body.decode()
    assert browser.sign_in().status == 403
