"""Directories of real documentation move, and every link in all of it still leads where it did."""

import tarfile
from pathlib import Path

import pytest

from archivolt.domain.paths import VaultPath
from archivolt.vaults.move_requests import MoveRequest, move_into, rename_of_directory
from tests.move_world import MovingVault

VAULTS = Path(__file__).parents[4] / "shared/data/vaults"

MOVES = [
    ("react-docs-en", move_into(VaultPath("reference/react"), VaultPath("archive"))),
    ("react-docs-fr", rename_of_directory(VaultPath("learn"), "apprendre")),
]


def vault_of(name: str) -> MovingVault:
    archive = VAULTS / f"{name}.tar.gz"
    if not archive.exists():
        pytest.skip("the vaults of real notes are not here")
    with tarfile.open(archive) as members:
        found = {
            member.name.partition("/")[2]: file.read()
            for member in members
            if (file := members.extractfile(member)) is not None
        }
    return MovingVault({VaultPath(path): data for path, data in found.items()})


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "request_"), MOVES)
def test_links_of_real_notes_lead_where_they_did(name: str, request_: MoveRequest) -> None:
    vault = vault_of(name)
    before = vault.meanings()

    result = vault.move(request_)

    def moved(path: str) -> str:
        source, target = request_.source, request_.target
        inside = path == source or path.startswith(f"{source}/")
        return target + path.removeprefix(source) if inside else path

    assert result.relinked > 0
    assert vault.meanings() == {
        moved(note): [(heading, meant and moved(meant)) for heading, meant in meanings]
        for note, meanings in before.items()
    }
