"""The packed postings of a shard: what goes in comes out, and what is taken out is gone."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.adapters.sqlite.shard_postings import (
    SCHEMA,
    PostingsWriter,
    added_up,
    occurrences_and_length,
    passages_of,
    read,
    unpacked,
)

_PASSAGES = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "c", "é"]), st.integers(1, 5_000)), max_size=6
)


def a_shard() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    return connection


@pytest.fixture
def shard() -> Iterator[sqlite3.Connection]:
    with closing(a_shard()) as connection:
        yield connection


def written(
    connection: sqlite3.Connection, passages: Mapping[int, Mapping[str, int]], *gone: int
) -> None:
    writer = PostingsWriter(connection)
    for passage, terms in passages.items():
        writer.add(passage, terms, sum(terms.values()))
    writer.remove(gone)
    writer.finish()


def held(connection: sqlite3.Connection) -> dict[str, dict[int, tuple[int, int]]]:
    terms = [term for (term,) in connection.execute("SELECT term FROM postings")]
    return {term: counted(packed) for term, packed in read(connection, terms).items()}


def counted(packed: bytes) -> dict[int, tuple[int, int]]:
    return {
        passage: occurrences_and_length(both)
        for passage, both in zip(*unpacked(packed), strict=True)
    }


@given(_PASSAGES, st.sets(st.integers(1, 6)), st.booleans())
def test_what_is_left_is_what_was_put_in_and_not_taken_out(
    passages: list[dict[str, int]], gone: set[int], at_once: bool
) -> None:
    numbered = dict(enumerate(passages, start=1))
    with closing(a_shard()) as connection:
        if at_once:
            written(connection, numbered, *gone)
        else:
            for number, terms in numbered.items():
                written(connection, {number: terms})
            written(connection, {}, *gone)
        expected: dict[str, dict[int, tuple[int, int]]] = {}
        for number, terms in numbered.items():
            for term, times in terms.items() if number not in gone else ():
                expected.setdefault(term, {})[number] = (min(times, 4_095), sum(terms.values()))
        assert held(connection) == expected


def test_only_terms_that_occur_are_read(shard: sqlite3.Connection) -> None:
    written(shard, {1: {"cat": 1}, 2: {"dog": 2, "cat": 1}})
    found = read(shard, ["cat", "heron"])
    assert list(found) == ["cat"]
    assert passages_of(found["cat"]) == 2
    assert read(shard, []) == {}


def test_terms_that_count_as_one_are_added_up(shard: sqlite3.Connection) -> None:
    written(shard, {1: {"cat": 1}, 2: {"cats": 2, "cat": 1, "dog": 7}, 3: {"cats": 4}})
    found = read(shard, ["cat", "cats"])
    assert counted(added_up(list(found.values()))) == {1: (1, 1), 2: (3, 10), 3: (4, 4)}
    assert added_up([found["cat"]]) == found["cat"]


def test_what_is_too_large_counts_as_the_most_there_is_room_for(shard: sqlite3.Connection) -> None:
    written(shard, {1: {"cat": 10**9, "cats": 10**9}})
    found = read(shard, ["cat", "cats"])
    assert counted(added_up(list(found.values()))) == {1: (4_095, 1_048_575)}


def test_damaged_postings_are_said(shard: sqlite3.Connection) -> None:
    written(shard, {1: {"cat": 1}})
    shard.execute("UPDATE postings SET packed = x'0102'")
    with pytest.raises(sqlite3.DatabaseError):
        read(shard, ["cat"])
