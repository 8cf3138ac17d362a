"""Every user's own vault: there from their first request, one whatever happens at once (R24)."""

from collections.abc import Sequence

import pytest

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal, UserId
from archivolt.domain.paths import name_problem
from archivolt.domain.personal_vaults import personal_names, personal_vault
from archivolt.domain.sync import SyncKind
from archivolt.domain.vault import VaultId, VaultRef, VaultRole
from archivolt.governance.admission import EarlyVerifier
from archivolt.governance.first_requests import FirstRequests
from archivolt.vaults.personal import PersonalVaults, Welcome
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, principal
from tests.index_world import plenty
from tests.sync_world import SyncWorld


class KnownTokens:
    """A `TokenVerifier` of tokens that are a tenant and a user."""

    def verify(self, token: str) -> Principal:
        tenant, _, user = token.partition("/")
        if not user:
            raise UnauthenticatedError("invalid_token")
        return principal(user, tenant=tenant)


class NewcomersWorld(SyncWorld):
    """An index, and the doors that new users come through."""

    def __init__(self) -> None:
        super().__init__()
        directory = self.line.across(self.directory)
        self.personal = PersonalVaults(directory, self.clock)

    def door(self, *, at_once: bool) -> FirstRequests:
        """Return the verifier of a function that has just started."""
        queue = self.line.across(self.jobs)
        welcome = Welcome(self.personal, lambda: queue, at_once=at_once)
        return FirstRequests(KnownTokens(), welcome.greet)

    def names(self, user: UserId = BOB) -> Sequence[str]:
        """Return the names of a user's vaults."""
        return [access.vault.name for access in self.directory.accessible(ACME, user)]


@pytest.fixture
def world() -> NewcomersWorld:
    return NewcomersWorld()


def test_who_comes_first_through_a_door_that_may_write_has_a_vault_when_answered(
    world: NewcomersWorld,
) -> None:
    world.door(at_once=True).verify("acme/bob")

    [access] = world.directory.accessible(ACME, BOB)
    assert (access.vault.name, access.role) == ("Notes-bob", VaultRole.OWNER)
    assert access.vault.ref == personal_vault(ACME, BOB)


def test_who_comes_through_another_door_has_it_when_the_first_synchronisation_ran(
    world: NewcomersWorld,
) -> None:
    world.door(at_once=False).verify("acme/bob")
    assert world.names() == []

    assert world.work() == []
    assert world.names() == ["Notes-bob"]


def test_a_first_synchronisation_is_scheduled_and_indexes_what_is_there(
    world: NewcomersWorld,
) -> None:
    world.write("a.md", "llamas", vault=personal_vault(ACME, BOB))
    world.door(at_once=True).verify("acme/bob")
    [job] = world.jobs.jobs
    assert (job.kind, job.user) == (SyncKind.FIRST, BOB)

    world.work()
    assert world.found("llamas", user=BOB) == ["a.md"]


def test_it_leaves_the_user_free_to_ask_for_a_synchronisation(world: NewcomersWorld) -> None:
    world.door(at_once=True).verify("acme/bob")

    assert world.requests.request(ACME, BOB).value == "started"


def test_requests_at_once_at_every_door_make_one_vault(world: NewcomersWorld) -> None:
    for at_once in (True, False, True):
        world.door(at_once=at_once).verify("acme/bob")
    world.work()

    assert world.names() == ["Notes-bob"]


def test_two_that_make_it_at_the_same_moment_make_one(world: NewcomersWorld) -> None:
    class Late(PersonalVaults):
        """One that looked before the other wrote."""

        looks = 0

        def exists(self, tenant: object, user: object) -> bool:
            self.looks += 1
            return self.looks > 1 and super().exists(ACME, BOB)

    world.personal.make(ACME, BOB)
    late = Late(world.directory, world.clock)

    assert late.make(ACME, BOB) == personal_vault(ACME, BOB)
    assert world.names() == ["Notes-bob"]


def test_a_process_asks_once_for_each_user(world: NewcomersWorld) -> None:
    door = world.door(at_once=False)
    for _ in range(3):
        door.verify("acme/bob")
        door.verify("acme/alice")

    assert sorted(job.user for job in world.jobs.jobs) == [ALICE, BOB]


def test_who_has_theirs_is_asked_nothing_more(world: NewcomersWorld) -> None:
    world.door(at_once=True).verify("acme/bob")
    world.jobs.take()

    world.door(at_once=True).verify("acme/bob")
    world.door(at_once=False).verify("acme/bob")
    assert world.jobs.jobs == []


def test_a_token_that_does_not_verify_makes_nothing(world: NewcomersWorld) -> None:
    with pytest.raises(UnauthenticatedError):
        world.door(at_once=True).verify("nobody")

    assert world.jobs.jobs == []
    assert len(world.directory.all_refs()) == 1


@pytest.mark.parametrize("down", ["get", "send", "create"])
def test_nobody_is_turned_away_while_it_cannot_be_made_and_it_is_made_up_for(
    world: NewcomersWorld, down: str
) -> None:
    door = world.door(at_once=True)
    world.line.take_down(down)
    assert door.verify("acme/bob").user == BOB
    world.line.calm()
    assert world.names() == []

    early = EarlyVerifier(door, KnownTokens(), door.has_met)  # they were let in all the same
    early.verify("acme/bob")
    assert world.names() == ["Notes-bob"]


def test_a_job_that_could_not_make_it_comes_again(world: NewcomersWorld) -> None:
    world.door(at_once=False).verify("acme/bob")
    [job] = world.jobs.take()
    worker = world.worker_of(world.personal)
    world.line.take_down("create")
    assert worker.run({"m": job}, time_left=plenty).failed == ["m"]
    world.line.calm()

    assert worker.run({"m": job}, time_left=plenty).failed == []
    assert world.names() == ["Notes-bob"]


def test_a_vault_of_that_name_is_not_taken_over(world: NewcomersWorld) -> None:
    world.new_vault("Notes-bob", owner=ALICE)
    world.door(at_once=True).verify("acme/bob")

    [name] = world.names()
    assert name.startswith("Notes-")
    assert name != "Notes-bob"


def test_who_takes_every_name_that_can_be_foreseen_keeps_nobody_from_theirs(
    world: NewcomersWorld,
) -> None:
    for number, name in enumerate(personal_names(ACME, BOB)):
        vault = a_vault(name, vault_id=f"squat-{number}")
        world.directory.create(vault, owner=ALICE)
    world.door(at_once=True).verify("acme/bob")

    assert len(world.names()) == 1


def test_a_user_of_the_same_id_in_another_tenant_has_another_vault() -> None:
    assert personal_vault(ACME, ALICE).id != personal_vault(GLOBEX, ALICE).id


@pytest.mark.parametrize(
    "user",
    ["alice", "al", "a.b@example.org", "Zoë", "auth0|5f7c8ec7", "DOMAIN\\al", "x" * 128, ".."],
)
def test_every_user_id_gives_names_that_a_vault_can_have(user: str) -> None:
    for name in personal_names(ACME, UserId(user)):
        assert name_problem(name) is None
        assert len(name) <= 64
    ref = personal_vault(ACME, UserId(user))
    assert ref == VaultRef(tenant=ACME, id=VaultId(ref.id))
    assert ref.id.isalnum()
