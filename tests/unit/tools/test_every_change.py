"""Every tool that changes something, held to what a confirmation promises, crashes included."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import CONFIRMATION_LEASE_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.tool import Surface
from archivolt.domain.vault import VaultRole
from archivolt.tools.catalogue import native_tools
from archivolt.tools.pipeline import Proposed
from tests.builders import ALICE, BOB, GLOBEX, principal
from tests.confirmed_changes import code_of
from tests.fakes.faults import Death
from tests.world import World

ROOT = VaultPath("")
NOTES = {
    "a.md": "# A\napples and [[b]]\n",
    "b.md": "# B\nsee [[a]] and [x](dir/c.md)\napples\n",
    "dir/c.md": "back to [[a|the first]]\n",
    "dir/deep/d.md": "apples of [[c]]\n",
    "dir/e.png": "\x00\x01",
}
CHANGES: dict[str, dict[str, Any]] = {
    "create_file": {"path": "new.md", "content": "# New\n"},
    "create_directory": {"path": "empty"},
    "edit_file": {"path": "a.md", "content": "# A\npears\n"},
    "append_to_file": {"path": "a.md", "content": "more\n"},
    "restore_backup": {"path": "b.md", "version": ""},
    "rename_file": {"path": "a.md", "new_name": "z.md"},
    "rename_directory": {"path": "dir", "new_name": "folder"},
    "move_path": {"source_path": "a.md", "destination_dir": "dir"},
    "replace_in_files": {"find": "apples", "replace": "pears"},
    "delete_file": {"path": "a.md"},
    "delete_directory": {"path": "dir", "recursive": True},
}
every_change = pytest.mark.parametrize("name", CHANGES)


class Stage:
    """Alice's vault of linked notes, one of which has an earlier version."""

    def __init__(self) -> None:
        self.world = World()
        self.line = self.world.line
        self.ref = self.world.vault("notes")
        self.first = self.world.store.create(self.ref, VaultPath("b.md"), b"# B\nfirst\n")
        self.world.store.delete(self.ref, VaultPath("b.md"), expected=self.first.etag)
        for path, text in NOTES.items():
            self.world.write(self.ref, path, text)

    def propose(self, name: str, *, by: Principal | None = None) -> Proposed:
        arguments = {"vault": "notes", **CHANGES[name]}
        if name == "restore_backup":
            arguments["version"] = self.first.version
        return self.world.propose(name, arguments, by=by)

    def apply(self, proposed: Proposed) -> dict[str, Any]:
        return self.world.apply(proposed)

    @property
    def tree(self) -> dict[str, str]:
        """Every current file with its text, and every directory of the root."""
        listing = self.world.store.list(self.ref, ROOT, recursive=True, limit=1_000)
        top = self.world.store.list(self.ref, ROOT, recursive=False, limit=1_000)
        texts = {info.path: self.text(info.path) for info in listing.files}
        return {**texts, **{f"{path}/": "" for path in top.directories}}

    def text(self, path: VaultPath, version: str = "") -> str:
        return self.world.store.read(self.ref, path, version=version).data.decode()

    @property
    def every_text(self) -> set[str]:
        """What is current or in a version, anywhere."""
        return set(self._every_text())

    def _every_text(self) -> Iterator[str]:
        paths = {*self.tree, *NOTES}
        for path in (VaultPath(path) for path in paths if not path.endswith("/")):
            for version in self.world.store.versions(self.ref, path):
                if not version.deletion:
                    yield self.text(path, version.version)


def told(value: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer says, but for what names one run: versions and moments."""
    return {key: kept for key, kept in value.items() if key not in {"version", "modified"}}


def test_these_are_all_the_tools_that_change_something() -> None:
    assert [tool.name for tool in native_tools() if tool.requires_confirmation] == list(CHANGES)


@every_change
def test_a_proposal_changes_nothing_and_shows_the_change(name: str) -> None:
    stage = Stage()
    tree, texts = stage.tree, stage.every_text

    proposed = stage.propose(name)

    assert (stage.tree, stage.every_text) == (tree, texts)
    assert proposed.preview["summary"]
    assert proposed.preview["affected"]
    assert proposed.preview["affected_total"] >= 1


@every_change
def test_a_change_is_made_once_and_loses_nothing(name: str) -> None:
    stage = Stage()
    before, texts = stage.tree, stage.every_text
    proposed = stage.propose(name)

    first = stage.apply(proposed)
    after = stage.tree

    assert after != before
    assert stage.every_text >= texts
    assert stage.apply(proposed) == first
    assert stage.tree == after


@every_change
@pytest.mark.timeout(120)
def test_a_crash_anywhere_is_finished_by_the_next_apply(name: str) -> None:
    whole = Stage()
    texts = whole.every_text
    answer = whole.apply(whole.propose(name))
    crashes = 0

    for moment in range(10_000):
        stage = Stage()
        proposed = stage.propose(name)
        stage.line.strike_after(moment)
        try:
            stage.apply(proposed)
        except Death:
            crashes += 1
            stage.line.calm()
        else:
            break
        assert stage.every_text >= texts, f"lost at {moment}"
        stage.world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS)
        again = stage.apply(proposed)
        assert (stage.tree, moment) == (whole.tree, moment)
        assert (told(again), moment) == (told(answer), moment)
        assert stage.apply(proposed) == again
    assert crashes >= 10


@every_change
def test_a_service_down_at_any_call_leaves_the_change_to_a_retry(name: str) -> None:
    whole = Stage()
    whole.apply(whole.propose(name))

    for method in ("head", "read", "create", "replace", "copy", "delete", "make_directory"):
        stage = Stage()
        proposed = stage.propose(name)
        stage.line.take_down(method)
        assert code_of(lambda s=stage, p=proposed: s.apply(p)) in {
            "",
            "unavailable",
            "operation_unfinished",
        }, method
        stage.line.calm()
        stage.apply(proposed)
        assert (stage.tree, method) == (whole.tree, method)


@every_change
def test_who_only_reads_or_is_a_stranger_proposes_nothing(name: str) -> None:
    stage = Stage()
    stage.world.share(stage.ref, principal(BOB))

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        stage.propose(name, by=principal(BOB))
    for stranger in (principal("carol"), principal(ALICE, tenant=GLOBEX)):
        with pytest.raises(NotFoundError, match="vault_not_found"):
            stage.propose(name, by=stranger)


@every_change
def test_rights_are_asked_again_when_the_change_is_applied(name: str) -> None:
    stage, bob = Stage(), principal(BOB)
    stage.world.share(stage.ref, bob, VaultRole.WRITER)
    proposed, tree = stage.propose(name, by=bob), stage.tree
    stage.world.share(stage.ref, bob, VaultRole.READER)

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        stage.world.apply(proposed, by=bob)
    stage.world.directory.remove_member(stage.ref, bob.user)
    with pytest.raises(NotFoundError, match="vault_not_found"):
        stage.world.apply(proposed, by=bob)
    assert stage.tree == tree


@every_change
def test_an_owner_keeps_dangerous_tools_out_and_no_others(name: str) -> None:
    stage = Stage()
    proposed, tree = stage.propose(name), stage.tree
    stage.world.directory.forbid_destructive_tools(stage.ref)
    dangerous = native_tools().get(name).risk.value == "dangerous"

    assert code_of(lambda: stage.propose(name)) == ("destructive_tools_off" if dangerous else "")
    assert code_of(lambda: stage.apply(proposed)) == ("destructive_tools_off" if dangerous else "")
    assert (stage.tree == tree) is dangerous


@every_change
def test_what_others_wrote_meanwhile_is_never_overwritten_moved_or_deleted(name: str) -> None:
    stage = Stage()
    proposed = stage.propose(name)
    theirs = {path: f"theirs: {path}" for path in NOTES}
    for path, text in theirs.items():
        head = stage.world.store.head(stage.ref, VaultPath(path))
        stage.world.store.replace(stage.ref, head.path, text.encode(), expected=head.etag)

    code = code_of(lambda: stage.apply(proposed))

    left = {path: stage.tree[path].removesuffix("\nmore\n") for path in theirs}
    assert left == theirs
    # What touches many files tells which it left alone, and what only adds still adds.
    tells = {"replace_in_files", "delete_directory"}
    adds = {"create_file", "create_directory", "append_to_file"}
    assert code == ("" if name in tells | adds else "conflict")


@every_change
def test_a_change_is_the_same_whichever_door_it_comes_through(name: str) -> None:
    in_app, over_mcp = Stage(), Stage()
    answer = in_app.apply(in_app.propose(name))
    arguments = {"vault": "notes", **CHANGES[name]}
    if name == "restore_backup":
        arguments["version"] = over_mcp.first.version
    proposed = over_mcp.world.propose(name, arguments, surface=Surface.MCP)

    assert over_mcp.world.apply(proposed, surface=Surface.MCP) == answer
    assert over_mcp.tree == in_app.tree
