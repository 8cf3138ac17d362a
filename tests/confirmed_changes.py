"""Tools that really change files, over a world of fakes: what tests of confirmations run on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

from pydantic import Field

from archivolt.domain.confirmation import Affected, Change, Preview
from archivolt.domain.errors import ArchivoltError, ConflictError
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language, Message
from archivolt.domain.paths import VaultPath
from archivolt.domain.tool import Risk, Surface, ToolResult
from archivolt.domain.vault import ETag, VaultRef, WriteMarks
from archivolt.ports.files import FileStore
from archivolt.tools.context import ToolContext
from archivolt.tools.pipeline import Proposed, ToolPipeline
from archivolt.tools.registry import Registry, tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut
from tests.builders import ALICE, principal
from tests.world import World

EN = Language.EN


class Edit(ToolInput):
    """A new content for a file."""

    vault: str
    path: str
    content: str = ""


class Edited(ToolOutput):
    """The file as it is then."""

    etag: str
    lines: list[str] = Field(default_factory=list[str])
    note: str | None = None


class Hand:
    """What the tools below do, and how often; `before` and `after` surround the write."""

    def __init__(self, store: FileStore) -> None:
        self.store = store
        self.runs: list[bool] = []
        self.before: Callable[[], object] = lambda: None
        self.after: Callable[[], object] = lambda: None

    def preview(self, context: ToolContext, arguments: Edit) -> Preview:
        head = self.store.head(context.access.vault.ref, VaultPath(arguments.path))
        return Preview(
            summary=Message(f"Edit {arguments.path}", f"Modifier {arguments.path}"),
            diff=f"-old\n+{arguments.content}\n",
            affected=[Affected(path=arguments.path, change=Change.EDIT)],
            pins={arguments.path: head.etag},
        )

    def write(self, context: ToolContext, arguments: Edit) -> Edited:
        assert context.confirmation is not None
        ref, path = context.access.vault.ref, VaultPath(arguments.path)
        self.runs.append(context.confirmation.resumed)
        head = self.store.head(ref, path)
        if context.confirmation.resumed and head.operation == context.confirmation.operation:
            return Edited(etag=head.etag)
        self.before()
        pinned = ETag(context.confirmation.pins[arguments.path])
        if head.etag != pinned:
            raise ConflictError("conflict", etag=head.etag, diff="-theirs\n+yours\n")
        marks = WriteMarks(operation=context.confirmation.operation)
        data = arguments.content.encode()
        info = self.store.replace(ref, path, data, expected=pinned, marks=marks)
        self.after()
        return Edited(etag=info.etag)


def changing_tools(hand: Hand) -> Registry:
    """`edit_file`, which writes; `rename_file`, which is dangerous; and `read_file`."""

    def edit_file(context: ToolContext, arguments: Edit) -> Edited:
        return hand.write(context, arguments)

    def rename_file(context: ToolContext, arguments: Edit) -> Edited:
        return hand.write(context, arguments)

    def read_file(context: ToolContext, arguments: Edit) -> Edited:
        return Edited(etag="")

    cut, shown = Cut(field="lines"), hand.preview
    return Registry(
        [
            tool(description="Edits.", cut=cut, risk=Risk.WRITE, preview=shown)(edit_file),
            tool(description="Renames.", cut=cut, risk=Risk.DANGEROUS, preview=shown)(rename_file),
            tool(description="Reads.", cut=cut)(read_file),
        ]
    )


class ChangeStage:
    """Alice owns `notes` with `a.md` in it, in a world whose tools are `changing_tools`."""

    def __init__(self, **limits: int) -> None:
        self.world = World(**limits)
        self.ref: VaultRef = self.world.vault("notes")
        self.first = self.world.write(self.ref, "a.md", "one")
        self.hand = Hand(self.world.store)
        self.pipeline = self.world.pipeline_of(changing_tools(self.hand))

    def propose(
        self,
        content: str = "two",
        *,
        name: str = "edit_file",
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        **more: Any,  # noqa: ANN401  whatever `propose` takes
    ) -> Proposed:
        arguments = {"vault": "notes", "path": "a.md", "content": content}
        caller = by or principal(ALICE)
        return self.pipeline.propose(caller, name, arguments, surface=surface, language=EN, **more)

    def apply(
        self,
        token: str,
        *,
        name: str = "edit_file",
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        pipeline: ToolPipeline | None = None,
    ) -> ToolResult:
        caller = by or principal(ALICE)
        return (pipeline or self.pipeline).apply(caller, name, token, surface=surface, language=EN)

    def decline(self, token: str, *, name: str = "edit_file", by: Principal | None = None) -> None:
        self.pipeline.decline(by or principal(ALICE), name, token, surface=Surface.IN_APP)

    @property
    def versions(self) -> int:
        return len(self.world.store.versions(self.ref, VaultPath("a.md")))

    @property
    def text(self) -> str:
        return self.world.store.read(self.ref, VaultPath("a.md")).data.decode()


def code_of(action: Callable[[], object]) -> str:
    """Return the code of the error that an action raises, "" for none."""
    try:
        action()
    except ArchivoltError as error:
        return error.code
    return ""


def at_once(action: Callable[[int], object], *, runners: int) -> list[object]:
    """Start an action in every runner at the same moment; return what each gave or raised."""
    together = Barrier(runners)

    def run(number: int) -> object:
        together.wait()
        try:
            return action(number)
        except ArchivoltError as error:
            return error

    with ThreadPoolExecutor(runners) as pool:
        return list(pool.map(run, range(runners)))


class Patience:
    """Waits, as many do for one that works, until it is told that the work is done."""

    def __init__(self) -> None:
        self.done = Event()

    def __call__(self, seconds: float) -> None:
        assert self.done.wait(20)
