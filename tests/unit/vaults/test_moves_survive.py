"""A process that dies at any moment of a move: the next run ends where an undisturbed one ends."""

from dataclasses import replace

import pytest

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.paths import VaultPath
from archivolt.vaults.move_requests import (
    MoveRequest,
    move_into,
    rename_of_directory,
    rename_of_file,
)
from tests.fakes.faults import Death
from tests.move_world import MovingVault

FILES = {
    "d/a.md": "[[b]] [x](../n.md) [[d/sub/c]] [y](sub/c.md) [[a#h]]",
    "d/b.md": "[[a]]",
    "d/sub/c.md": "[z](../a.md) ![[i.png]]",
    "d/i.png": "png",
    "x/new.md": "other",
    "n.md": "[[a]] [[d/b|B]] [x](d/sub/c.md) [[new]]",
    "o.md": "![[i.png]] [[x/new]]",
}
MOVES = [
    move_into(VaultPath("d"), VaultPath("e/f")),
    rename_of_directory(VaultPath("d"), "D"),
    rename_of_file(VaultPath("d/a.md"), "new"),
    move_into(VaultPath("d/i.png"), VaultPath("")),
]


def a_vault() -> MovingVault:
    vault = MovingVault(FILES)
    vault.store.make_directory(vault.ref, VaultPath("d/empty"))
    return vault


@pytest.mark.parametrize("request_", MOVES)
@pytest.mark.parametrize("index_follows", [False, True])
def test_a_death_at_any_moment_is_made_good_by_the_next_run(
    request_: MoveRequest, *, index_follows: bool
) -> None:
    undisturbed = a_vault()
    undisturbed.move(request_)

    deaths = 0
    while True:
        vault = a_vault()
        confirmed = Confirmed(operation="op-1", pins=vault.preview(request_).pins)
        vault.line.strike_after(deaths)
        try:
            vault.service.run(vault.access(), request_, confirmed)
        except Death:
            deaths += 1
            assert every_text_is_somewhere(vault)
        else:
            break
        vault.line.calm()
        if index_follows:
            vault.index()
        vault.service.run(vault.access(), request_, replace(confirmed, resumed=True))
        assert vault.texts() == undisturbed.texts()
        assert directories(vault) == directories(undisturbed)
        assert vault.operations.unfinished() == []

    assert deaths > 20


@pytest.mark.parametrize("request_", MOVES)
def test_links_mean_afterwards_what_they_meant_before(request_: MoveRequest) -> None:
    vault = a_vault()
    before = vault.meanings()

    vault.move(request_)

    def moved(path: str) -> str:
        source, target = request_.source, request_.target
        inside = path == source or path.startswith(f"{source}/")
        return target + path.removeprefix(source) if inside else path

    assert vault.meanings() == {
        moved(note): [(heading, meant and moved(meant)) for heading, meant in meanings]
        for note, meanings in before.items()
    }


def every_text_is_somewhere(vault: MovingVault) -> bool:
    """Tell whether each file is in one of its places, links aside."""
    names = {path.rpartition("/")[2] for path in vault.etags()}
    return len(vault.etags()) >= len(FILES) and names >= {"b.md", "c.md", "i.png", "n.md", "o.md"}


def directories(vault: MovingVault) -> list[str]:
    root = vault.store.list(vault.ref, VaultPath(""), recursive=False, limit=99).directories
    below = [vault.store.list(vault.ref, path, recursive=False, limit=99) for path in root]
    return [*root, *(path for page in below for path in page.directories)]


def test_a_file_that_had_to_stay_keeps_its_links_whenever_the_process_dies() -> None:
    request = rename_of_directory(VaultPath("d"), "e")
    deaths = 0
    while True:
        vault = MovingVault({"d/a.md": "", "d/b.md": "[x](a.md) [[d/a]]", "n.md": "[[d/a]] [[b]]"})
        confirmed = Confirmed(operation="op-1", pins=vault.preview(request).pins)
        vault.store.before("copy", lambda: vault.write("e/a.md", "another"))  # noqa: B023  used in this round
        vault.line.strike_after(deaths)
        try:
            vault.service.run(vault.access(), request, confirmed)
        except Death:
            deaths += 1
        else:
            break
        vault.line.calm()
        vault.service.run(vault.access(), request, replace(confirmed, resumed=True))
        assert vault.texts() == {
            "d/a.md": "",
            "e/a.md": "another",
            "e/b.md": "[x](../d/a.md) [[d/a]]",
            "n.md": "[[d/a]] [[b]]",
        }

    assert deaths > 20
