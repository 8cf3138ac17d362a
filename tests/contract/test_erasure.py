"""An erasure leaves nothing behind, counts what was there, and survives every crash."""

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from archivolt.adapters.dynamodb.erasures import Planned
from archivolt.adapters.dynamodb.ledger import DynamoLedger
from archivolt.adapters.dynamodb.mcp_accounts import DynamoMcpAccounts
from archivolt.adapters.dynamodb.writes import Delete, Key
from archivolt.adapters.erasure import objects
from archivolt.adapters.erasure.inventory import FOLDERS, KINDS
from archivolt.adapters.erasure.old_exports import OldExports
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.domain.erasure import Erasure, ErasureState, pseudonym
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import Role, UserId
from archivolt.domain.tenancy import TenantState
from archivolt.domain.token_forms import digest_of
from archivolt.domain.usage import Balance, month_of
from archivolt.domain.vault import VaultRef, VaultRole
from tests.account_world import a_pending_sign_in, an_account
from tests.builders import ACME, ALICE, GLOBEX, a_vault, principal
from tests.contract.conftest import MINISTACK, VECTORS_KEY, NewBucket, NewTable
from tests.erasure_world import NOTE, PLENTY, ErasureWorld
from tests.fakes.clock import START

CANARY = "canary-of-alice"
OF_TEAM = "canary-of-the-team"
OF_OTHERS = "canary-of-globex"

pytestmark = pytest.mark.dynamodb_local


@pytest.fixture
def rest(vector_facade: str) -> Iterator[QdrantRest]:
    rest = QdrantRest(vector_facade, VECTORS_KEY)
    yield rest
    rest.close()


@pytest.fixture
def world(new_local_table: NewTable, new_bucket: NewBucket, rest: QdrantRest) -> ErasureWorld:
    """Amazon's own tables, the bucket of the stack's emulator, the embedded vector store."""
    return ErasureWorld(new_local_table, new_bucket(MINISTACK), rest)


def filled(world: ErasureWorld) -> tuple[VaultRef, VaultRef]:
    """Alice has a vault of her own and shares one with bob; globex has the same, of gina."""
    own = world.vault("own", ALICE, tenant=ACME)
    team = world.vault("team", "bob", ALICE, tenant=ACME)
    theirs = world.vault("own", "gina", tenant=GLOBEX)
    world.fill_vault(own, CANARY, readers=[ALICE])
    world.fill_vault(team, OF_TEAM, readers=["bob", ALICE])
    world.fill_vault(theirs, OF_OTHERS, readers=["gina"])
    world.fill_user(ACME, ALICE, CANARY)
    world.fill_user(ACME, "bob", "of-bob")
    world.fill_user(GLOBEX, "gina", OF_OTHERS)
    world.fill_tenant(ACME, "of-acme")
    world.fill_tenant(GLOBEX, OF_OTHERS)
    world.note(principal("bob"), "read by bob", vault="team")
    return own, team


def removed(before: Any, after: Any) -> dict[str, int]:  # noqa: ANN401  counters
    gone = {store: number - after[store] for store, number in before.items()}
    return {store: number for store, number in gone.items() if number}


def deleted(receipt: Erasure, *, but: str = "") -> dict[str, int]:
    return {store: number for store, number in receipt.deleted.items() if number and store != but}


def test_nothing_of_a_user_is_left_and_everything_of_others_is(world: ErasureWorld) -> None:
    filled(world)
    world.note(principal("bob", role=Role.TENANT_ADMIN), "suspended", vault="", whom=ALICE)
    before, counts = world.everything(), world.counts()
    taken_out = sum(f'"{ALICE}"' in text for text in before["audit"].values())

    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    assert asked.state is ErasureState.ERASING
    world.work()

    receipt = world.erasures.receipt(principal("bob", role=Role.TENANT_ADMIN), asked.id)
    assert receipt.is_complete
    assert len(receipt.verified_at) == 2
    assert world.mentions(CANARY) == []
    # Who was erased, nothing says any more, not even the receipt.
    assert world.mentions(ALICE) == []
    assert receipt.asked_by == receipt.subject.name == pseudonym(ACME, ALICE)
    # The mark that kept her out went last, and is no more of what was counted.
    assert deleted(receipt, but="audit") | {"control": receipt.deleted["control"] + 1} == removed(
        counts, world.counts()
    )
    assert receipt.deleted["audit"] == taken_out > 0
    after = world.everything()
    for store_name, things in before.items():
        for place, text in things.items():
            if "bob" in text or "gina" in text or OF_OTHERS in text or OF_TEAM in text:
                kept = after[store_name].get(place, "")
                assert kept or ALICE in text + place or store_name == "vectors", place
    assert world.directory.access(ACME, UserId("bob"), "team").vault.name == "team"
    assert len(world.mentions(OF_TEAM)) > 0


def test_nothing_of_a_vault_is_left_and_everything_of_others_is(world: ErasureWorld) -> None:
    _, team = filled(world)
    world.note(principal("bob"), OF_TEAM, vault="team")
    counts = world.counts()
    of_others = len(world.mentions(OF_OTHERS))
    access = world.directory.access(ACME, UserId("bob"), "team")

    asked = world.erasures.erase_vault(principal("bob"), access, confirm="team")
    with pytest.raises(NotFoundError):
        world.directory.access(ACME, UserId("bob"), "team")
    world.work()

    receipt = world.erasures.receipt(principal("bob"), asked.id)
    assert receipt.is_complete
    assert world.mentions(OF_TEAM) == []
    assert [place for place in world.mentions(team.id) if "ERASURE" not in place] == []
    assert deleted(receipt, but="audit") == removed(counts, world.counts())
    assert receipt.deleted["audit"] == 2
    assert receipt.deleted["documents"] == 4
    assert len(world.mentions(OF_OTHERS)) == of_others
    # Who did something there is still told, and no more where.
    assert any("bob" in text for text in world.everything()["audit"].values())


def test_nothing_of_a_tenant_is_left_but_that_it_was(world: ErasureWorld) -> None:
    filled(world)
    counts = world.counts()
    of_others = len(world.mentions(OF_OTHERS))
    cpi = principal("root", tenant="operator", role=Role.CPI_ADMIN)

    asked = world.erasures.erase_tenant(cpi, ACME, confirm=ACME)
    found = world.people.tenant(ACME)
    assert found is not None
    assert found.state is TenantState.DELETING
    world.work()

    receipt = world.erasures.receipt(cpi, asked.id)
    assert receipt.is_complete
    for canary in (CANARY, OF_TEAM, "of-acme", "of-bob"):
        assert world.mentions(canary) == []
    left = [place for place in world.mentions(ACME) if "ERASURE" not in place]
    assert sorted(left) == [f"control: TENANT#{ACME} / STATE", f"control: TENANTS / {ACME}"]
    assert deleted(receipt) == removed(counts, world.counts())
    assert len(world.mentions(OF_OTHERS)) == of_others
    gone = world.people.tenant(ACME)
    assert gone is not None
    assert (gone.state, gone.name) == (TenantState.DELETED, "")


def test_what_was_under_way_leaves_nothing_behind(world: ErasureWorld) -> None:
    own, _ = filled(world)
    accounts, signing_in = DynamoMcpAccounts(world.tables["control"]), digest_of("another")
    accounts.begin(a_pending_sign_in(ACME, ALICE, digest=signing_in))
    assert accounts.take(ACME, signing_in)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    [(erasure_id, _)] = world.queue.sent
    world.queue.sent.clear()
    world.worker.run(erasure_id, time_left=lambda: PLENTY)
    settling = world.erasures.receipt(principal(ALICE), asked.id)
    assert (settling.state, settling.is_complete) == (ErasureState.SETTLING, False)
    assert not accounts.connect(an_account(ACME, ALICE), signing_in)

    # An upload that was signed before, a turn that began before, a job of the index.
    world.files.create(own, NOTE, CANARY.encode())
    world.fill_user(ACME, ALICE, CANARY)
    world.work()

    receipt = world.erasures.receipt(principal("root", role=Role.CPI_ADMIN), asked.id)
    assert receipt.is_complete
    assert world.mentions(CANARY) == []


class Deaths:
    """Kills the process at every call of its kind once before, and once after it was done."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self.struck = 0

    def across(self, client: Any) -> None:  # noqa: ANN401  a client of any service
        calling = client._make_api_call

        def call(operation: str, parameters: dict[str, Any]) -> Any:  # noqa: ANN401  botocore's
            sign = self._sign(operation, parameters)
            times = self.seen[sign] = self.seen.get(sign, 0) + 1
            if times == 1:
                self.struck += 1
                raise KeyboardInterrupt
            answer = calling(operation, parameters)
            if times == 2:
                self.struck += 1
                raise KeyboardInterrupt
            return answer

        client._make_api_call = call

    def _sign(self, operation: str, parameters: dict[str, Any]) -> str:
        """Return what tells calls apart that change something: what, where, and at which place."""
        if operation not in {"UpdateItem", "TransactWriteItems", "DeleteObjects"}:
            self.seen[operation] = 9
            return operation
        writes = parameters.get("TransactItems") or [parameters]
        keys = [str(each.get("Key")) for write in writes for each in _writes_in(write)]
        values = parameters.get("ExpressionAttributeValues", {})
        places = sorted(str(each) for each in values.values() if len(str(each)) < 22)
        return f"{operation} {keys} {places}"


def _writes_in(write: dict[str, Any]) -> list[dict[str, Any]]:
    return [write.get(kind, {}) for kind in ("Put", "Update", "Delete")] + [write]


@pytest.mark.parametrize("scope", ["user", "tenant"])
def test_a_process_may_die_between_any_two_steps(
    new_local_table: NewTable,
    new_bucket: NewBucket,
    rest: QdrantRest,
    scope: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objects, "_AT_ONCE", 2)
    world = ErasureWorld(new_local_table, new_bucket(MINISTACK), rest, settle=timedelta())
    filled(world)
    counts = world.counts()
    if scope == "user":
        asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    else:
        cpi = principal("root", tenant="operator", role=Role.CPI_ADMIN)
        asked = world.erasures.erase_tenant(cpi, ACME, confirm=ACME)
    deaths = Deaths()
    deaths.across(world.bucket.client)
    # All tables have one client.
    deaths.across(vars(world.tables["control"])["_client"])

    lives = 0
    while (found := world.records.get(asked.id)) and found.state is not ErasureState.DONE:
        lives += 1
        assert lives < 2_000
        world.clock.advance(seconds=1_000)
        try:
            world.worker.run(asked.id, time_left=lambda: PLENTY)
        except KeyboardInterrupt:
            continue

    assert deaths.struck > 60
    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete
    gone = removed(counts, world.counts())
    if scope == "user":
        gone["control"] -= 1
    assert deleted(receipt, but="" if scope == "tenant" else "audit") == gone


def test_one_worker_at_a_time_works_on_an_erasure(world: ErasureWorld) -> None:
    world.fill_user(ACME, ALICE, CANARY)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    until = START + timedelta(minutes=16)

    assert world.records.take(asked.id, now=START, until=until) is not None
    assert world.records.take(asked.id, now=START, until=until) is None
    assert world.records.take(asked.id, now=until, until=until) is not None


def test_what_is_asked_for_twice_is_done_once(world: ErasureWorld) -> None:
    world.fill_user(ACME, ALICE, CANARY)
    first = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    again = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)

    assert again.id == first.id
    world.work()
    assert world.records.unfinished() == []


def test_a_daily_look_finds_what_a_lost_message_left(world: ErasureWorld) -> None:
    world.fill_user(ACME, ALICE, CANARY)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    world.queue.sent.clear()

    assert world.worker.run_all(time_left=lambda: PLENTY) == 1
    world.work()

    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete


def test_an_erasure_goes_on_where_its_time_ended(world: ErasureWorld) -> None:
    world.fill_user(ACME, ALICE, CANARY)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    world.queue.sent.clear()
    moments = iter([PLENTY] * 5)

    world.worker.run(asked.id, time_left=lambda: next(moments, timedelta()))

    begun = world.records.get(asked.id)
    assert begun is not None
    assert begun.step > 0
    assert world.queue.sent == [(asked.id, timedelta())]
    world.work()
    done = world.records.get(asked.id)
    assert done is not None
    assert done.is_complete


def test_who_alone_owns_what_others_use_has_to_name_another_owner(world: ErasureWorld) -> None:
    world.vault("team", "bob", ALICE, tenant=ACME)

    with pytest.raises(ConflictError) as refused:
        world.erasures.erase_user(principal("root", role=Role.TENANT_ADMIN), "bob", confirm="bob")

    assert refused.value.code == "last_owner_of"
    assert world.records.unfinished() == []


def test_what_was_set_aside_for_who_is_erased_ends_in_the_month_of_the_tenant(
    world: ErasureWorld,
) -> None:
    ledger = DynamoLedger(world.tables["ledger"])
    month = month_of(START)
    world.fill_user(ACME, ALICE, CANARY)
    assert ledger.balance(ACME, month) == Balance(spent=2, reserved=10)
    world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)

    world.work()

    # The call that had left is charged in full, the other one is given back.
    assert ledger.balance(ACME, month) == Balance(spent=7, reserved=0)
    assert ledger.usage_of_tenant(ACME, month).total.micros == 7
    late = world.clock.now() + timedelta(days=1)
    assert ledger.expired(ACME, late, limit=9) == []
    assert world.mentions(ALICE) == []


@pytest.mark.parametrize(
    "damaged", [gzip.compress(b"of alice")[:-9], gzip.compress(b'{"user": "alice"}\n[]\n')]
)
def test_an_exported_file_that_cannot_be_read_goes_and_stops_no_erasure(
    world: ErasureWorld, damaged: bytes
) -> None:
    client, bucket = world.bucket
    day = START.date()
    for key in (f"audit/{ACME}/{day}.jsonl.gz", f"audit/{GLOBEX}/{day}.jsonl.gz"):
        client.put_object(Bucket=bucket, Key=key, Body=damaged)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)

    world.work()

    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete
    assert receipt.deleted["exported_audit"] == 1
    assert [key.partition(" ")[0] for key in world.everything()["exported_audit"]] == [
        f"audit/{GLOBEX}/{day}.jsonl.gz"
    ]


def test_an_exported_file_that_went_by_its_age_meanwhile_needs_nothing(
    world: ErasureWorld,
) -> None:
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    world.records.plan(asked, "exported_audit", Planned(2, f"audit/{ACME}/2020-01-01.jsonl.gz"))

    world.work()

    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete


def test_a_vault_that_takes_the_name_of_an_erased_one_keeps_what_the_log_says_of_it(
    world: ErasureWorld,
) -> None:
    team = world.vault("team", "bob", tenant=ACME)
    world.note(principal("bob"), OF_TEAM, vault="team")
    export(world, OF_TEAM)
    access = world.directory.access(ACME, UserId("bob"), "team")
    asked = world.erasures.erase_vault(principal("bob"), access, confirm="team")
    [(erasure_id, _)] = world.queue.sent
    world.queue.sent.clear()
    world.worker.run(erasure_id, time_left=lambda: PLENTY)
    world.clock.advance(seconds=90)
    world.directory.create(a_vault("team", vault_id="another"), owner=UserId("bob"))
    world.note(principal("bob"), "of the other one", vault="team")

    world.work()

    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete
    assert gone(world, team, OF_TEAM)
    assert (receipt.deleted["audit"], receipt.deleted["exported_audit"]) == (1, 1)
    [kept] = world.mentions("of the other one")
    assert kept.startswith("audit")


def test_what_is_exported_goes_with_the_log_however_late_it_was_written_anew(
    world: ErasureWorld,
) -> None:
    client, bucket = world.bucket
    kept_from = START.date()
    for tenant in (ACME, GLOBEX):
        for back in (2, 1, 0):
            day = kept_from - timedelta(days=back)
            for ending in ("jsonl.gz", "seal.json", "jsonl.gz"):
                client.put_object(Bucket=bucket, Key=f"audit/{tenant}/{day}.{ending}", Body=b"x")
    client.delete_object(
        Bucket=bucket, Key=f"audit/{ACME}/{kept_from - timedelta(days=2)}.jsonl.gz"
    )
    exports = OldExports(world.bucket)

    assert exports.remove(before=kept_from, time_left=timedelta) == 0
    assert exports.remove(before=kept_from, time_left=lambda: PLENTY) == 13

    left = [key.partition(" ")[0] for key in world.everything()["exported_audit"]]
    assert {key.rpartition("/")[2].partition(".")[0] for key in left} == {str(kept_from)}
    assert len(left) == 6


def export(world: ErasureWorld, canary: str) -> None:
    """Export a line of the vault "team", as the log is."""
    line: dict[str, Any] = {
        "user": "bob",
        "vault": "team",
        "path": canary,
        "details": {},
        "at": world.clock.now().isoformat(),
    }
    world.bucket.client.put_object(
        Bucket=world.bucket.name,
        Key=f"audit/{ACME}/{START.date()}.jsonl.gz",
        Body=gzip.compress(json.dumps(line).encode()),
    )


def gone(world: ErasureWorld, vault: VaultRef, canary: str) -> bool:
    """Tell whether nothing is left of a vault but its id in receipts."""
    left = [place for place in world.mentions(vault.id) if "ERASURE" not in place]
    return not left and not world.mentions(canary)


def owned_by_two(world: ErasureWorld) -> VaultRef:
    both = world.vault("both", ALICE, "bob", tenant=ACME)
    world.directory.set_member(both, UserId("bob"), VaultRole.OWNER)
    world.fill_vault(both, OF_TEAM, readers=["bob", ALICE])
    return both


@pytest.mark.parametrize("at_once", [False, True])
def test_a_vault_goes_with_the_last_of_its_owners_whoever_is_erased_first(
    world: ErasureWorld, monkeypatch: pytest.MonkeyPatch, *, at_once: bool
) -> None:
    both = owned_by_two(world)
    with monkeypatch.context() as patch:
        if at_once:
            # Neither request sees the other one's.
            patch.setattr(world.records, "unfinished", list[str])
        asked = [
            world.erasures.erase_user(principal(user), user, confirm=user)
            for user in (ALICE, "bob")
        ]

    world.work()
    world.work()

    receipts = [world.records.get(each.id) for each in asked]
    assert all(receipt and receipt.is_complete for receipt in receipts)
    assert gone(world, both, OF_TEAM)


def test_a_vault_that_the_others_left_meanwhile_goes_with_its_last_owner(
    world: ErasureWorld,
) -> None:
    both = owned_by_two(world)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    assert asked.subject.vaults == ()
    world.note(principal("bob"), OF_TEAM, vault="both")
    world.directory.remove_member(both, UserId("bob"))
    world.clock.advance(seconds=1)

    world.work()

    assert gone(world, both, OF_TEAM)
    assert not any('"both"' in text for text in world.everything()["audit"].values())


def test_a_vault_that_all_left_at_once_goes_with_the_next_walk(world: ErasureWorld) -> None:
    both = owned_by_two(world)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    [(erasure_id, _)] = world.queue.sent
    world.queue.sent.clear()
    world.worker.run(erasure_id, time_left=lambda: PLENTY)
    # What the last two who leave at the same moment leave.
    control = world.tables["control"]
    control.write(Delete(key=Key(f"VAULT#{ACME}#{both.id}", "MEMBER#bob")))
    control.write(Delete(key=Key(f"USER#{ACME}#bob", "VAULT#both")))

    world.work()

    receipt = world.records.get(asked.id)
    assert receipt is not None
    assert receipt.is_complete
    assert gone(world, both, OF_TEAM)


def test_the_inventory_knows_every_kind_that_is_kept(world: ErasureWorld) -> None:
    filled(world)
    world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    kept = world.everything()
    met = {
        (name, place.partition(" / ")[0].partition("#")[0])
        for name in world.tables
        for place in kept[name]
    }

    assert met <= {(kind.table, kind.name) for kind in KINDS}
    # What this world has nothing of, that belongs to somebody: the seals of days.
    of_somebody = {(kind.table, kind.name) for kind in KINDS if kind.tenant}
    assert of_somebody - met == {("audit", "SEALS")}
    assert {folder.store for folder in FOLDERS} <= set(kept)


def test_who_gets_the_message_at_once_finds_the_erasure_free(world: ErasureWorld) -> None:
    world.fill_user(ACME, ALICE, CANARY)
    asked = world.erasures.erase_user(principal(ALICE), ALICE, confirm=ALICE)
    world.queue.sent.clear()
    sending = world.queue.send
    free: list[bool] = []

    def send(erasure_id: str, *, delay: timedelta = timedelta()) -> None:
        now = world.clock.now()
        free.append(world.records.take(erasure_id, now=now, until=now) is not None)
        sending(erasure_id, delay=delay)

    world.queue.send = send
    world.worker.run(asked.id, time_left=lambda: PLENTY)

    assert free == [True]
