"""Two people, their agents and their programs change one vault in any order, and processes die.

Whatever happens: what nobody knowingly took away is current at every moment, a proposal has one
effect at most and one answer, links follow what moves, and the index ends as one built anew.

`STATEFUL_EXAMPLES=2000` looks for longer.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from archivolt.adapters.sqlite import shard_reader
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import CONFIRMATION_LEASE_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.tool import Surface
from archivolt.ingestion.reconcile import Reconciliation
from archivolt.tools.pipeline import Proposed
from archivolt.vaults import many_files, present_notes
from tests.fakes.faults import Death
from tests.ledger import MOVES, OUTSIDE, Doing
from tests.shared_vault import (
    IndexInMemory,
    IndexInSqlite,
    NewIndex,
    SharedVault,
    told,
)
from tests.wishes import ALONE, FILES, Desk, Wish, paths, picks, pieces, wishes

if TYPE_CHECKING:
    from archivolt.domain.ingestion import ObjectChange

T = TypeVar("T")

EXAMPLES: Final = int(os.environ.get("STATEFUL_EXAMPLES", "0"))  # noqa: TID251  of the test alone
STEPS: Final = 30
LAG: Final = timedelta(minutes=14)

agents, hands = wishes(), wishes("update_properties", "undelete_directory")
seeds = st.integers(0, 2**16)
Happening = tuple[str, Any]
happenings: st.SearchStrategy[Happening] = st.one_of(
    st.tuples(st.just("die"), st.none()),
    st.tuples(st.just("write"), st.tuples(st.none() | paths, st.none() | pieces)),
    st.tuples(st.just("apply"), picks),
    st.tuples(st.just("hand"), hands),
    st.tuples(st.just("deliver"), seeds),
    st.tuples(st.just("wait"), st.just(21)),
)
moments = st.integers(-4, -1) | st.integers(0, 12) | st.integers(0, 50)
plans = st.dictionaries(moments, happenings, max_size=2)
deaths = st.dictionaries(st.integers(0, 15), st.just(("die", None)), max_size=1)


@dataclass(eq=False, kw_only=True)
class Asked:
    """A proposal; `answer` is what its change came to, `open`: an attempt of it died."""

    by: Principal
    doing: Doing
    proposed: Proposed
    open: bool = False
    answer: object = None


@dataclass(eq=False, kw_only=True)
class Unfinished:
    """A change by hand that answered that it is to be asked for again."""

    by: Principal
    doing: Doing
    arguments: Mapping[str, Any]
    operation: str


class Changes(RuleBasedStateMachine):
    """One vault and all that happens in it."""

    new_index: NewIndex = IndexInMemory

    def __init__(self) -> None:
        super().__init__()
        self.world = world = SharedVault(type(self).new_index)
        self.ledger = world.ledger
        self.desk = Desk(world.bucket, world.ref)
        self.asked: list[Asked] = []
        self.unfinished: list[Unfinished] = []
        self.again: list[ObjectChange] = []
        self.lost = False
        self._words = len(FILES)
        for path, text in FILES.items():
            world.bucket.create(world.ref, VaultPath(path), text.encode())

    # Agents: in two steps, with anything between them.

    @rule(wish=agents, plan=deaths)
    def propose(self, wish: Wish, plan: dict[int, Happening]) -> None:
        self._propose(wish, plan)

    @rule(wish=agents, plan=plans)
    def change(self, wish: Wish, plan: dict[int, Happening]) -> None:
        asked = self._propose(wish, {})
        if asked:
            self._apply(asked, plan)

    @rule(pick=picks, plan=plans)
    def apply(self, pick: int, plan: dict[int, Happening]) -> None:
        self._apply_any(pick, plan)

    @rule(pick=picks)
    def decline(self, pick: int) -> None:
        asked = self._picked(self.asked, pick)
        if asked is None:
            return
        proposed, surface = asked.proposed, Surface.IN_APP
        try:
            self.world.pipeline.decline(asked.by, proposed.tool, proposed.token, surface=surface)
        except ArchivoltError:
            return
        assert not asked.doing.effects

    # People, at once; and programs that write to the bucket.

    @rule(wish=hands, plan=plans)
    def change_by_hand(self, wish: Wish, plan: dict[int, Happening]) -> None:
        self._by_hand(wish, plan)

    @rule(path=paths, pieces=st.none() | pieces)
    def write_or_remove(self, path: str, pieces: list[str] | None) -> None:
        self._write(path, pieces)

    # What goes on by itself.

    @rule(seed=seeds, plan=plans)
    def deliver(self, seed: int, plan: dict[int, Happening]) -> None:
        self._attempt(plan, None, lambda: self._deliver(Random(seed)))  # noqa: S311  a test

    @rule(pick=picks, plan=plans)
    def go_on(self, pick: int, plan: dict[int, Happening]) -> None:
        left = self._picked(self.unfinished, pick)
        if left is None:
            self._attempt(plan, None, self.world.sweep)
            return
        self._attempt(
            plan,
            left.doing,
            lambda: self.world.change_by_hand(
                left.by, left.doing.tool, left.arguments, operation=left.operation
            ),
        )

    @rule(seconds=st.sampled_from([1, 61, 61, 700, 4_000]), pick=picks)
    def wait(self, seconds: int, pick: int) -> None:
        self.world.clock.advance(seconds=seconds)
        events = self.world.bucket.events
        if events and pick == 0:
            del events[len(events) // 2]
            self.lost = True

    @rule(plan=plans)
    def reconcile(self, plan: dict[int, Happening]) -> None:
        found = self._attempt(plan, None, self.world.indexing.reconciled)
        if isinstance(found, Reconciliation) and not found.failed and not found.failed_vaults:
            self.lost = False

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert not self.ledger.wrong, self.ledger.wrong

    def teardown(self) -> None:
        """Finish what is begun and deliver what was sent: then all is as it should be."""
        world = self.world
        for asked in self.asked:
            if asked.open:
                world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS)
                for _ in range(4):
                    self._apply(asked, {})
        world.clock.advance(minutes=11)
        world.sweep()
        assert world.noted.unfinished() == []
        assert not self.ledger.wrong, self.ledger.wrong
        self._judge_index()

    def _judge_index(self) -> None:
        """Deliver what was sent: then the index is as one built anew."""
        world = self.world
        self._drain()
        rebuilt = world.new_index(world.line, world.clock)
        rebuilding = world.indexing_in(rebuilt, world.line)
        rebuilding.reconciled()
        differing = differences(told(world.held, world.indexing), told(rebuilt, rebuilding))
        # What a worker left that died is out of sight; the daily comparison takes it away.
        world.indexing.reconciled()
        held = len(list(world.held.text.generations(world.ref)))
        expected = len(list(rebuilt.text.generations(world.ref)))
        world.held.close(world.ref)
        rebuilt.close(world.ref)
        assert (differing, held) == ({}, expected)

    # How it is done.

    def _attempt(
        self, plan: Mapping[int, Happening], doing: Doing | None, action: Callable[[], T]
    ) -> T | ArchivoltError | Death:
        """Do something while other things happen; return what it gave, or how it ended."""
        line = self.world.line
        self.world.clock.advance(seconds=1)
        if plan:
            line.plan({at: self._happening(doing, *what) for at, what in plan.items()})
        try:
            if doing is None:
                return action()
            with self.ledger.done_by(doing):
                return action()
        except (ArchivoltError, Death) as error:
            return error
        finally:
            if plan:
                line.calm()

    def _happening(self, doing: Doing | None, kind: str, what: Any) -> Callable[[], object]:  # noqa: ANN401
        if kind == "apply":
            return lambda: self._apply_any(what, {})
        happen: dict[str, Callable[[], object]] = {
            "die": self.world.line.die,
            "write": lambda: self._write_within(doing, *what),
            "hand": lambda: self._by_hand(what, {}),
            "deliver": lambda: self._deliver(Random(what)),  # noqa: S311  a test
            "wait": lambda: self.world.clock.advance(seconds=what),
        }
        return happen[kind]

    def _write_within(
        self, doing: Doing | None, path: str | None, pieces: list[str] | None
    ) -> None:
        """Write while something is done: to its own file, if to no other."""
        with self.ledger.done_by(OUTSIDE):
            self._write(path or (doing.place if doing else "a.md"), pieces)

    def _write(self, path: str, pieces: list[str] | None) -> None:
        bucket, ref, place = self.world.bucket, self.world.ref, VaultPath(path)
        data = self.desk.text(self._word(), pieces or []).encode()
        stored = bucket.stored(ref, place)
        there = stored[-1].info.etag if stored and stored[-1].data is not None else None
        if there and pieces is None:
            bucket.delete(ref, place, expected=there)
        elif there:
            bucket.replace(ref, place, data, expected=there)
        elif pieces is not None:
            bucket.create(ref, place, data)

    def _propose(self, wish: Wish, plan: Mapping[int, Happening]) -> Asked | None:
        word = self._word()
        wish = self.desk.placed(wish)
        arguments, place = self.desk.arguments(wish, word), self.desk.place(wish)
        doing = Doing(tool=wish.tool, by=wish.by.user, word=word, place=place)
        proposed = self._attempt(
            plan, doing, lambda: self.world.propose(wish.tool, arguments, by=wish.by)
        )
        # It may have finished a move that was left in its places.
        assert not doing.effects or doing.tool in MOVES
        if not isinstance(proposed, Proposed):
            return None
        doing.seen = self.desk.seen(wish.tool, arguments)
        self.ledger.operations[proposed.id] = doing
        self.asked.append(Asked(by=wish.by, doing=doing, proposed=proposed))
        return self.asked[-1]

    def _picked(self, held: Sequence[T], pick: int) -> T | None:
        return held[-1 - pick % len(held)] if held else None

    def _apply_any(self, pick: int, plan: Mapping[int, Happening]) -> None:
        asked = self._picked(self.asked, pick)
        if asked:
            self._apply(asked, plan)

    def _apply(self, asked: Asked, plan: Mapping[int, Happening]) -> None:
        doing = asked.doing
        is_first = not asked.open and asked.answer is None
        if doing.tool in MOVES and is_first and self._is_fresh:
            doing.links, doing.by_others = self.world.meanings, self.ledger.by_others(doing)
        result = self._attempt(plan, doing, lambda: self.world.apply(asked.proposed, by=asked.by))
        if not self._is_fresh:
            doing.links = None
        if isinstance(result, Death):
            asked.open = True
        elif isinstance(result, UnavailableError):
            asked.open = asked.open or result.code != "confirmation_running"
        elif isinstance(result, ArchivoltError):
            if result.code not in {"confirmation_expired", "confirmation_declined"}:
                self._answered(asked, result.code)
        else:
            self._answered(asked, result)
            self._judge_links(doing, result)

    def _answered(self, asked: Asked, answer: object) -> None:
        doing = asked.doing
        if asked.answer is None:
            asked.answer = answer
            if isinstance(answer, str):
                if doing.tool in ALONE and doing.effects:
                    self.ledger.wrong.append(f"{doing.tool} has failed, it is said: {answer}")
            elif doing.tool in {"create_file", "append_to_file"} and not doing.effects:
                self.ledger.wrong.append(f"{doing.tool} is done, it is said")
        elif asked.answer != answer:
            self.ledger.wrong.append(f"first {asked.answer}, then {answer}")

    def _judge_links(self, doing: Doing, answer: Mapping[str, Any]) -> None:
        """Judge where links lead after a move, if nobody else wrote meanwhile."""
        before, doing.links = doing.links, None
        if before is None or doing.by_others != self.ledger.by_others(doing):
            return
        source, target = answer["path"], answer["new_path"]

        def moved(path: str) -> str:
            inside = path == source or path.startswith(f"{source}/")
            return target + path.removeprefix(source) if inside else path

        after = self.world.meanings
        for note, links in before.items():
            for number, (heading, meant) in enumerate(links):
                now = after.get(moved(note), [])[number : number + 1]
                if meant is not None and now != [(heading, moved(meant))]:
                    self.ledger.wrong.append(f"{note}: {meant}#{heading} is now {now}: {answer}")

    def _by_hand(self, wish: Wish, plan: Mapping[int, Happening]) -> None:
        word = self._word()
        wish = self.desk.placed(wish)
        arguments, place = self.desk.arguments(wish, word), self.desk.place(wish)
        etag = self.desk.etag(wish.path, wish.pick)
        if "path" in arguments and wish.tool in {"edit_file", "delete_file", "restore_backup"}:
            arguments["etag"] = etag or "none"
        doing = Doing(tool=wish.tool, by=wish.by.user, word=word, place=place)
        doing.seen = self.desk.seen_by_hand(wish, etag)
        result = self._attempt(
            plan, doing, lambda: self.world.change_by_hand(wish.by, wish.tool, arguments)
        )
        if isinstance(result, UnavailableError) and "operation" in result.details:
            operation = str(result.details["operation"])
            self.unfinished.append(
                Unfinished(by=wish.by, doing=doing, arguments=arguments, operation=operation)
            )

    def _deliver(self, random: Random) -> None:
        world, events = self.world, self.world.bucket.events
        waiting = [*events, *self.again]
        random.shuffle(waiting)
        batch = waiting[: random.randint(0, len(waiting))]
        failed = {int(name.removeprefix("m")) for name in world.indexing.deliver(*batch).failed}
        done = [event for number, event in enumerate(batch) if number not in failed]
        events[:] = [event for event in events if event not in done]
        self.again = [event for event in done if random.random() < 0.2]
        if random.random() < 0.5:
            world.indexing.embed()

    def _drain(self) -> None:
        world = self.world
        for _ in range(3):
            batch = [*world.bucket.events, *self.again]
            world.bucket.events.clear()
            self.again.clear()
            world.indexing.settle(*batch)
        if self.lost:
            world.indexing.reconciled()

    @property
    def _is_fresh(self) -> bool:
        """Whether the index is as little behind as it is when all works."""
        bucket, now = self.world.bucket, self.world.clock.now()
        return not self.lost and all(
            now - bucket.sent_at[event.sequencer] < LAG for event in bucket.events
        )

    def _word(self) -> str:
        self._words += 1
        return f"w{self._words}x"


def differences(
    one: Mapping[str, object], other: Mapping[str, object]
) -> dict[str, tuple[object, object]]:
    """Return what two indexes do not say alike."""
    return {key: (one[key], other[key]) for key in one if one[key] != other[key]}


class ChangesInSqlite(Changes):
    """The same, with the index of the product."""

    new_index = IndexInSqlite


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let work on many files go in one order, so that what happens can happen again."""
    monkeypatch.setattr(many_files, "MAX_PARALLEL_FILES", 1)
    monkeypatch.setattr(present_notes, "MAX_PARALLEL_FILES", 1)
    monkeypatch.setattr(shard_reader, "_THREADS", 1)


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.timeout(0 if EXAMPLES else 300)
@pytest.mark.parametrize(("machine", "examples"), [(Changes, 150), (ChangesInSqlite, 10)])
def test_nothing_is_lost_and_all_is_found(machine: type[Changes], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES or examples,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
