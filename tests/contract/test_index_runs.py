"""What every store of `IndexRuns` promises."""

from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.index_runs import DynamoIndexRuns
from archivolt.domain.limits import REBUILD_SECONDS
from archivolt.ports.index_runs import IndexRun, IndexRuns
from tests.builders import vault_ref
from tests.contract.conftest import FAKE
from tests.fakes.clock import START
from tests.fakes.index_runs import InMemoryIndexRuns

VAULT = vault_ref()
OTHER = vault_ref("v2")
LATER = START + timedelta(seconds=REBUILD_SECONDS)


@pytest.fixture
def runs(store: str, request: pytest.FixtureRequest) -> IndexRuns:
    if store == FAKE:
        return InMemoryIndexRuns()
    return DynamoIndexRuns(request.getfixturevalue("new_table")("CatalogueTable"))


def test_an_unknown_vault_was_never_compared(runs: IndexRuns) -> None:
    assert runs.get(VAULT) == IndexRun()


def test_a_comparison_that_reached_the_end_is_remembered_for_its_vault(runs: IndexRuns) -> None:
    runs.finish(VAULT, now=START)
    runs.finish(VAULT, now=LATER)

    assert runs.get(VAULT) == IndexRun(compared_at=LATER)
    assert runs.get(OTHER) == IndexRun()


def test_who_asks_again_soon_is_told_that_it_is_under_way(runs: IndexRuns) -> None:
    assert runs.ask_rebuild(VAULT, now=START)
    assert not runs.ask_rebuild(VAULT, now=LATER - timedelta(seconds=1))
    assert runs.ask_rebuild(OTHER, now=START)

    assert runs.get(VAULT) == IndexRun(rebuild_since=START, asked_at=START)


def test_a_rebuild_that_is_asked_for_once_more_is_not_begun_again(runs: IndexRuns) -> None:
    runs.ask_rebuild(VAULT, now=START)
    runs.note_rebuilt(VAULT, documents=500)

    assert runs.ask_rebuild(VAULT, now=LATER)
    runs.note_rebuilt(VAULT, documents=2)

    assert runs.get(VAULT) == IndexRun(rebuild_since=START, asked_at=LATER, rebuilt=502)


def test_a_rebuild_that_reached_the_end_with_failures_is_begun_anew_when_asked_for(
    runs: IndexRuns,
) -> None:
    compared = START + timedelta(seconds=9)
    runs.ask_rebuild(VAULT, now=START)
    runs.note_rebuilt(VAULT, documents=500)
    runs.finish(VAULT, now=compared)

    assert runs.ask_rebuild(VAULT, now=LATER)

    begun = IndexRun(compared_at=compared, rebuild_since=LATER, asked_at=LATER)
    assert runs.get(VAULT) == begun


def test_who_could_not_have_it_begun_may_ask_again_at_once(runs: IndexRuns) -> None:
    runs.ask_rebuild(VAULT, now=START)
    runs.release(VAULT)

    assert runs.ask_rebuild(VAULT, now=START)


def test_a_finished_rebuild_is_over_and_another_can_be_asked_for(runs: IndexRuns) -> None:
    runs.ask_rebuild(VAULT, now=START)
    runs.note_rebuilt(VAULT, documents=3)
    runs.finish(VAULT, now=LATER, rebuilt=START)

    assert runs.get(VAULT) == IndexRun(compared_at=LATER)
    assert runs.ask_rebuild(VAULT, now=LATER)
    assert runs.get(VAULT).rebuilt == 0


def test_a_comparison_that_rebuilt_nothing_leaves_a_rebuild_to_be_done(runs: IndexRuns) -> None:
    runs.ask_rebuild(VAULT, now=START)
    runs.finish(VAULT, now=LATER)
    runs.finish(VAULT, now=LATER, rebuilt=LATER)

    assert runs.get(VAULT).rebuild_since == START


def test_without_a_rebuild_nothing_is_counted(runs: IndexRuns) -> None:
    runs.note_rebuilt(VAULT, documents=3)

    assert runs.get(VAULT) == IndexRun()
