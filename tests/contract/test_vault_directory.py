"""What every `VaultDirectory` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import UserId
from archivolt.domain.vault import VaultRole
from archivolt.ports.vaults import VaultDirectory
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, vault_ref
from tests.contract.conftest import FAKE, MOTO, NewTable, on_tables
from tests.fakes.clock import START
from tests.fakes.vaults import InMemoryVaults


@pytest.fixture
def directory(store: str, request: pytest.FixtureRequest) -> VaultDirectory:
    if store == FAKE:
        return InMemoryVaults()
    return DynamoVaultDirectory(request.getfixturevalue("new_table")("ControlTable"))


def test_the_owner_of_a_new_vault_has_access(directory: VaultDirectory) -> None:
    vault = a_vault("Été 2026")
    directory.create(vault, owner=ALICE)

    access = directory.access(ACME, ALICE, "Été 2026")

    assert (access.vault, access.user, access.role) == (vault, ALICE, VaultRole.OWNER)


def test_a_taken_name_is_refused_and_nothing_is_recorded(directory: VaultDirectory) -> None:
    directory.create(a_vault("notes", vault_id="v1"), owner=ALICE)

    with pytest.raises(ConflictError) as refused:
        directory.create(a_vault("notes", vault_id="v2"), owner=BOB)

    assert refused.value.code == "vault_exists"
    assert directory.accessible(ACME, BOB) == []
    with pytest.raises(NotFoundError):
        directory.get(vault_ref("v2"))


def test_a_taken_id_is_refused(directory: VaultDirectory) -> None:
    directory.create(a_vault("notes", vault_id="v1"), owner=ALICE)

    with pytest.raises(ConflictError):
        directory.create(a_vault("others", vault_id="v1"), owner=BOB)

    assert directory.get(vault_ref("v1")).name == "notes"


def test_names_are_taken_within_a_tenant_only(directory: VaultDirectory) -> None:
    directory.create(a_vault("notes"), owner=ALICE)
    directory.create(a_vault("notes", tenant=GLOBEX), owner=ALICE)

    assert directory.access(GLOBEX, ALICE, "notes").vault.ref.tenant == GLOBEX


def test_a_vault_one_is_no_member_of_is_not_found(directory: VaultDirectory) -> None:
    directory.create(a_vault("notes"), owner=ALICE)

    for tenant, user in ((ACME, BOB), (GLOBEX, ALICE)):
        with pytest.raises(NotFoundError) as refused:
            directory.access(tenant, user, "notes")
        assert refused.value.code == "vault_not_found"


@pytest.mark.parametrize("name", ["", "absent", "notes ", "NOTES", "n" * 3_000, "\ud800", "a#b"])
def test_an_unknown_name_is_not_found_however_odd(directory: VaultDirectory, name: str) -> None:
    directory.create(a_vault("notes"), owner=ALICE)

    with pytest.raises(NotFoundError):
        directory.access(ACME, ALICE, name)


def test_the_accessible_vaults_are_listed_by_name(directory: VaultDirectory) -> None:
    for name in ("zebra", "Apple", "été"):
        directory.create(a_vault(name), owner=ALICE)
    directory.create(a_vault("theirs"), owner=BOB)
    directory.set_member(a_vault("theirs").ref, ALICE, VaultRole.READER)
    directory.create(a_vault("elsewhere", tenant=GLOBEX), owner=ALICE)

    accesses = directory.accessible(ACME, ALICE)

    assert [access.vault.name for access in accesses] == ["Apple", "theirs", "zebra", "été"]
    assert accesses[1].role is VaultRole.READER


def test_a_member_gains_changes_and_loses_access(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)

    directory.set_member(vault.ref, BOB, VaultRole.READER)
    assert directory.access(ACME, BOB, "notes").role is VaultRole.READER
    directory.set_member(vault.ref, BOB, VaultRole.WRITER)
    assert directory.access(ACME, BOB, "notes").role is VaultRole.WRITER
    assert directory.members(vault.ref) == [(ALICE, VaultRole.OWNER), (BOB, VaultRole.WRITER)]

    directory.remove_member(vault.ref, BOB)
    with pytest.raises(NotFoundError):
        directory.access(ACME, BOB, "notes")
    assert directory.accessible(ACME, BOB) == []
    assert directory.members(vault.ref) == [(ALICE, VaultRole.OWNER)]


@on_tables
def test_a_name_that_is_anothers_by_now_leads_to_that_vault(new_table: NewTable) -> None:
    table = new_table("ControlTable")
    directory, first = DynamoVaultDirectory(table), a_vault("notes", vault_id="v1")
    directory.create(first, owner=ALICE)
    assert directory.access(ACME, ALICE, "notes").vault == first
    places = [f"TENANT#{ACME}", f"VAULT#{ACME}#v1", f"USER#{ACME}#{ALICE}"]
    gone = [Key(item["pk"], item["sk"]) for pk in places for item in table.items(pk)]
    table.delete_many(gone)
    with pytest.raises(NotFoundError):
        directory.access(ACME, ALICE, "notes")

    second = a_vault("notes", vault_id="v2")
    DynamoVaultDirectory(table).create(second, owner=ALICE)

    assert directory.access(ACME, ALICE, "notes").vault == second


def test_since_when_somebody_is_a_member_is_known_of_who_joined(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)

    directory.set_member(vault.ref, BOB, VaultRole.READER, now=START)
    directory.set_member(vault.ref, BOB, VaultRole.WRITER, now=START + timedelta(days=1))
    directory.set_member(vault.ref, ALICE, VaultRole.OWNER, now=START)
    assert directory.access(ACME, BOB, "notes").since == START
    assert [access.since for access in directory.accessible(ACME, BOB)] == [START]
    assert directory.access(ACME, ALICE, "notes").since is None

    directory.remove_member(vault.ref, BOB)
    directory.set_member(vault.ref, BOB, VaultRole.READER, now=START + timedelta(days=2))
    assert directory.access(ACME, BOB, "notes").since == START + timedelta(days=2)


def test_the_only_owner_stays_an_owner(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)
    directory.set_member(vault.ref, BOB, VaultRole.WRITER)

    for leave in (
        lambda: directory.set_member(vault.ref, ALICE, VaultRole.READER),
        lambda: directory.remove_member(vault.ref, ALICE),
    ):
        with pytest.raises(ConflictError) as refused:
            leave()
        assert refused.value.code == "last_owner"
    directory.set_member(vault.ref, ALICE, VaultRole.OWNER)

    assert directory.members(vault.ref) == [(ALICE, VaultRole.OWNER), (BOB, VaultRole.WRITER)]


def test_an_owner_leaves_when_another_stays(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)
    directory.set_member(vault.ref, BOB, VaultRole.OWNER)

    directory.set_member(vault.ref, ALICE, VaultRole.READER)
    directory.remove_member(vault.ref, ALICE)

    assert directory.members(vault.ref) == [(BOB, VaultRole.OWNER)]


def test_members_are_listed_by_user(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=UserId("m"))
    for user in ("z@example.com", "auth0|a"):
        directory.set_member(vault.ref, UserId(user), VaultRole.READER)

    assert [user for user, _ in directory.members(vault.ref)] == ["auth0|a", "m", "z@example.com"]


def test_somebody_who_is_no_member_cannot_be_removed(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)

    for ref in (vault.ref, vault_ref("absent")):
        with pytest.raises(NotFoundError) as refused:
            directory.remove_member(ref, BOB)
        assert refused.value.code == "member_not_found"


def test_an_unknown_vault_has_no_members_and_takes_none(directory: VaultDirectory) -> None:
    ref = vault_ref("absent")

    assert directory.members(ref) == []
    for look in (
        lambda: directory.get(ref),
        lambda: directory.set_member(ref, BOB, VaultRole.READER),
    ):
        with pytest.raises(NotFoundError) as refused:
            look()
        assert refused.value.code == "vault_not_found"
    assert directory.members(ref) == []


def test_an_owners_choice_about_dangerous_tools_is_kept(directory: VaultDirectory) -> None:
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)

    for allowed in (False, False, True):
        directory.set_destructive_tools(vault.ref, allowed=allowed)
        for seen in (directory.get(vault.ref), directory.access(ACME, ALICE, "notes").vault):
            assert seen == replace(vault, ai_destructive_tools=allowed)


def test_an_absent_vault_takes_no_choice(directory: VaultDirectory) -> None:
    with pytest.raises(NotFoundError) as refused:
        directory.set_destructive_tools(vault_ref("absent"), allowed=False)

    assert refused.value.code == "vault_not_found"
    with pytest.raises(NotFoundError):
        directory.get(vault_ref("absent"))


def test_a_worker_finds_a_vault_by_where_it_is(directory: VaultDirectory) -> None:
    directory.create(a_vault("notes"), owner=ALICE)

    assert directory.get(a_vault("notes").ref) == a_vault("notes")


def test_every_vault_of_every_tenant_is_known_for_reconciliation(directory: VaultDirectory) -> None:
    vaults = [a_vault("a"), a_vault("b"), a_vault("a", tenant=GLOBEX)]
    for vault in vaults:
        directory.create(vault, owner=ALICE)
    directory.set_member(vaults[0].ref, BOB, VaultRole.READER)

    assert set(directory.all_refs()) == {vault.ref for vault in vaults}
    assert len(directory.all_refs()) == 3


def test_everybody_who_has_a_vault_in_a_tenant_is_known_for_workers(
    directory: VaultDirectory,
) -> None:
    assert directory.users(ACME) == []
    assert directory.refs(ACME) == []
    notes, plans = a_vault("notes"), a_vault("plans")
    for vault in (notes, plans):
        directory.create(vault, owner=BOB)
    directory.set_member(plans.ref, ALICE, VaultRole.READER)
    directory.create(a_vault("notes", tenant=GLOBEX), owner=UserId("mallory"))

    assert directory.users(ACME) == [ALICE, BOB]
    assert directory.refs(ACME) == sorted([notes.ref, plans.ref], key=lambda ref: ref.id)
    assert directory.users(GLOBEX) == ["mallory"]


def test_a_user_of_more_vaults_than_one_read_takes_sees_them_all(
    directory: VaultDirectory, store: str
) -> None:
    # moto copies every table for each transaction.
    names = [f"vault-{number:03d}" for number in range(11 if store == MOTO else 101)]
    for name in names:
        directory.create(a_vault(name), owner=ALICE)

    assert [access.vault.name for access in directory.accessible(ACME, ALICE)] == names
