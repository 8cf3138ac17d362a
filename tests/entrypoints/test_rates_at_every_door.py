"""Every door counts its calls, once, where all others count theirs."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from archivolt.domain.tenancy import Tenant
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.chat_world import ChatWorld
from tests.entrypoints.rest_world import RestWorld
from tests.entrypoints.test_chat_http import application, bearer, chat_application
from tests.fakes.governance import KnownTokens

API = "/api/v1"
READS = ["/vaults", "/tools", "/config", "/config/ai-models", "/tokens", "/me/settings"]


@pytest.mark.parametrize("path", READS)
def test_a_route_counts_once(path: str) -> None:
    world = RestWorld()

    assert world.get(API + path).status == 200

    assert world.rates.added.count("tenant#acme") == 1


@pytest.mark.parametrize(
    "path", ["/chat/conversations", "/chat/conversations/search?q=x", "/ai/skills", "/ai/status"]
)
def test_the_chat_counts_where_all_others_do(path: str) -> None:
    world = ChatWorld(rates={"per_tenant": 2})
    tokens = KnownTokens({"alice": principal(ALICE), "bob": principal(BOB)})
    app = chat_application(world, tokens)
    with TestClient(app) as http:
        assert http.get(API + path, headers=bearer()).status_code == 200
        assert http.get(API + path, headers=bearer("bob")).status_code == 200
        refused = http.get(API + path, headers=bearer())

    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "rate_limited"
    assert 0 < int(refused.headers["retry-after"]) <= 60


def test_a_message_that_is_too_much_begins_nothing() -> None:
    world = ChatWorld(rates={"per_token": 1})
    with TestClient(application(world)) as http:
        body = {"message": "Hi", "stream": False}
        assert http.post(f"{API}/chat/messages", headers=bearer(), json=body).status_code == 200
        refused = http.post(f"{API}/chat/messages", headers=bearer(), json=body)

    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
    assert "retry-after" in refused.headers
    assert len(world.only_conversation().messages) == 2


def test_one_tenants_calls_leave_anothers_alone() -> None:
    world = RestWorld(per_tenant=3)
    statuses = [world.get(f"{API}/vaults", user=who).status for who in ("alice", "bob") * 2]
    assert statuses == [200, 200, 200, 429]

    assert world.get(f"{API}/vaults", user="mallory").status == 200


def test_who_runs_it_all_gives_a_tenant_another_limit_in_force_within_seconds() -> None:
    world = RestWorld(per_tenant=1)
    for tenant in (ACME, GLOBEX):
        world.tenants.add(Tenant(id=tenant, calls_per_window=50 if tenant == ACME else 0))
    assert [world.get(f"{API}/vaults", user="mallory").status for _ in range(2)] == [200, 429]

    changed = world.send("PATCH", f"{API}/tenants/globex", {"calls_per_window": 4}, user="root")
    assert changed.json["calls_per_window"] == 4
    world.clock.advance(seconds=STANDING_SECONDS)
    statuses = [world.get(f"{API}/vaults", user="mallory").status for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_programs_over_mcp_are_counted_with_all_others() -> None:
    world = RestWorld(per_tenant=2)
    world.get(f"{API}/vaults")
    world.call("list_vaults", by=replace(principal(BOB), token_id="mcp"))

    refused = world.post(f"{API}/tools/list_vaults", {})

    assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limited")
