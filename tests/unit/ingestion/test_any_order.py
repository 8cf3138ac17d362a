"""Whatever happens to documents, and however its events arrive, the index ends as the store is."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.errors import NotFoundError
from archivolt.domain.ingestion import IndexState, ObjectChange
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from tests.fakes.faults import Death
from tests.index_world import IndexWorld

PATHS = ("a.md", "b/c.md")
TEXTS = ("llamas", "alpacas", "vicuñas", "BROKEN", " ")

Step = tuple[str, str]
steps = st.lists(
    st.tuples(st.sampled_from(PATHS), st.sampled_from([*TEXTS, "delete", "old version"])),
    min_size=1,
    max_size=8,
)
seeds = st.integers(0, 2**32)


def happen(world: IndexWorld, step: Step) -> ObjectChange | None:
    path, what = step
    if what == "old version":
        return world.deletion(path)
    if what != "delete":
        return world.write(path, what)
    try:
        return world.delete(path)
    except NotFoundError:
        return None


def stored(world: IndexWorld, path: str) -> str | None:
    try:
        return world.files.read(world.vault, VaultPath(path)).data.decode()
    except NotFoundError:
        return None


def expected(world: IndexWorld, text: str) -> set[str]:
    return {path for path in PATHS if stored(world, path) == text}


def is_as_the_store(world: IndexWorld) -> None:
    for text in ("llamas", "alpacas", "vicuñas"):
        wanted = expected(world, text)
        for mode in SearchMode:
            # The same words in one vault are shown once.
            found = world.found(text, mode=mode)
            assert len(found) == min(1, len(wanted))
            assert set(found) <= wanted
    for path in PATHS:
        text = stored(world, path)
        entry = world.catalogue.get(world.vault, VaultPath(path))
        has_words = text is not None and text.strip() not in {"", "BROKEN"}
        assert world.points(path) == has_words
        assert (entry is not None and entry.state is IndexState.INDEXED) == has_words


@settings(max_examples=150, deadline=None)
@given(steps, seeds, st.booleans())
def test_events_may_come_in_any_order_and_more_than_once(
    happened: list[Step], seed: int, late: bool
) -> None:
    random = Random(seed)  # noqa: S311  a test
    world = IndexWorld()
    events: list[ObjectChange] = []
    for step in happened:
        event = happen(world, step)
        events += [event] * random.randint(1, 2) if event else []
        if not late and random.random() < 0.5:
            deliver_some(world, events, random)
    while events:
        deliver_some(world, events, random)
    world.embed()
    is_as_the_store(world)


@settings(max_examples=150, deadline=None)
@given(steps, seeds)
def test_workers_may_die_at_any_moment_and_reconciliation_ends_it(
    happened: list[Step], seed: int
) -> None:
    random = Random(seed)  # noqa: S311  a test
    world = IndexWorld()
    for step in happened:
        event = happen(world, step)
        world.line.strike_after(random.randint(0, 40))
        try:
            if event:
                world.deliver(event)
            world.embed()
        except Death:
            pass
        world.line.calm()
    world.reconciled()
    world.reconciled()
    is_as_the_store(world)


def deliver_some(world: IndexWorld, events: list[ObjectChange], random: Random) -> None:
    random.shuffle(events)
    count = random.randint(0, len(events))
    assert not world.deliver(*events[:count]).failed
    del events[:count]
    if random.random() < 0.5:
        world.embed()
