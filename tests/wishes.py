"""What people may want of a vault, as hypothesis draws it, and the tool calls that it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from archivolt.domain.identity import Principal
from archivolt.domain.paths import VaultPath, parents_of
from archivolt.domain.vault import ETag, VaultRef
from tests.ledger import WatchedFiles, words_of
from tests.shared_vault import OWNER, WRITER

FILES: Final = {
    "a.md": "w1x [[b]] ![[i.png]] apple",
    "d/b.md": "w2x [[a]] [x](../a.md) [y](e/c.md)",
    "d/e/c.md": "w3x [[d/b|b]] apple #tag",
    "i.png": "w4x",
}
PATHS: Final = [*FILES, "b.md", "x/a.md", "d/e/b.md"]
DIRECTORIES: Final = ["d", "d/e", "x", "x/d"]
PIECES: Final = [
    *("[[a]]", "[[d/b|other]]", "[b](b.md)", "[c](/d/e/c.md)", "[up](../a.md)", "![[i.png]]"),
    *("[[c#part]]", "apple", "pear", "#tag"),
]
ALONE: Final = ["create_file", "edit_file", "append_to_file", "restore_backup", "delete_file"]
TOOLS: Final = [
    *(*ALONE, *ALONE[1:], "create_directory", "rename_file", "rename_directory", "move_path"),
    *("move_path", "replace_in_files", "delete_directory"),
]


MAKING: Final = {"create_file", "create_directory", "undelete_directory"}
NOWHERE: Final = 7


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A change that somebody may want; what it means depends on the tool.

    It is for the `nth` file or directory that there is then, or for `path` and `directory`.
    """

    by: Principal
    tool: str
    path: str
    directory: str
    name: str
    pieces: list[str]
    pick: int
    flag: bool
    nth: int


people = st.sampled_from([OWNER, WRITER])
paths, picks = st.sampled_from(PATHS), st.integers(0, 7)
pieces = st.lists(st.sampled_from(PIECES), max_size=3)
seeds = st.integers(0, 2**16)


def wishes(*more: str) -> st.SearchStrategy[Wish]:
    """Return wishes for the tools that change something, and for some more."""
    return st.builds(
        Wish,
        by=people,
        tool=st.sampled_from([*TOOLS, *more]),
        path=paths,
        directory=st.sampled_from(DIRECTORIES),
        name=st.sampled_from(["a", "b", "c", "d", "x"]),
        pieces=pieces,
        pick=picks,
        flag=st.booleans(),
        nth=st.integers(0, NOWHERE),
    )


class Desk:
    """Makes tool calls of wishes, as the vault is then."""

    def __init__(self, bucket: WatchedFiles, ref: VaultRef) -> None:
        self._bucket = bucket
        self._ref = ref

    def placed(self, wish: Wish) -> Wish:
        """Return a wish for a file and a directory that there are, unless it makes one."""
        files = sorted(self._bucket.contents(self._ref))
        directories = sorted({parent for path in files for parent in parents_of(path)})
        path = files[wish.nth % len(files)] if files else wish.path
        directory = directories[wish.nth % len(directories)] if directories else wish.directory
        if wish.tool in MAKING or wish.nth == NOWHERE:
            return wish
        return replace(wish, path=path, directory=directory)

    def text(self, word: str, pieces: list[str]) -> str:
        return "\n".join([word, *pieces]) + "\n"

    def arguments(self, wish: Wish, word: str) -> dict[str, Any]:
        """Return what a wish comes to."""
        text = self.text(word, wish.pieces)
        path, directory = {"path": wish.path}, {"path": wish.directory}
        etag = self.etag(wish.path, wish.pick) if wish.flag else None
        based = path | ({"etag": etag} if etag else {})
        if wish.tool == "replace_in_files":
            find, instead = ("apple", "pear") if wish.flag else ("pear", "apple")
            return {"vault": "notes", "find": find, "replace": instead}
        if wish.tool == "move_path":
            source = wish.directory if wish.flag else wish.path
            target = ["", *DIRECTORIES][wish.pick % 5]
            return {"vault": "notes", "source_path": source, "destination_dir": target}
        given: dict[str, dict[str, Any]] = {
            "create_file": path | {"content": text},
            "edit_file": based | {"content": self._kept(wish) + text},
            "append_to_file": path | {"content": text},
            "restore_backup": based | {"version": self._version(wish.path, wish.pick)},
            "delete_file": based,
            "create_directory": directory,
            "rename_file": path | {"new_name": wish.name},
            "rename_directory": directory | {"new_name": wish.name},
            "delete_directory": directory | {"recursive": True},
            "update_properties": path | {"frontmatter": {"set": {"n": wish.pick}}},
            "undelete_directory": directory,
        }
        return {"vault": "notes", **given[wish.tool]}

    def seen(self, tool: str, arguments: Mapping[str, Any]) -> frozenset[bytes]:
        """Return the words that a preview of now shows, of what may go."""
        contents = self._bucket.contents(self._ref)
        if tool == "delete_directory":
            below = f"{arguments['path']}/"
            shown = [data for path, data in contents.items() if path.startswith(below)]
            return frozenset(words_of(b" ".join(shown)))
        if tool in {"edit_file", "delete_file", "restore_backup"}:
            return frozenset(words_of(contents.get(arguments["path"], b"")))
        return frozenset()

    def seen_by_hand(self, wish: Wish, etag: str | None) -> frozenset[bytes] | None:
        if wish.tool == "delete_directory":
            return None
        if wish.tool not in {"edit_file", "delete_file", "restore_backup"}:
            return frozenset()
        stored = self._bucket.stored(self._ref, VaultPath(wish.path))
        read = [each.data for each in stored if each.data and each.info.etag == etag]
        return frozenset(words_of(b" ".join(read)))

    def place(self, wish: Wish) -> str:
        """Return a file that a change is about."""
        if wish.tool not in {"rename_directory", "delete_directory", "move_path"}:
            return wish.path
        inside = [
            path
            for path in sorted(self._bucket.contents(self._ref))
            if path.startswith(f"{wish.directory}/")
        ]
        return inside[0] if inside and (wish.flag or wish.tool != "move_path") else wish.path

    def _kept(self, wish: Wish) -> str:
        """Return the text before what is written, which an edit keeps or not."""
        now = self._bucket.contents(self._ref).get(VaultPath(wish.path), b"")
        return now.decode() if wish.pick % 2 else ""

    def etag(self, path: str, pick: int) -> ETag | None:
        """Return the present ETag of a file, or an older one; None if it never was."""
        versions = self._bucket.versions(self._ref, VaultPath(path))
        etags = [version.etag for version in versions if not version.deletion]
        if not etags:
            return None
        return etags[0] if pick < 5 else etags[pick % len(etags)]

    def _version(self, path: str, pick: int) -> str:
        versions = self._bucket.versions(self._ref, VaultPath(path))
        names = [version.version for version in versions if not version.deletion]
        return names[pick % len(names)] if names else "version-0"
