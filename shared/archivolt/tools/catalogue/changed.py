"""What the tools that change a file take and give back."""

from typing import Annotated

from pydantic import Field

from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.paths import vault_uri
from archivolt.domain.vault import FileInfo
from archivolt.tools.catalogue.parameters import Note
from archivolt.tools.context import ToolContext
from archivolt.tools.schemas import ToolOutput
from archivolt.tools.truncation import Cut

Content = Annotated[str, Field(max_length=MAX_INLINE_CONTENT_BYTES)]
DirectoryPath = Annotated[
    str, Field(min_length=1, description="Path of the directory inside the vault, e.g. projects.")
]
GivenEtag = Annotated[
    str | None,
    Field(description="etag of the file as you read it; fails if the file is another by now."),
]
# What a tool answers that gives no long result.
SHORT = Cut(field="path")


class ChangedFile(ToolOutput):
    """A file as a change left it."""

    vault: str
    path: str
    uri: str = Field(description="How to cite it.")
    etag: str = Field(description="Names this version of the file.")
    version: str = Field(description="Its backup, should the file change again.")
    size: int = Field(description="In bytes.")
    note: Note = None


def changed(context: ToolContext, info: FileInfo) -> ChangedFile:
    """Return a file as the caller sees it."""
    vault = context.access.vault.name
    return ChangedFile(
        vault=vault,
        path=info.path,
        uri=vault_uri(vault, info.path),
        etag=info.etag,
        version=info.version,
        size=info.size,
    )
