"""The key of confirmation tokens: one for a whole deployment, sealed, whoever asks first."""

from threading import Lock

import pytest

from archivolt.adapters.crypto.boxes import EnvironmentKeyBox
from archivolt.adapters.dynamodb.signing_key import DynamoSigningKey
from archivolt.domain.errors import UnavailableError
from tests.contract.conftest import NewTable, on_tables
from tests.contract.test_concurrency import race

BOX = EnvironmentKeyBox(bytes(range(32)))


@on_tables
def test_the_key_is_random_and_the_same_for_every_function(new_table: NewTable) -> None:
    table, other = new_table("ControlTable"), new_table("ControlTable")
    first = DynamoSigningKey(table, BOX)()

    assert len(first) == 32
    assert DynamoSigningKey(table, BOX)() == first
    assert DynamoSigningKey(other, BOX)() != first


@on_tables
def test_the_key_is_kept_sealed(new_table: NewTable) -> None:
    table = new_table("ControlTable")
    key = DynamoSigningKey(table, BOX)()
    [item] = table.items("DEPLOYMENT")

    assert key.hex() not in str(item)
    with pytest.raises(UnavailableError, match="secret_unreadable"):
        DynamoSigningKey(table, EnvironmentKeyBox(bytes(32)))()


@pytest.mark.dynamodb_local
def test_of_several_first_askers_one_makes_the_key(new_local_table: NewTable) -> None:
    table, lock, keys = new_local_table("ControlTable"), Lock(), list[bytes]()

    def ask(_: int) -> None:
        key = DynamoSigningKey(table, BOX)()
        with lock:
            keys.append(key)

    assert race(ask) == [None] * 8
    assert len(set(keys)) == 1
