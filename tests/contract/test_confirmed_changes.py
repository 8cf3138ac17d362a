"""One effect and one answer, on the real table: many who apply at once, and a crash between."""

import pytest

from archivolt.adapters.crypto.boxes import EnvironmentKeyBox
from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations
from archivolt.adapters.dynamodb.signing_key import DynamoSigningKey
from archivolt.adapters.jwt.confirmation_tokens import JwtConfirmationTokens
from archivolt.domain.limits import CONFIRMATION_LEASE_SECONDS
from archivolt.tools.confirmations import Confirmations
from archivolt.tools.pipeline import ToolPipeline
from archivolt.tools.proposals import Proposals
from tests.confirmed_changes import ChangeStage, Patience, at_once, changing_tools, code_of
from tests.contract.conftest import NewTable
from tests.fakes.faults import Death

pytestmark = pytest.mark.dynamodb_local
BOX = EnvironmentKeyBox(bytes(range(32)))


class Instances:
    """A stage whose proposals are in DynamoDB; each instance is a function of its own."""

    def __init__(self, new_local_table: NewTable) -> None:
        self.stage = ChangeStage(per_tool=10_000, per_token=10_000)
        self._confirmations = new_local_table("ConfirmationsTable")
        self._control = new_local_table("ControlTable")
        self.patience = Patience()
        self.stage.pipeline = self.another()

    def apply(self, token: str, function: ToolPipeline) -> object:
        """Apply in one of the functions; then nobody has to wait any longer."""
        try:
            return self.stage.apply(token, pipeline=function)
        finally:
            self.patience.done.set()

    def another(self) -> ToolPipeline:
        world = self.stage.world
        proposals = Proposals(
            DynamoConfirmations(self._confirmations),
            JwtConfirmationTokens(DynamoSigningKey(self._control, BOX)),
            BOX,
            world.clock,
        )
        confirmations = Confirmations(proposals, wait=self.patience)
        return ToolPipeline(
            changing_tools(self.stage.hand),
            world,
            rate_limit=world.rate_limit,
            audit=world.audit,
            clock=world.clock,
            confirmations=lambda: confirmations,
        )


@pytest.fixture
def instances(new_local_table: NewTable) -> Instances:
    return Instances(new_local_table)


@pytest.mark.parametrize("content", ["two", "two " * 20_000])
def test_two_hundred_applies_at_once_have_one_effect_and_one_answer(
    instances: Instances, content: str
) -> None:
    stage = instances.stage
    token = stage.propose(content).token
    functions = [instances.another() for _ in range(8)]

    answers = at_once(lambda number: instances.apply(token, functions[number % 8]), runners=200)

    assert answers == [answers[0]] * 200
    assert (stage.text, stage.versions, stage.hand.runs) == (content, 2, [False])


def test_a_crash_is_finished_once_by_one_of_many_retries(instances: Instances) -> None:
    stage = instances.stage
    token = stage.propose("two").token

    def dies() -> None:
        raise Death

    stage.hand.after = dies
    with pytest.raises(Death):
        stage.apply(token)
    stage.hand.after = lambda: None
    stage.world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS)

    answers = at_once(lambda _: instances.apply(token, instances.another()), runners=20)

    assert answers == [answers[0]] * 20
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False, True])


def test_an_apply_and_a_decline_at_once_leave_one_of_them(instances: Instances) -> None:
    stage = instances.stage

    def decline(token: str) -> None:
        # Applies that lose to it have nothing else to wait for.
        stage.decline(token)
        instances.patience.done.set()

    for _ in range(5):
        before = stage.versions
        proposed = stage.propose(f"text {before}")
        instances.patience.done.clear()

        def act(number: int, token: str = proposed.token) -> str:
            if number % 2:
                return code_of(lambda: instances.apply(token, stage.pipeline))
            return code_of(lambda: decline(token))

        outcomes = at_once(act, runners=8)

        applied = stage.versions - before
        assert applied in {0, 1}
        assert set(outcomes[1::2]) == ({""} if applied else {"confirmation_declined"})
