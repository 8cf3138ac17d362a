"""Batches of several tenants: each part to its tenant's worker, and no trouble shared."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby

from archivolt.domain.identity import TenantId
from archivolt.domain.ingestion import BatchOutcome, ChangeKind, ObjectChange, StrayChange
from archivolt.domain.paths import VaultPath
from archivolt.ingestion.announced import Announced, by_tenant
from archivolt.ingestion.every_vault import EveryVault
from archivolt.ingestion.per_tenant import TenantBatches, TimeLeft
from archivolt.ingestion.reconcile import Reconcile
from tests.builders import ACME, BOB, GLOBEX, a_vault, vault_ref
from tests.index_world import IndexWorld, plenty


class Worker:
    """Notes what it was given; fails the messages that say so."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}

    def run(self, messages: Mapping[str, str], /, *, time_left: TimeLeft) -> BatchOutcome:
        assert time_left() > timedelta(0)
        self.given |= messages
        return BatchOutcome(failed=[key for key, text in messages.items() if "fails" in text])


def tenant_of(message: str) -> list[tuple[TenantId, str]]:
    return [(TenantId(part.split()[0]), part) for part in message.split(", ")]


def test_each_worker_is_given_its_tenants_messages_alone() -> None:
    workers = {ACME: Worker(), GLOBEX: Worker()}
    batches = TenantBatches(tenant_of, workers.__getitem__)

    outcome = batches.run(
        {"1": "acme one", "2": "globex two fails", "3": "acme three"}, time_left=plenty
    )

    assert workers[ACME].given == {"1": "acme one", "3": "acme three"}
    assert workers[GLOBEX].given == {"2": "globex two fails"}
    assert outcome.failed == ["2"]


def test_a_message_for_two_tenants_comes_again_once_for_both() -> None:
    workers = {ACME: Worker(), GLOBEX: Worker()}
    batches = TenantBatches(tenant_of, workers.__getitem__)

    outcome = batches.run({"1": "acme fails, globex fails"}, time_left=plenty)

    assert (workers[ACME].given, workers[GLOBEX].given) == (
        {"1": "acme fails"},
        {"1": "globex fails"},
    )
    assert outcome.failed == ["1"]


def test_a_tenant_whose_worker_cannot_be_made_fails_nobody_else() -> None:
    worker = Worker()
    batches = TenantBatches(tenant_of, {ACME: worker}.__getitem__)

    outcome = batches.run({"1": "globex one", "2": "acme two"}, time_left=plenty)

    assert outcome.failed == ["1"]
    assert worker.given == {"2": "acme two"}


def test_what_is_announced_is_parted_by_whose_it_is() -> None:
    change = ObjectChange(
        kind=ChangeKind.CREATED, vault=vault_ref(), path=VaultPath("a.md"), sequencer=None
    )
    stray = StrayChange(tenant=GLOBEX, vault=None)
    announced: Announced = [change, stray, change]

    assert by_tenant(announced) == [(ACME, [change, change]), (GLOBEX, [stray])]
    assert by_tenant([]) == []


def test_every_vault_is_compared_by_its_own_tenants_reconciliation() -> None:
    world = IndexWorld()
    vault = a_vault("theirs", tenant=GLOBEX)
    world.directory.create(vault, owner=BOB)
    world.write("a.md", "llamas")
    world.write("b.md", "alpacas", vault=vault.ref)
    asked: list[TenantId] = []

    def reconcile_of(tenant: TenantId) -> Reconcile:
        asked.append(tenant)
        if tenant == GLOBEX:
            raise PermissionError
        return world.reconcile

    found = EveryVault(world.directory, reconcile_of, world.clock).run(time_left=plenty)

    assert sorted(asked) == [ACME, GLOBEX]
    assert (found.vaults, found.failed_vaults, found.changed) == (2, 1, 1)
    assert found.complete


def test_the_vaults_of_a_tenant_are_compared_one_after_the_other() -> None:
    world = IndexWorld()
    tenants = [TenantId(f"t{number}") for number in range(5)]
    for tenant in tenants:
        for number in range(4):
            world.directory.create(a_vault(f"v{number}", tenant=tenant), owner=BOB)
    orders: list[list[TenantId]] = []
    for _ in range(2):
        asked: list[TenantId] = []

        def reconcile_of(tenant: TenantId, asked: list[TenantId] = asked) -> Reconcile:
            asked.append(tenant)
            return world.reconcile

        EveryVault(world.directory, reconcile_of, world.clock).run(time_left=plenty)
        assert len(asked) == len(tenants) * 4 + 1
        assert len(list(groupby(asked))) == len(set(asked))
        orders.append(asked)
        world.clock.advance(hours=24)
    assert orders[0] != orders[1]
