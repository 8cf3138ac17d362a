"""Documents change in any way, by the product and behind its back, and the index keeps the rules.

Events come late, twice, in any order or never; workers, and the product itself, die between any two
calls, or others act there; each store is down at times. At every step no search shows what was
deleted once that was acknowledged or its event processed, two versions of one file, or anything of
a vault that the caller may not read; and what the product moves or edits is found. In the end the
index equals one that was made anew.

`STATEFUL_EXAMPLES=2000` looks for longer.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from itertools import count
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from archivolt.domain.errors import ArchivoltError, NotFoundError, UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import ChangeKind, IndexState, ObjectChange, membership_job
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.retrieval.meaning import DenseIndex
from tests.builders import ALICE, BOB, CAROL
from tests.fakes.clock import START
from tests.fakes.faults import Death
from tests.fakes.vectors import InMemoryVectors, WordHashEmbedder
from tests.index_contents import contents
from tests.index_world import IndexWorld
from tests.product_world import ProductWorld

EXAMPLES: Final = int(os.environ.get("STATEFUL_EXAMPLES", "0"))  # noqa: TID251  of the test alone
STEPS: Final = 30

FILES: Final = ("a.md", "b.md", "d/a.md", "d/c.md", "e/c.md", "e/f/a.md")
DIRECTORIES: Final = ("d", "e", "e/f", "g")
STORES: Final[Mapping[str, tuple[str, ...]]] = {
    "catalogue": ("advance", "mark_embedded", "mark_moving", "get_many"),
    "entries of the catalogue": ("get", "entries"),
    "text index": ("apply", "touch", "remove_older", "passages", "holds", "generations"),
    "vectors": ("upsert", "remove_older", "remove_vault"),
    "bucket": ("read", "copy", "head", "list"),
    "changes of the bucket": ("create", "replace", "delete", "versions"),
    "operations": ("start", "progress", "manifest", "unfinished"),
    "directory": ("members",),
    "queue": ("send",),
    "cache": ("load", "store", "forget", "contents"),
    "embedder": ("embed_passages",),
}
_LINK: Final = "[["
_TOKEN: Final = re.compile(r"\bu(\d+)w\b")

files, directories = st.sampled_from(FILES), st.sampled_from(DIRECTORIES)
seeds, picks = st.integers(0, 2**16), st.integers(0, 5)


class Meanwhile(NamedTuple):
    """Others act at the moment of a number, counted from the beginning of what is done."""

    moment: int
    seed: int


faults = st.one_of(
    st.none(),
    st.none(),
    st.integers(0, 12),
    st.integers(0, 60),
    st.sampled_from(sorted(STORES)),
    st.builds(Meanwhile, st.integers(0, 40), seeds),
)
Fault = int | str | Meanwhile | None
Place = tuple[VaultRef, str]


class Documents(RuleBasedStateMachine):
    """Alice's vault, which the product changes and Bob may join, and one of Bob's."""

    def __init__(self) -> None:
        super().__init__()
        self.world = world = ProductWorld()
        self.mine, self.theirs = world.vault, world.new_vault("other", owner=BOB)
        self.pending: list[ObjectChange] = []
        self.past: list[ObjectChange] = []
        self.versions: dict[Place, list[tuple[ObjectChange, set[str]]]] = {}
        self.words = 0
        # Of which file a word is; what a search may show of a path, where what moved there may be
        # found early, and what was in it; which files must be found, by which of their words; those
        # of which there are several by somebody's wish.
        self.file_of: dict[str, int] = {}
        self.allowed: dict[Place, set[str]] = {}
        self.alive: dict[Place, set[str]] = {}
        self.carried: set[str] = set()
        self.steady: dict[int, set[str]] = {}
        self.moved_only: set[int] = set()
        self.loose: set[int] = set()
        self.lost: set[Place] = set()
        # Those of the model before; empty if there was no other.
        self.former_vectors = InMemoryVectors()
        for path in FILES[::2]:
            world.put(path, self._text(None, long=path == FILES[2]))
        world.put(FILES[0], self._text(None, long=False), vault=self.theirs)
        self.catch_up()

    # What happens to documents.

    @rule(path=files, long=st.booleans(), fault=faults)
    def create(self, path: str, long: bool, fault: Fault) -> None:
        self._by_product(lambda: self.world.create(path, self._text(None, long=long)), fault)

    @rule(pick=picks, long=st.booleans(), fault=faults)
    def edit(self, pick: int, long: bool, fault: Fault) -> None:
        self._edit(self._picked(pick), fault, long=long)

    def _edit(self, path: str, fault: Fault, *, long: bool) -> None:
        word = self._words_at(self.mine).get(path)
        if word is not None:
            text = self._text(self.file_of[word], long=long)
            new = word_in(text)
            self.moved_only.discard(self.file_of[word])
            self._by_product(lambda: self.world.edit(path, text), fault)
            if self.file_of[word] in self.steady:
                self.steady[self.file_of[word]] |= {new}

    @rule(pick=picks, fault=faults)
    def remove(self, pick: int, fault: Fault) -> None:
        self._remove(self._picked(pick), fault)

    def _remove(self, path: str, fault: Fault) -> None:
        self._disturb(self.mine, path)
        if self._by_product(lambda: self.world.remove(path), fault):
            self._is_gone(path)

    @rule(pick=picks, to=files, fault=faults)
    def move(self, pick: int, to: str, fault: Fault) -> None:
        self._move(self._picked(pick), to, fault)

    def _move(self, source: str, to: str, fault: Fault) -> None:
        self._moving({source: to})
        if self._by_product(lambda: self.world.move(source, to), fault):
            self._is_gone(source)

    @rule(source=directories, to=directories, fault=faults)
    def move_directory(self, source: str, to: str, fault: Fault) -> None:
        inside = [path for path in self._words_at(self.mine) if path.startswith(f"{source}/")]
        self._moving({path: to + path.removeprefix(source) for path in inside})
        if self._by_product(lambda: self.world.move(source, to, directory=True), fault):
            for path in inside:
                self._is_gone(path)

    @rule(directory=directories, fault=faults)
    def undelete(self, directory: str, fault: Fault) -> None:
        self._by_product(lambda: self.world.bring_back(directory), fault)
        self._loosen_all()

    @rule(path=files, long=st.booleans(), here=st.booleans())
    def write_behind_its_back(self, path: str, long: bool, here: bool) -> None:
        vault = self.mine if here else self.theirs
        word = self._words_at(vault).get(path)
        self._disturb(vault, path)
        self.world.put(path, self._text(self.file_of.get(word or ""), long=long), vault=vault)

    @rule(pick=picks, here=st.booleans())
    def remove_behind_its_back(self, pick: int, here: bool) -> None:
        vault = self.mine if here else self.theirs
        path = self._picked(pick, vault)
        self._disturb(vault, path)
        self.world.drop(path, vault=vault)

    @rule(pick=picks, to=files)
    def rename_behind_its_back(self, pick: int, to: str) -> None:
        source = self._picked(pick)
        text = self.world.texts().get(source)
        if text is None or source == to:
            return
        for path in (source, to):
            self._disturb(self.mine, path)
        self.world.put(to, text)
        self.world.drop(source)
        self._loosen(text)

    @rule(pick=picks)
    def remove_an_old_version(self, pick: int) -> None:
        self._tell(self._picked(pick))

    @rule(path=files)
    def take_back_a_deletion(self, path: str) -> None:
        self._collect()
        if self.world.files.remove_marker(self.mine, VaultPath(path)):
            self._loosen(self.world.texts()[path])
            self._tell(path)

    @rule(user=st.sampled_from([BOB, CAROL]), role=st.sampled_from(list(VaultRole)[:2]))
    def share(self, user: UserId, role: VaultRole) -> None:
        self.world.directory.set_member(self.mine, user, role)
        self.world.queue.send([membership_job(self.mine, user)])

    @rule(user=st.sampled_from([BOB, CAROL]))
    def unshare(self, user: UserId) -> None:
        with suppress(NotFoundError):
            self.world.directory.remove_member(self.mine, user)
        self.world.queue.send([membership_job(self.mine, user)])

    # What the workers do.

    @rule(seed=seeds, fault=faults)
    def deliver(self, seed: int, fault: Fault) -> None:
        self._deliver_some(Random(seed), fault)  # noqa: S311  a test

    def _deliver_some(self, random: Random, fault: Fault) -> None:
        self._collect()
        random.shuffle(self.pending)
        count = random.randint(0, len(self.pending))
        batch = self.pending[:count] + random.sample(self.past, min(len(self.past), 2))
        self.past += self.pending[:count]
        del self.pending[:count]
        self._deliver(batch, fault)

    @rule(seed=seeds)
    def lose(self, seed: int) -> None:
        self._collect()
        if self.pending:
            change = self.pending.pop(seed % len(self.pending))
            self.lost.add((change.vault, str(change.path)))

    @rule(fault=faults)
    def read_again(self, fault: Fault) -> None:
        changes = [
            ObjectChange(
                kind=ChangeKind.CREATED,
                vault=vault,
                path=VaultPath(path),
                sequencer=None,
                anew=True,
            )
            for vault in (self.mine, self.theirs)
            for path in self._words_at(vault)
        ]
        self._under(fault, lambda: self.world.deliver(*changes))

    @rule(fault=faults)
    def embed(self, fault: Fault) -> None:
        self._under(fault, self.world.embed)

    @rule(fault=faults)
    def sweep(self, fault: Fault) -> None:
        self._under(fault, self._sweep)

    def _sweep(self) -> None:
        self.world.clock.advance(hours=1)
        self.world.sweep()

    @rule(fault=faults)
    def reconcile(self, fault: Fault) -> None:
        self._under(fault, self.world.reconciled)

    @precondition(lambda self: self.world.former is None)
    @rule()
    def change_the_model(self) -> None:
        world = self.world
        self.former_vectors = world.vectors
        world.former = DenseIndex(embedder=world.embedder, vectors=world.vectors)
        world.vectors = InMemoryVectors(former=world.vectors)
        world.embedder = WordHashEmbedder(model="word-hash/2")

    @rule()
    def catch_up(self) -> None:
        """Let everything through; from then on what is there is found, whatever comes."""
        self._collect()
        self._deliver(self.pending, None)
        self.past += self.pending
        self.pending.clear()
        self.world.embed()
        places = Counter(self.file_of[word] for word in self._words_at(self.mine).values())
        for path, word in self._words_at(self.mine).items():
            entry = self.world.catalogue.get(self.mine, VaultPath(path))
            file = self.file_of[word]
            # An event that was lost may leave the entry of what was there before.
            stored = self.world.files.head(self.mine, VaultPath(path)).etag
            indexed = entry and entry.state is IndexState.INDEXED and entry.etag == stored
            if places[file] == 1 and indexed:
                self.steady[file] = {word}
                if _LINK not in self.world.texts()[path]:
                    self.moved_only.add(file)

    # The rules.

    @invariant()
    def nothing_wrong_is_shown(self) -> None:
        self._note_what_is_there()
        world = self.world
        world.line.calm()
        readable: dict[UserId, dict[VaultRef, str]] = {
            ALICE: {self.mine: "notes"},
            BOB: {self.theirs: "other"},
            CAROL: {},
        }
        for user, _ in world.directory.members(self.mine):
            readable[user] |= {self.mine: "notes"}
        for user, vaults in readable.items():
            for mode in SearchMode:
                self._check(user, {name: ref for ref, name in vaults.items()}, mode)

    def _check(self, user: UserId, vaults: Mapping[str, VaultRef], mode: SearchMode) -> None:
        hits = self.world.search("llamas", user=user, mode=mode).hits
        shown = {(vaults[hit.vault], str(hit.path), word_in(hit.heading)) for hit in hits}
        for vault, path, word in shown:
            assert word in self.allowed.get((vault, path), set()), (mode, path, word)
            assert self.file_of[word] in self._files_alive(vault), (mode, path, word)
        files_shown = Counter(self.file_of[word] for _, _, word in shown)
        twice = {file for file, times in files_shown.items() if times > 1}
        assert not twice - self.loose, (mode, shown)
        paths_shown = Counter((vault, path) for vault, path, _ in shown)
        assert max(paths_shown.values(), default=1) == 1, (mode, shown)
        if user != ALICE:
            return
        missed = {file for file in self.steady if file not in files_shown}
        assert not (missed & self.moved_only if mode is SearchMode.DENSE else missed), (mode, shown)

    def teardown(self) -> None:
        world = self.world
        world.line.calm()
        self._collect()
        self.lost |= {(change.vault, str(change.path)) for change in self.pending}
        world.clock.advance(hours=1)
        for _ in range(3):
            world.sweep()
            world.reconciled()
        assert not world.queue.jobs
        for user in (ALICE, BOB, CAROL):
            assert not self.former_vectors.held(self.mine.tenant, user)
        is_as_made_anew(world, [self.mine, self.theirs], lost=self.lost)

    # How it is done.

    def _picked(self, pick: int, vault: VaultRef | None = None) -> str:
        """Return one of the files that there are, if there are any."""
        there = sorted(self._words_at(vault or self.mine))
        return there[pick % len(there)] if there else FILES[0]

    def _text(self, file: int | None, *, long: bool) -> str:
        self.words += 1
        word = f"u{self.words}w"
        self.file_of[word] = self.words if file is None else file
        parts = 2 if long else 1
        filling = f"{'llamas ' * 300} [[a]] [c](d/c.md)" if long else "llamas " * 9
        filling += f" {word}"
        return "\n\n".join(f"# {word} part {n}\n\n{filling}" for n in range(parts))

    def _words_at(self, vault: VaultRef) -> dict[str, str]:
        return {path: word_in(text) for path, text in self.world.texts(vault).items()}

    def _note_what_is_there(self) -> None:
        for vault in (self.mine, self.theirs):
            for path, word in self._words_at(vault).items():
                self.allowed.setdefault((vault, path), set()).add(word)
                self.alive.setdefault((vault, path), set()).add(word)
                self._carry(vault, path)
        if not self._unfinished():
            self._loosen_all()

    def _carry(self, vault: VaultRef, path: str) -> None:
        """What the index knew of a file before it was moved is of the file where it is now."""
        info = self.world.files.head(vault, VaultPath(path))
        if info.moved_from and info.version not in self.carried:
            self.carried.add(info.version)
            for known in (self.allowed, self.alive):
                known[vault, path] |= known.get((vault, info.moved_from), set())

    def _files_alive(self, vault: VaultRef) -> set[int]:
        """Return the files that are somewhere, or of whose going nothing was heard yet."""
        places = (words for place, words in self.alive.items() if place[0] == vault)
        return {self.file_of[word] for words in places for word in words}

    def _unfinished(self) -> bool:
        return any(not each.finished for each in self.world.operations.operations(self.mine))

    def _loosen_all(self) -> None:
        """What stands in several places stays so."""
        places = Counter(self.file_of[word] for word in self._words_at(self.mine).values())
        for file, times in places.items():
            if times > 1:
                self.loose.add(file)
                self.steady.pop(file, None)

    def _loosen(self, text: str) -> None:
        self.loose.add(self.file_of[word_in(text)])

    def _disturb(self, vault: VaultRef, path: str) -> None:
        """What somebody takes away or writes over need not be found."""
        word = self._words_at(vault).get(path)
        if word is not None:
            self.steady.pop(self.file_of[word], None)

    def _is_gone(self, path: str) -> None:
        """What the product took away is not shown there any more, once it has said so."""
        self._note_what_is_there()
        if path not in self._words_at(self.mine):
            self.allowed[self.mine, path] = set()
            self.alive[self.mine, path] = set()

    def _moving(self, moves: Mapping[str, str]) -> None:
        for source, target in moves.items():
            shown = self.allowed.get((self.mine, source), set())
            self.allowed.setdefault((self.mine, target), set()).update(shown)

    def _by_product(self, change: Callable[[], object], fault: Fault) -> bool:
        """Make a change; tell whether it was acknowledged."""
        try:
            return self._under(fault, change)
        except ArchivoltError:
            return False

    def _under(self, fault: Fault, work: Callable[[], object]) -> bool:
        """Do something; tell whether it came to its end."""
        line = self.world.line
        if isinstance(fault, Meanwhile):
            line.watch(self._others_act(fault))
        elif isinstance(fault, int):
            line.strike_after(fault)
        elif fault is not None:
            line.take_down(*STORES[fault])
        try:
            work()
        except (Death, UnavailableError):
            return False
        finally:
            line.calm()
            if isinstance(fault, Meanwhile):
                line.watch(None)
        return True

    def _others_act(self, fault: Meanwhile) -> Callable[[], None]:
        moments = count()

        def look() -> None:
            if next(moments) == fault.moment:
                random = Random(fault.seed)  # noqa: S311  a test
                path = self._picked(random.randint(0, 5))
                act: Callable[[], None] = random.choice(
                    [
                        lambda: self._deliver_some(random, None),
                        lambda: self._deliver_some(random, None),
                        self.world.embed,
                        self._sweep,
                        lambda: self._move(path, random.choice(FILES), None),
                        lambda: self._remove(path, None),
                        lambda: self._edit(path, None, long=False),
                    ]
                )
                act()

        return look

    def _tell(self, path: str) -> None:
        """Announce the deletion of a version; what is in its place now may be shown."""
        self._collect()
        event = self.world.deletion(path)
        present = {word for place, word in self._words_at(self.mine).items() if place == path}
        self.versions.setdefault((self.mine, path), []).append((event, present))
        self.pending.append(event)

    def _collect(self) -> None:
        news = self.world.files.history[self.world.told :]
        for (vault, stored), event in zip(news, self.world.events(), strict=True):
            words = {word_in(stored.data.decode())} if stored.data is not None else set[str]()
            self.versions.setdefault((vault, str(event.path)), []).append((event, words))
            self.pending.append(event)

    def _deliver(self, batch: list[ObjectChange], fault: Fault) -> None:
        self._note_what_is_there()
        failed: list[ObjectChange] = []

        def work() -> None:
            outcome = self.world.deliver(*batch)
            failed.extend(batch[int(number[1:])] for number in outcome.failed)

        if not self._under(fault, work):
            failed = batch
        again = {(change.vault, change.path) for change in failed}
        self.pending += failed
        for change in batch:
            if (change.vault, change.path) not in again:
                self._is_processed(change)

    def _is_processed(self, change: ObjectChange) -> None:
        """What a path had before the change that was announced is not shown there any more."""
        place = change.vault, str(change.path)
        since = [
            words
            for event, words in self.versions[place]
            if (event.sequencer or "") >= (change.sequencer or "")
        ]
        present = {word for path, word in self._words_at(place[0]).items() if path == place[1]}
        newer = set[str]().union(*since)
        self.allowed[place] = (self.allowed.get(place, set()) & newer) | present
        self.alive[place] = (self.alive.get(place, set()) & newer) | present


def word_in(text: str) -> str:
    """Return the word that tells which version of which file a text is of."""
    match = _TOKEN.search(text)
    assert match is not None, text
    return match[0]


def held_of(world: IndexWorld, vault: VaultRef, lost: Set[Place]) -> Mapping[VaultPath, object]:
    """Return what an index holds, but for the moments of files of which an event was lost.

    A listing compares bytes: it does not see that the same were written again.
    """
    held = contents(world.text_index, world.notes, vault)
    return {
        path: (passages, note and replace(note, modified=START, created=START), *rest)
        if (vault, str(path)) in lost
        else (passages, note, *rest)
        for path, (passages, note, *rest) in held.items()
    }


def is_as_made_anew(world: ProductWorld, vaults: list[VaultRef], *, lost: Set[Place]) -> None:
    """Check that index, catalogue and vectors are those that a new index would have."""
    anew = IndexWorld()
    anew.files, anew.clock, anew.directory = world.files, world.clock, world.directory
    anew.reconciled()
    for vault in vaults:
        assert held_of(world, vault, lost) == held_of(anew, vault, lost)
        ours, theirs = (
            {entry.path: (entry.state, entry.sha256, entry.passages) for entry in entries}
            for entries in (world.catalogue.entries(vault), anew.catalogue.entries(vault))
        )
        assert ours == theirs
    for user in (ALICE, BOB, CAROL):
        held, wanted = (
            sorted(
                (ref.id, path, number)
                for ref, path, _, number in each.vectors.held(vaults[0].tenant, user)
            )
            for each in (world, anew)
        )
        assert held == wanted


@pytest.mark.timeout(0 if EXAMPLES else 300)
def test_the_index_cannot_be_wrong() -> None:
    run_state_machine_as_test(
        Documents,
        settings=settings(
            max_examples=EXAMPLES or 20,
            stateful_step_count=STEPS,
            deadline=None,
            # Always the same ones, unless it is to look for longer.
            derandomize=not EXAMPLES,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
