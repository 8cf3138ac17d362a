"""Vaults, their members, and who may change them."""

from contextlib import suppress

import pytest

from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import Role
from archivolt.domain.ingestion import membership_job
from archivolt.domain.vault import VaultRole
from archivolt.vaults.access import VaultService
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.fakes.embedding import InMemoryQueue
from tests.fakes.faults import Death
from tests.world import World

ALICE_ = principal(ALICE)
BOB_ = principal(BOB)
ALICE_OF_GLOBEX = principal(ALICE, tenant=GLOBEX)
ROOT_ = principal("root", role=Role.CPI_ADMIN)


@pytest.fixture
def world() -> World:
    return World()


def test_who_creates_a_vault_owns_it(world: World) -> None:
    created = world.vaults.create(BOB_, "Été 2026")

    assert (created.name, created.role, created.files) == ("Été 2026", VaultRole.OWNER, 0)
    assert world.vaults.access(BOB_, "Été 2026").role is VaultRole.OWNER


def test_each_vault_has_an_id_of_its_own_that_its_name_does_not_tell(world: World) -> None:
    world.vaults.create(ALICE_, "notes")
    world.vaults.create(ALICE_OF_GLOBEX, "notes")

    ids = {world.vaults.access(who, "notes").vault.ref.id for who in (ALICE_, ALICE_OF_GLOBEX)}
    assert len(ids) == 2
    assert not any("notes" in id_ for id_ in ids)


def test_two_vaults_of_a_tenant_do_not_share_a_name(world: World) -> None:
    world.vaults.create(ALICE_, "créer")

    with pytest.raises(ConflictError, match="vault_exists"):
        world.vaults.create(BOB_, "cre\u0301er")


def test_a_vault_is_found_by_either_unicode_form_of_its_name(world: World) -> None:
    world.vaults.create(ALICE_, "créer")

    assert world.vaults.access(ALICE_, "cre\u0301er").vault.name == "créer"


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\x00b", "n" * 65])
def test_a_name_that_could_mislead_makes_no_vault(world: World, name: str) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_vault_name"):
        world.vaults.create(ALICE_, name)


@pytest.mark.parametrize("who", [BOB_, ALICE_OF_GLOBEX, ROOT_], ids=["colleague", "abroad", "root"])
def test_a_vault_of_others_looks_like_one_that_does_not_exist(world: World, who: object) -> None:
    world.vaults.create(ALICE_, "notes")

    for name in ("notes", "nothing", "n" * 65, "\ud800"):
        with pytest.raises(NotFoundError) as caught:
            world.vaults.access(who, name)  # type: ignore[arg-type]
        assert caught.value.code == "vault_not_found"


def test_a_list_holds_the_callers_vaults_by_name_with_role_and_files(world: World) -> None:
    ideas = world.vault("ideas", owner=BOB_)
    world.share(ideas, ALICE_, VaultRole.WRITER)
    notes = world.vault("notes")
    world.vault("private", owner=BOB_)
    world.write(notes, "a.md", "a")
    world.write(notes, "b.png", b"\x00")
    world.directory.forbid_destructive_tools(notes)

    listed = world.vaults.summaries(ALICE_)

    assert [(v.name, v.role.value, v.files, v.ai_destructive_tools) for v in listed] == [
        ("ideas", "writer", 0, True),
        ("notes", "owner", 2, False),
    ]


def test_an_owner_adds_changes_and_removes_members(world: World) -> None:
    ref = world.vault("notes")

    world.vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)
    world.vaults.set_member(ALICE_, "notes", BOB, VaultRole.WRITER)
    assert world.directory.members(ref) == [(ALICE, VaultRole.OWNER), (BOB, VaultRole.WRITER)]

    world.vaults.remove_member(ALICE_, "notes", BOB)
    assert world.directory.members(ref) == [(ALICE, VaultRole.OWNER)]
    with pytest.raises(NotFoundError, match="vault_not_found"):
        world.vaults.access(BOB_, "notes")


def test_the_index_is_told_who_joined_and_who_left(world: World) -> None:
    ref = world.vault("notes")
    queue = InMemoryQueue()
    vaults = VaultService(world.directory, world.catalogue, world.clock, queue=lambda: queue)
    vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)
    assert queue.take() == [membership_job(ref, BOB)]
    vaults.remove_member(ALICE_, "notes", BOB)
    assert queue.take() == [membership_job(ref, BOB)]


def test_the_index_is_told_at_last_of_who_left_while_it_could_not_be(world: World) -> None:
    ref = world.vault("notes")
    queue = InMemoryQueue()
    reached = world.line.across(queue)
    vaults = VaultService(world.directory, world.catalogue, world.clock, queue=lambda: reached)
    vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)
    queue.take()
    world.line.take_down("send")
    with pytest.raises(UnavailableError):
        vaults.remove_member(ALICE_, "notes", BOB)
    world.line.calm()

    with pytest.raises(NotFoundError, match="member_not_found"):
        vaults.remove_member(ALICE_, "notes", BOB)
    assert queue.take() == [membership_job(ref, BOB)]


@pytest.mark.parametrize("leaves", [True, False])
def test_the_index_learns_of_a_change_that_whoever_made_it_did_not_live_to_tell(
    world: World, *, leaves: bool
) -> None:
    ref, queue, changed = world.vault("notes"), InMemoryQueue(), 0
    reached, directory = world.line.across(queue), world.line.across(world.directory)
    vaults = VaultService(directory, world.catalogue, world.clock, queue=lambda: reached)
    for moment in range(20):
        if leaves:
            world.directory.set_member(ref, BOB, VaultRole.READER)
        queue.later.clear()
        before = world.directory.members(ref)
        world.line.strike_after(moment)
        with suppress(Death):
            if leaves:
                vaults.remove_member(ALICE_, "notes", BOB)
            else:
                vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)
        world.line.calm()
        if world.directory.members(ref) != before:
            changed += 1
            assert queue.later == [membership_job(ref, BOB)]
            if not leaves:
                world.directory.remove_member(ref, BOB)
    assert 0 < changed < 20


def test_nobody_joins_of_whom_the_index_could_not_be_told(world: World) -> None:
    ref = world.vault("notes")
    queue = InMemoryQueue()
    reached = world.line.across(queue)
    vaults = VaultService(world.directory, world.catalogue, world.clock, queue=lambda: reached)
    world.line.take_down("send_later")
    with pytest.raises(UnavailableError):
        vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)
    assert world.directory.members(ref) == [(ALICE, VaultRole.OWNER)]


def test_a_member_who_is_no_owner_changes_no_members(world: World) -> None:
    world.share(world.vault("notes"), BOB_, VaultRole.WRITER)

    with pytest.raises(ForbiddenError, match="owner_required"):
        world.vaults.set_member(BOB_, "notes", BOB, VaultRole.OWNER)
    with pytest.raises(ForbiddenError, match="owner_required"):
        world.vaults.remove_member(BOB_, "notes", ALICE)


def test_who_is_no_member_learns_nothing_by_changing_members(world: World) -> None:
    world.vault("notes")

    with pytest.raises(NotFoundError, match="vault_not_found"):
        world.vaults.set_member(ROOT_, "notes", "root", VaultRole.OWNER)


def test_the_last_owner_neither_leaves_nor_becomes_less(world: World) -> None:
    ref = world.vault("notes")
    world.vaults.set_member(ALICE_, "notes", BOB, VaultRole.WRITER)

    with pytest.raises(ConflictError, match="last_owner"):
        world.vaults.remove_member(ALICE_, "notes", ALICE)
    with pytest.raises(ConflictError, match="last_owner"):
        world.vaults.set_member(ALICE_, "notes", ALICE, VaultRole.READER)

    world.vaults.set_member(ALICE_, "notes", BOB, VaultRole.OWNER)
    world.vaults.remove_member(ALICE_, "notes", ALICE)
    assert world.directory.members(ref) == [(BOB, VaultRole.OWNER)]


def test_removing_who_is_no_member_says_so(world: World) -> None:
    world.vault("notes")

    with pytest.raises(NotFoundError, match="member_not_found"):
        world.vaults.remove_member(ALICE_, "notes", "nobody")


@pytest.mark.parametrize("user", ["", "a b", "a/b", "u" * 129])
def test_what_is_no_user_id_becomes_no_member(world: World, user: str) -> None:
    world.vault("notes")

    with pytest.raises(InvalidRequestError, match="invalid_request"):
        world.vaults.set_member(ALICE_, "notes", user, VaultRole.READER)


def test_members_belong_to_the_tenant_of_the_vault(world: World) -> None:
    world.vault("notes")
    world.vaults.set_member(ALICE_, "notes", BOB, VaultRole.READER)

    assert world.directory.accessible(ACME, BOB)
    assert not world.directory.accessible(GLOBEX, BOB)
