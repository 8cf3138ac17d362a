"""What ends a run from outside ends it on the real stores, and nothing is written after it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest

from archivolt.adapters.dynamodb.oauth_grants import DynamoOAuthGrants
from archivolt.adapters.dynamodb.personal_tokens import DynamoPersonalTokens
from archivolt.adapters.dynamodb.runs import DynamoRuns
from archivolt.adapters.dynamodb.tenants import DynamoTenants
from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory
from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import FULL_REACH, Principal, Role
from archivolt.domain.oauth import AuthorizationCode, OAuthGrant, Person
from archivolt.domain.paths import VaultPath
from archivolt.domain.run import Run, RunStatus
from archivolt.domain.tenancy import UserState
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.runs.deciding import Decision
from archivolt.vaults.access import VaultService
from tests.builders import ACME, ALICE, BOB, principal
from tests.contract.conftest import NewTable
from tests.fakes.clock import START
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld, by_token

CHANGE: Final = calling(
    "append_to_file", "I add.", vault="shared", path="log.md", content="- one\n"
)
End = Callable[[], object]


class StoredWorld(RunWorld):
    """Runs, tokens, people and members in the real tables; Alice writes in a vault of Bob's."""

    def __init__(self, new_table: NewTable) -> None:
        super().__init__(RepeatableModel(CHANGE))
        control = new_table("ControlTable")
        self.directory = DynamoVaultDirectory(control)
        self.vaults = VaultService(self.directory, self.catalogue, self.clock)
        self.tenants = DynamoTenants(control)
        self.personal = DynamoPersonalTokens(control)
        self.grants = DynamoOAuthGrants(control)
        self.agent_runs = DynamoRuns(new_table("ConversationsTable"))
        self.pipeline = self.pipeline_of(self.tools())
        self.shared: VaultRef = self.vault("shared", owner=principal(BOB))
        self.share(self.shared, principal(ALICE), VaultRole.WRITER)
        self.write(self.shared, "log.md", "# Log\n")

    def log(self) -> str:
        return self.store.read(self.shared, VaultPath("log.md")).data.decode()


def revoked(on: StoredWorld) -> tuple[Principal, End]:
    caller, token = by_token(on.personal)
    return caller, lambda: on.personal.remove(token)


def over_age(on: StoredWorld) -> tuple[Principal, End]:
    caller, _ = by_token(on.personal)
    return caller, lambda: on.clock.advance(hours=25)


def let_out(on: StoredWorld) -> tuple[Principal, End]:
    person = Person(tenant=ACME, user=ALICE, role=Role.VIEWER)
    until = START + timedelta(days=9)
    code = AuthorizationCode(
        digest="c0", client_id="c", client_name="A client", redirect_uri="", challenge="",
        person=person, reach=FULL_REACH, expires_at=until,
    )  # fmt: skip
    grant = OAuthGrant(
        id="g1", client_id="c", client_name="A client", person=person, reach=FULL_REACH,
        family="f" * 64, refresh="r" * 64, access=(), created_at=START, expires_at=until,
    )  # fmt: skip
    on.grants.add_code(code)
    on.grants.exchange(code, grant)
    return grant.principal(), lambda: on.grants.remove(grant)


def suspended(on: StoredWorld) -> tuple[Principal, End]:
    caller = principal(ALICE)
    on.admission.admit(caller)

    def suspend() -> None:
        on.tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
        on.clock.advance(seconds=STANDING_SECONDS)

    return caller, suspend


def no_member(on: StoredWorld) -> tuple[Principal, End]:
    return principal(ALICE), lambda: on.directory.remove_member(on.shared, ALICE)


ENDS = {
    "run_token_ended": (revoked, let_out, over_age),
    "user_suspended": (suspended,),
    "run_vault_lost": (no_member,),
}


@pytest.mark.parametrize(
    ("reason", "way"),
    [(reason, way) for reason, ways in ENDS.items() for way in ways],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize("agreed", [False, True], ids=["at_a_step", "agreed_to_already"])
def test_a_run_that_may_not_go_on_ends_with_its_code_and_writes_nothing(
    new_local_table: NewTable,
    reason: str,
    way: Callable[[StoredWorld], tuple[Principal, End]],
    *,
    agreed: bool,
) -> None:
    on = StoredWorld(new_local_table)
    caller, end = way(on)
    run = on.drive(on.start_run(by=caller, vaults=("shared",)))
    [approval] = on.waiting(run)
    if agreed:
        on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)
    end()

    over = broken_off(on, run, approval.call) if agreed else at_its_next_step(on, run)

    [event] = on.told(run, "run_end")
    [entry] = [each for each in on.audit.entries if each.action == "run:end"]
    assert (over.status, over.reason) == (RunStatus.STOPPED, reason)
    assert (event.data["reason"], entry.outcome) == (reason, reason)
    assert on.log() == "# Log\n"
    on.calls.decided(on.ref(run), approval.call)
    on.step(run)
    assert on.log() == "# Log\n"


def broken_off(on: StoredWorld, run: Run, place: str) -> Run:
    """Have a change carried out as the engine does: what refuses it ends the run."""
    with pytest.raises(ForbiddenError) as refused:
        on.calls.decided(on.ref(run), place)
    cause = f'{{"errorMessage": "{refused.value}", "errorType": "ForbiddenError"}}'
    on.calls.broke_off(on.ref(run), error="ForbiddenError", cause=cause)
    return on.now(run)


def at_its_next_step(on: StoredWorld, run: Run) -> Run:
    on.step(run)
    return on.now(run)
