"""Replaying a history of edits: the index converges, and what is embedded is what is new.

`python -m bench history` replays the history of a real repository of notes.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from archivolt.ingestion.documents import embedded_text
from tests.fakes.faults import Death
from tests.fakes.vectors import WordHashEmbedder
from tests.history_world import HistoryWorld

Commit = dict[str, str | None]

# `STATEFUL_EXAMPLES=1` replays thousands of edits, with a burst of 900 files.
_AT_LENGTH = "STATEFUL_EXAMPLES" in os.environ  # noqa: TID251  of the test alone
_NOTES = 900 if _AT_LENGTH else 150
_COMMITS = 3_000 if _AT_LENGTH else 60


class Recorder(WordHashEmbedder):
    """Remembers the texts of its last call, which are in flight until they are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.last = 0

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        self.last = len(texts)
        return super().embed_passages(texts)


def history(random: Random) -> Iterator[Commit]:
    """Yield commits: a folder of notes, edits, copies, renamings, deletions, and edits of all."""
    vault = {f"notes/{number}.md": [sentence(random)] for number in range(_NOTES)}
    vault |= {f"long/{number}.md": [part(random) for _ in range(20)] for number in range(5)}
    yield text_of(vault)
    for number in range(_COMMITS):
        path = random.choice(sorted(vault))
        kind = random.choice(["edit", "edit", "edit", "part", "copy", "rename", "delete"])
        if number == _COMMITS // 2:
            for each in vault.values():
                each.append("All rights reserved.")
            yield text_of(vault)
        elif number == _COMMITS // 3:
            moved = {f"archive/{each}": vault.pop(each) for each in list(vault) if "notes/" in each}
            vault |= moved
            yield {name.removeprefix("archive/"): None for name in moved} | text_of(moved)
        elif kind == "rename":
            vault[f"{path}.{number}.md"] = vault.pop(path)
            yield {path: None} | text_of({f"{path}.{number}.md": vault[f"{path}.{number}.md"]})
        elif kind == "delete":
            del vault[path]
            yield {path: None}
        else:
            other = random.choice(sorted(vault))
            new = list(vault[other]) if kind == "copy" else [sentence(random)]
            long = random.randrange(5)
            target = f"long/{long}.md" if kind == "part" and f"long/{long}.md" in vault else path
            parts = vault[target]
            parts[random.randrange(len(parts))] = part(random) if len(parts) > 9 else new[0]
            yield text_of({target: parts})


def text_of(vault: Mapping[str, Sequence[str]]) -> Commit:
    return {path: "\n\n".join(parts) for path, parts in vault.items()}


def sentence(random: Random) -> str:
    return " ".join(f"w{random.randrange(10_000)}" for _ in range(12))


def part(random: Random) -> str:
    return f"# w{random.randrange(10_000)}\n\n{sentence(random)} {'x ' * 300}"


def test_a_history_converges_and_embeds_each_new_text_once() -> None:
    world = HistoryWorld(Recorder())
    for number, commit in enumerate(history(Random(7))):  # noqa: S311  a test
        world.commit(commit)
        if number % 3 == 0:
            world.work_off()
    world.work_off()
    assert world.is_as_made_anew()
    embedded = world.embedder.embedded
    assert len(embedded) == len(set(embedded))
    assert set(world.texts_of_passages()) <= set(embedded)
    # The long ones have twenty parts, of which an edit changes one.
    assert len(embedded) < _NOTES * 2 + _COMMITS * 2 + 5 * 20


def test_a_history_with_deaths_embeds_again_what_was_in_flight_and_no_more() -> None:
    recorder, random = Recorder(), Random(8)  # noqa: S311  a test
    world, in_flight = HistoryWorld(recorder), 0
    for commit in history(random):
        world.commit(commit)
        for work, moments in ((world.deliver_all, 200), (world.embed, 60), (world.embed, 60)):
            recorder.last = 0
            world.line.strike_after(random.randrange(moments))
            try:
                work()
            except Death:
                in_flight += recorder.last
            world.line.calm()
    world.work_off()
    world.reconciled()
    assert world.is_as_made_anew()
    embedded = recorder.embedded
    assert 0 < len(embedded) - len(set(embedded)) <= in_flight
    assert set(world.texts_of_passages()) <= set(embedded)


def test_what_is_embedded_is_the_text_under_its_titles() -> None:
    world = HistoryWorld(Recorder())
    world.commit({"a.md": "# One\n\nllamas"})
    world.work_off()
    passages = world.passages()
    assert [embedded_text(passage) for passage in passages] == world.embedder.embedded
