"""Erasing a vault, a user, a tenant over REST: who may, what has to be repeated, what is told."""

from urllib.parse import quote

import pytest

from archivolt.domain.identity import UserId
from archivolt.domain.personal_vaults import personal_vault
from archivolt.domain.retention_limits import MAX_RECEIPTS
from archivolt.domain.tenancy import TenantState, UserState
from archivolt.domain.vault import VaultRole
from archivolt.governance.conversation_receipts import ConversationReceipts
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_conversation, a_vault, principal
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld

API = "/api/v1"
CARL = UserId("carl")


@pytest.fixture
def world() -> RestWorld:
    """Alice owns a vault of Acme that Bob writes to; everybody came once."""
    world = RestWorld()
    vault = a_vault("shared plans")
    world.directory.create(vault, owner=ALICE)
    world.directory.set_member(vault.ref, BOB, VaultRole.WRITER)
    for user in ("alice", "bob", "admin", "root", "mallory"):
        assert world.get(f"{API}/vaults", user=user).status == 200
    return world


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def delete(world: RestWorld, url: str, *, user: str) -> Answer:
    return world.send("DELETE", url, user=user)


def test_an_owner_erases_a_vault_and_it_is_out_of_reach_at_once(world: RestWorld) -> None:
    place = f"{API}/vaults/shared%20plans"
    assert error(delete(world, place, user="alice")) == (422, "invalid_request")
    assert error(delete(world, f"{place}?confirm=plans", user="alice")) == (
        400,
        "erasure_unconfirmed",
    )
    assert error(delete(world, f"{place}?confirm=shared%20plans", user="bob")) == (
        403,
        "owner_required",
    )
    assert world.get(f"{API}/vaults", user="bob").json["vaults"]

    begun = delete(world, f"{place}?confirm=shared%20plans", user="alice")

    assert begun.status == 202
    assert (begun.json["scope"], begun.json["state"]) == ("vault", "erasing")
    assert begun.json["complete"] is False
    assert begun.headers["location"] == f"{API}/erasures/{begun.json['id']}"
    assert world.get(f"{API}/vaults", user="bob").json["vaults"] == []
    assert [sent for sent, _ in world.erasure_queue.sent] == [begun.json["id"]]
    assert error(delete(world, f"{place}?confirm=shared%20plans", user="alice")) == (
        404,
        "vault_not_found",
    )


def test_a_receipt_is_for_who_asked_and_for_administrators_and_names_nobody(
    world: RestWorld,
) -> None:
    place = f"{API}/vaults/shared%20plans?confirm=shared%20plans"
    receipt = delete(world, place, user="alice").headers["location"]

    for user in ("alice", "admin", "root"):
        shown = world.get(receipt, user=user)
        assert shown.status == 200
        assert b"alice" not in shown.body
        assert [each["id"] for each in world.get(f"{API}/erasures", user=user).json["erasures"]]
    for user in ("bob", "mallory"):
        assert error(world.get(receipt, user=user)) == (404, "erasure_not_found")
        assert world.get(f"{API}/erasures", user=user).json["erasures"] == []
    assert error(world.get(f"{API}/erasures/none", user="root")) == (404, "erasure_not_found")


def test_receipts_come_in_pages_and_those_of_conversations_by_themselves(
    world: RestWorld,
) -> None:
    for name in ("one", "two", "three"):
        world.directory.create(a_vault(name, vault_id=f"vault-{name}"), owner=ALICE)
        world.clock.advance(seconds=1)
        assert delete(world, f"{API}/vaults/{name}?confirm={name}", user="alice").status == 202
    receipts = ConversationReceipts(world.erasures, world.clock)
    for number in range(MAX_RECEIPTS + 1):
        world.clock.advance(seconds=1)
        receipts.keep(principal(ALICE), a_conversation(f"c{number}"), left={})

    first = world.get(f"{API}/erasures?limit=2", user="alice").json
    last = world.get(f"{API}/erasures?limit=2&after={quote(first['next_after'])}", user="alice")
    others = world.get(f"{API}/erasures?conversations=true", user="alice").json

    assert [each["subject"] for each in first["erasures"]] == ["vault-three", "vault-two"]
    assert [each["subject"] for each in last.json["erasures"]] == ["vault-one"]
    assert last.json["next_after"] is None
    assert {each["scope"] for each in others["erasures"]} == {"conversation"}
    assert len(others["erasures"]) == MAX_RECEIPTS
    assert others["next_after"]
    assert world.get(f"{API}/erasures?limit=101", user="alice").status == 422


def test_what_is_under_way_is_not_begun_again_whatever_else_was_erased_since(
    world: RestWorld,
) -> None:
    first = delete(world, f"{API}/users/bob?confirm=bob", user="admin")
    receipts = ConversationReceipts(world.erasures, world.clock)
    for number in range(MAX_RECEIPTS + 1):
        world.clock.advance(seconds=1)
        receipts.keep(principal(ALICE), a_conversation(f"c{number}"), left={})

    assert (
        delete(world, f"{API}/users/bob?confirm=bob", user="admin").json["id"] == (first.json["id"])
    )


def test_a_personal_vault_goes_with_its_user_only(world: RestWorld) -> None:
    personal = a_vault("Notes-bob", vault_id=personal_vault(ACME, BOB).id)
    world.directory.create(personal, owner=BOB)

    answer = delete(world, f"{API}/vaults/Notes-bob?confirm=Notes-bob", user="bob")

    assert error(answer) == (409, "personal_vault")


def test_who_erases_themselves_is_kept_out_from_then_on(world: RestWorld) -> None:
    assert error(delete(world, f"{API}/me?confirm=alice", user="bob")) == (
        400,
        "erasure_unconfirmed",
    )

    begun = delete(world, f"{API}/me?confirm=bob", user="bob")

    assert (begun.status, begun.json["scope"]) == (202, "user")
    world.clock.advance(seconds=10)
    assert error(world.get(f"{API}/vaults", user="bob")) == (403, "user_deleting")
    for change in ("resume", "suspend"):
        answer = world.send("POST", f"{API}/tenants/{ACME}/users/bob/{change}", user="admin")
        assert error(answer) == (409, "user_going")


def test_who_never_came_is_kept_out_too_while_they_are_erased(world: RestWorld) -> None:
    vault = a_vault("for carl", vault_id="v-carl")
    world.directory.create(vault, owner=ALICE)
    world.directory.set_member(vault.ref, CARL, VaultRole.READER)

    assert delete(world, f"{API}/users/carl?confirm=carl", user="admin").status == 202

    found = world.tenants.user(ACME, CARL)
    assert found is not None
    assert found.state is UserState.DELETING


def test_an_administrator_erases_a_user_of_their_own_tenant(world: RestWorld) -> None:
    assert error(delete(world, f"{API}/users/bob?confirm=bob", user="alice")) == (403, "forbidden")
    assert error(delete(world, f"{API}/users/nobody?confirm=nobody", user="admin")) == (
        404,
        "user_not_found",
    )
    assert error(delete(world, f"{API}/users/mallory?confirm=mallory", user="admin")) == (
        404,
        "user_not_found",
    )
    assert error(delete(world, f"{API}/users/root?confirm=root", user="admin")) == (
        403,
        "forbidden",
    )
    assert error(delete(world, f"{API}/users/alice?confirm=alice", user="admin")) == (
        409,
        "last_owner_of",
    )

    assert delete(world, f"{API}/users/bob?confirm=bob", user="admin").status == 202


def test_only_a_cpi_admin_erases_a_tenant_and_no_own_one(world: RestWorld) -> None:
    place = f"{API}/tenants/{GLOBEX}?confirm={GLOBEX}"
    assert error(delete(world, place, user="admin")) == (403, "forbidden")
    assert error(delete(world, f"{API}/tenants/{ACME}?confirm={ACME}", user="root")) == (
        409,
        "own_tenant_erased",
    )
    assert error(delete(world, f"{API}/tenants/nowhere?confirm=nowhere", user="root")) == (
        404,
        "tenant_not_found",
    )
    assert error(delete(world, f"{API}/tenants/{GLOBEX}?confirm=x", user="root")) == (
        400,
        "erasure_unconfirmed",
    )

    begun = delete(world, place, user="root")

    assert (begun.status, begun.json["scope"]) == (202, "tenant")
    found = world.tenants.tenant(GLOBEX)
    assert found is not None
    assert found.state is TenantState.DELETING
    world.clock.advance(seconds=10)
    assert error(world.get(f"{API}/vaults", user="mallory")) == (403, "tenant_deleting")


def test_no_program_erases_anything(world: RestWorld) -> None:
    answer = delete(world, f"{API}/me?confirm=alice", user="alices-agent")
    assert error(answer) == (403, "person_required")
