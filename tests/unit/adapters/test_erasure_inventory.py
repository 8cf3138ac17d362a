"""What adapters write is in the inventory of what is kept: nothing is erased that nobody lists."""

import re
from pathlib import Path

import pytest

from archivolt.adapters import dynamodb, erasure
from archivolt.adapters.erasure.inventory import FOLDERS, KINDS, Kind, told

ADAPTERS = Path(*dynamodb.__path__).parent
# What partition keys begin with, and what sort keys do: `f"KIND#{tenant}…`.
_BEGINNING = re.compile(r"f?\"([A-Z][A-Z_]+)#")
_FOLDER = re.compile(
    r"(?:f\"|_FOLDER: Final = \")([a-z]+)/(?:\{[a-z_.]*tenant\}|\"$)", re.MULTILINE
)
_SORT_KEYS = {
    *("MEMBER", "VAULT", "FILE", "SKILL", "SERVER", "PART", "MESSAGE", "WAITING", "HELD", "MONTH"),
    *("USER", "STATE", "CALL", "APPROVAL", "EVENT", "RESULT", "SCHEDULE", "WEBHOOK", "EARLIER"),
    "SIGN_IN",
}
# By these the index of last uses lists conversations and runs: no items of their own.
_INDEX_KEYS = {"OWNER", "RUN_OWNER"}


def sources() -> dict[str, str]:
    own = set(Path(*erasure.__path__).glob("*.py"))
    files = [file for file in ADAPTERS.rglob("*.py") if file not in own]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def test_every_kind_of_partition_that_is_written_has_its_row() -> None:
    known = {kind.name for kind in KINDS} | _SORT_KEYS | _INDEX_KEYS
    met = {
        (name, kind)
        for name, source in sources().items()
        for kind in _BEGINNING.findall(source)
        if kind not in known
    }

    assert met == set()


def test_every_folder_of_a_tenant_has_its_row() -> None:
    met = {folder for source in sources().values() for folder in _FOLDER.findall(source)}

    assert met == {folder.prefix for folder in FOLDERS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.table}-{kind.name}")
def test_a_row_says_what_it_holds_and_whose_it_is(kind: Kind) -> None:
    assert kind.holds
    if kind.user or kind.vault:
        assert kind.tenant


def test_a_place_tells_whose_an_item_is() -> None:
    item = {"pk": "VAULT#acme#v1", "sk": "MEMBER#alice", "owner": "bob", "count": 3}

    assert told(item, "pk:1") == "acme"
    assert told(item, "pk:2") == "v1"
    assert told(item, "pk:3") is None
    assert told(item, "sk:0") == "MEMBER"
    assert told(item, "sk:MEMBER") == "alice"
    assert told(item, "sk:USER") is None
    assert told(item, "@owner") == "bob"
    assert told(item, "@count") is None
    assert told(item, "@absent") is None
