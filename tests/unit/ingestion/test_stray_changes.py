"""Changes that fit no known vault: nobody's is guessed, everybody is synchronised (R16)."""

from dataclasses import replace

import pytest

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import ChangeKind, ObjectChange, StrayChange, sequencer
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ingestion.stray_changes import StrayChanges
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, vault_ref
from tests.sync_world import SyncWorld

NOWHERE = vault_ref("nowhere")


class StrayWorld(SyncWorld):
    """Vaults of two people of Acme and one of Globex, and events about others."""

    def __init__(self) -> None:
        super().__init__()
        self.new_vault("bobs", owner=BOB)
        elsewhere = a_vault("notes", vault_id="elsewhere", tenant=GLOBEX)
        self.directory.create(elsewhere, owner=UserId("mallory"))
        self.strays = self.process()

    def process(self) -> StrayChanges:
        """Return what a function that has just started stands on."""
        return StrayChanges(self.line.across(self.directory), self.requests, self.clock)

    def asked(self) -> list[tuple[TenantId, UserId]]:
        """Return for whom a synchronisation waits."""
        return [(job.tenant, job.user) for job in self.jobs.jobs]


def change(vault: VaultRef, path: str = "a.md") -> ObjectChange:
    return ObjectChange(
        kind=ChangeKind.CREATED, vault=vault, path=VaultPath(path), sequencer=sequencer("1")
    )


@pytest.fixture
def world() -> StrayWorld:
    return StrayWorld()


def test_a_change_in_a_known_vault_goes_its_way(world: StrayWorld) -> None:
    known = change(world.vault)

    assert world.strays.settle({"m": [known]}) == ({"m": [known]}, [])
    assert world.asked() == []


@pytest.mark.parametrize(
    "stray",
    [
        change(NOWHERE),
        StrayChange(tenant=ACME, vault=NOWHERE),
        StrayChange(tenant=ACME, vault=None),
    ],
)
def test_everybody_of_the_tenant_is_synchronised_and_nothing_is_indexed(
    world: StrayWorld, stray: ObjectChange | StrayChange
) -> None:
    assert world.strays.settle({"m": [stray]}) == ({"m": []}, [])

    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]


def test_the_name_of_a_user_or_a_vault_in_the_key_means_nothing(world: StrayWorld) -> None:
    for named in (vault_ref("bob"), vault_ref("bobs"), vault_ref("notes")):
        assert world.process().settle({"m": [change(named, "bob/a.md")]})[0] == {"m": []}

    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]
    assert not list(world.catalogue.entries(world.vault))


def test_what_the_event_should_have_told_is_found(world: StrayWorld) -> None:
    world.write("a.md", "llamas")
    world.strays.settle({"m": [change(NOWHERE)]})
    world.work()

    assert world.found("llamas") == ["a.md"]


def test_what_is_no_document_of_a_known_vault_concerns_nobody(world: StrayWorld) -> None:
    stray = StrayChange(tenant=ACME, vault=world.vault)

    assert world.strays.settle({"m": [stray]}) == ({"m": []}, [])
    assert world.asked() == []


def test_a_tenant_that_has_no_vault_concerns_nobody(world: StrayWorld) -> None:
    world.strays.settle({"m": [change(vault_ref("v", tenant="initech"))]})

    assert world.asked() == []


def test_ten_thousand_of_them_are_one_synchronisation_each(world: StrayWorld) -> None:
    for number in range(1_000):
        batch = {f"{number}-{each}": [change(NOWHERE, f"{number}/{each}.md")] for each in range(10)}
        changes, failed = world.strays.settle(batch)
        assert not any(changes.values())
        assert not failed

    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]


def test_other_processes_meet_the_leases(world: StrayWorld) -> None:
    for _ in range(10):
        world.process().settle({"m": [change(NOWHERE)]})

    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]


def test_after_a_while_it_is_asked_for_again(world: StrayWorld) -> None:
    world.strays.settle({"m": [change(NOWHERE)]})
    world.work()
    world.clock.advance(seconds=SYNC_LEASE_SECONDS - 1)
    world.strays.settle({"m": [change(NOWHERE)]})
    assert world.asked() == []

    world.clock.advance(seconds=1)
    world.strays.settle({"m": [change(NOWHERE)]})
    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]


def test_a_vault_that_is_made_later_is_known_then(world: StrayWorld) -> None:
    world.strays.settle({"m": [change(NOWHERE)]})
    world.directory.create(a_vault("late", vault_id=NOWHERE.id), owner=ALICE)

    assert world.strays.settle({"m": [change(NOWHERE)]}) == ({"m": [change(NOWHERE)]}, [])


@pytest.mark.parametrize("down", ["get", "users", "send"])
def test_what_could_not_be_seen_to_comes_again_and_leaves_the_others_alone(
    world: StrayWorld, down: str
) -> None:
    known = change(world.vault)
    world.strays.settle({"m": [known]})
    world.line.take_down(down)
    assert world.strays.settle({"stray": [change(NOWHERE)], "m": [known]}) == (
        {"m": [known]},
        ["stray"],
    )
    world.line.calm()

    assert world.strays.settle({"stray": [change(NOWHERE)]}) == ({"stray": []}, [])
    assert world.asked() == [(ACME, ALICE), (ACME, BOB)]


def test_what_goes_with_a_vault_that_is_erased_concerns_nobody(world: StrayWorld) -> None:
    gone = replace(change(NOWHERE), kind=ChangeKind.DELETED)

    assert world.strays.settle({"m": [gone]}) == ({"m": []}, [])
    assert world.asked() == []


def test_a_vault_that_was_known_is_not_believed_in_for_long(world: StrayWorld) -> None:
    gone = replace(change(world.vault), kind=ChangeKind.DELETED)
    assert world.strays.settle({"m": [gone]}) == ({"m": [gone]}, [])

    world.directory.forget(world.vault)
    world.clock.advance(seconds=61)

    assert world.strays.settle({"m": [gone]}) == ({"m": []}, [])
