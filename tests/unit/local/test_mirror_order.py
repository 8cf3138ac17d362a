"""What a mirror does first."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.paths import VaultPath
from archivolt_local.mirror.folder import MirroredFolder
from archivolt_local.mirror.manifest import Manifest
from archivolt_local.mirror.mirror import VaultMirror
from archivolt_local.mirror.writer import VaultWriter
from tests.builders import vault_ref
from tests.fakes.files import InMemoryFiles

pytestmark = pytest.mark.anyio


class Following:
    """A mirror at work; `waiting` is how much the index has to do."""

    def __init__(self, root: Path, files: InMemoryFiles | None = None) -> None:
        self.root = root / "folder"
        self.root.mkdir()
        self.vault = vault_ref()
        self.files = files or InMemoryFiles()
        self.waiting = 0
        self.said: list[str] = []
        self.manifest = manifest = Manifest.of_vault(root / "records", self.vault.id)
        self.mirror = VaultMirror(
            MirroredFolder(self.root),
            VaultWriter(self.vault, self.files, manifest),
            manifest,
            lambda: self.waiting,
            self.said.append,
        )

    def write(self, path: str, text: str = "text") -> Path:
        place = self.root / path
        place.write_text(text)
        return place

    def paths(self) -> set[str]:
        listing = self.files.list(self.vault, VaultPath(""), recursive=True, limit=1000)
        return {info.path for info in listing.files}

    async def until(self, condition: Callable[[], bool]) -> None:
        working = asyncio.ensure_future(self.mirror.work())
        try:
            async with asyncio.timeout(20):
                while not condition():  # noqa: ASYNC110  the work is in threads
                    await asyncio.sleep(0)
        finally:
            working.cancel()


Follow = Callable[..., Following]


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    made: list[Following] = []

    def start(files: InMemoryFiles | None = None) -> Following:
        made.append(Following(tmp_path, files))
        return made[-1]

    yield start
    for following in made:
        following.manifest.close()


async def test_a_first_load_waits_while_the_index_has_much_to_do(follow: Follow) -> None:
    following = follow()
    for number in range(40):
        following.write(f"{number:02}.md")
    following.waiting = 1_000
    await following.mirror.look_at_everything()
    fresh = following.write("dropped.md")
    await following.mirror.look_at([fresh])
    await following.until(lambda: "dropped.md" in following.paths())
    assert following.paths() == {"dropped.md"}
    following.waiting = 0
    await following.until(lambda: not following.mirror.backlog and len(following.paths()) == 41)


async def test_a_first_load_is_marked_and_a_drop_is_not(follow: Follow) -> None:
    following = follow()
    for number in range(25):
        following.write(f"{number:02}.md")
    await following.mirror.look_at_everything()
    await following.until(lambda: len(following.paths()) == 25)
    await following.mirror.look_at([following.write("dropped.md")])
    await following.until(lambda: len(following.paths()) == 26)
    bulk = {
        path
        for path in following.paths()
        if following.files.stored(following.vault, VaultPath(path))[-1].bulk
    }
    assert bulk == following.paths() - {"dropped.md"}


async def test_an_absent_folder_empties_no_vault(follow: Follow) -> None:
    following = follow()
    place = following.write("a.md")
    await following.mirror.look_at_everything()
    await following.until(lambda: following.paths() == {"a.md"})
    place.unlink()
    following.root.rmdir()
    await following.mirror.look_at_everything()
    await following.mirror.look_at([place])
    assert following.mirror.backlog == 0
    assert following.paths() == {"a.md"}
    assert len(following.said) == 1


class FlakyFiles(InMemoryFiles):
    """Files that do not answer the first time."""

    failures = 1

    def create(self, *arguments: object, **named: object) -> object:  # type: ignore[override]
        if self.failures:
            self.failures -= 1
            raise UnavailableError("unavailable")
        return super().create(*arguments, **named)  # type: ignore[arg-type]


async def test_a_store_that_does_not_answer_is_asked_again(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archivolt_local.mirror.mirror._RETRY_SECONDS", 0)
    following = follow(FlakyFiles())
    following.write("a.md")
    await following.mirror.look_at_everything()
    await following.until(lambda: following.paths() == {"a.md"})


async def test_what_is_left_out_is_said_once(follow: Follow) -> None:
    following = follow()
    following.write("a\\b.md")
    await following.mirror.look_at_everything()
    await following.mirror.look_at_everything()
    assert len(following.said) == 1
    assert "a\\b.md" in following.said[0]
