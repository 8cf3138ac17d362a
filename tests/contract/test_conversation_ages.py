"""What every `ConversationAges` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.conversation_ages import DynamoConversationAges, DynamoSweepPlace
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.runs import DynamoRuns
from archivolt.domain.conversation import ConversationId
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.ports.retention import ConversationAge
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_conversation, a_message
from tests.contract.conftest import NewTable, on_tables
from tests.contract.test_run_store import a_run
from tests.fakes.clock import START, FrozenClock

OLD = START - timedelta(days=100)
SINCE = START - timedelta(days=90)
C1 = ConversationId("c1")
AGE = ConversationAge(tenant=ACME, id=C1, last_use=OLD)


class World:
    """Conversations in a table, and their ages."""

    def __init__(self, new_table: NewTable) -> None:
        self.table = new_table("ConversationsTable")
        self.conversations = DynamoConversations(self.table)
        self.ages = DynamoConversationAges(self.table, FrozenClock())


@pytest.fixture
def world(new_table: NewTable) -> World:
    return World(new_table)


@on_tables
def test_a_walk_meets_every_conversation_of_every_tenant_and_no_message(world: World) -> None:
    for name, owner, tenant in (("c1", ALICE, ACME), ("c2", BOB, ACME), ("c1", ALICE, GLOBEX)):
        conversation = replace(a_conversation(name, owner=owner, tenant=tenant), updated_at=OLD)
        world.conversations.create(conversation)
        world.conversations.append(conversation, [replace(a_message(), written_at=OLD)])

    page = world.ages.page()

    assert sorted((each.tenant, each.id, each.last_use) for each in page.conversations) == [
        (ACME, "c1", OLD),
        (ACME, "c2", OLD),
        (GLOBEX, "c1", OLD),
    ]
    assert page.next_after is None


@on_tables
def test_a_purge_leaves_nothing_of_a_conversation(world: World) -> None:
    old = replace(a_conversation(), updated_at=OLD)
    world.conversations.create(old)
    world.conversations.append(old, [replace(a_message(), written_at=OLD)])
    world.conversations.create(a_conversation("c2"))

    assert world.ages.purge(AGE, since=SINCE)
    assert not world.ages.purge(AGE, since=SINCE)

    assert list(world.table.items(f"CONVERSATION#{ACME}#c1")) == []
    assert world.conversations.get(ACME, ConversationId("c2")).title == "Untitled"


@on_tables
def test_a_conversation_that_was_used_since_is_not_purged(world: World) -> None:
    old = replace(a_conversation(), updated_at=OLD)
    world.conversations.create(old)
    world.conversations.append(old, [a_message()])

    assert not world.ages.purge(AGE, since=SINCE)

    kept = world.conversations.get(ACME, C1)
    assert kept.busy_until is None
    assert len(kept.messages) == 1


@on_tables
def test_the_last_moment_that_is_kept_is_kept(world: World) -> None:
    world.conversations.create(replace(a_conversation(), updated_at=SINCE))

    assert not world.ages.purge(AGE, since=SINCE)
    assert world.ages.purge(AGE, since=SINCE + timedelta(microseconds=1))


@on_tables
def test_a_turn_that_begins_during_a_purge_adds_nothing(world: World) -> None:
    old = replace(a_conversation(), updated_at=OLD)
    world.conversations.create(old)
    deleting = world.table.delete_many

    def with_a_turn_before(keys: object) -> None:
        with pytest.raises(ConflictError):
            world.conversations.append(old, [a_message()])
        deleting(keys)  # pyright: ignore[reportArgumentType]  whatever it was given

    world.table.delete_many = with_a_turn_before
    assert world.ages.purge(AGE, since=SINCE)

    with pytest.raises(NotFoundError):
        world.conversations.get(ACME, C1)


@on_tables
def test_a_walk_goes_on_where_it_was_told(world: World) -> None:
    for name in ("c1", "c2", "c3"):
        world.conversations.create(a_conversation(name))
    ages = DynamoConversationAges(world.table, FrozenClock(), per_page=1)

    met: list[str] = []
    page = ages.page()
    while True:
        met += [each.id for each in page.conversations]
        if page.next_after is None:
            break
        page = ages.page(after=page.next_after)

    assert sorted(met) == ["c1", "c2", "c3"]


@on_tables
def test_the_place_of_the_purge_is_kept_until_the_end_is_reached(new_table: NewTable) -> None:
    place = DynamoSweepPlace(new_table("ControlTable"))

    assert place.load() is None
    place.save('{"pk": "x"}')
    assert place.load() == '{"pk": "x"}'
    place.save(None)
    assert place.load() is None


@on_tables
def test_a_run_ages_like_a_conversation_and_what_says_that_it_is_open_is_none(world: World) -> None:
    runs = DynamoRuns(world.table)
    run = replace(a_run(), updated_at=OLD)
    runs.create(run, "sealed", [])

    [age] = world.ages.page().conversations
    assert age == ConversationAge(tenant=ACME, id=run.id, last_use=OLD, is_run=True)
    assert not world.ages.purge(age, since=OLD)
    assert world.ages.purge(age, since=SINCE)

    assert list(world.table.items(f"RUN#{ACME}#{run.id}")) == []
    assert world.ages.page().conversations == []
