"""Finding and replacing in many files (O58)."""

from pydantic import BaseModel, Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.limits import MAX_QUERY_CHARS
from archivolt.domain.messages import reason_for
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.parameters import Globs, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut
from archivolt.vaults.replaced_text import Replacing

_MAX_REPLACEMENT_CHARS = 20_000


class ReplaceInFiles(ToolInput):
    """Arguments of `replace_in_files`."""

    find: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="Text to find as it stands within a line, or a regular expression with regex.",
    )
    replace: str = Field(
        max_length=_MAX_REPLACEMENT_CHARS,
        description="What takes its place; with regex, $1 and ${name} stand for groups.",
    )
    vault: Vault
    case_sensitive: bool = Field(
        default=False, description="Whether case and accents count; else creer finds Créer."
    )
    whole_word: bool = Field(default=False, description="Whether to find whole words only.")
    regex: bool = Field(
        default=False,
        description="Whether find is a regular expression (RE2: no look-around).",
    )
    include_paths: Globs = Field(
        default=(), description="Only paths that match one of these: *.md, projects/, a/**/b*."
    )
    exclude_paths: Globs = Field(default=(), description="No paths that match one of these.")
    replace_all: bool = Field(
        default=True, description="Whether each occurrence; else the first of each file."
    )
    dry_run: bool = Field(
        default=False, description="Whether only to show each file's changes and write nothing."
    )

    @property
    def asked(self) -> Replacing:
        """What to replace, and where."""
        return Replacing(
            find=self.find,
            replace=self.replace,
            case_sensitive=self.case_sensitive,
            whole_word=self.whole_word,
            regex=self.regex,
            include_paths=self.include_paths,
            exclude_paths=self.exclude_paths,
            replace_all=self.replace_all,
        )


class ReplacedIn(BaseModel):
    """A file with replacements."""

    path: str
    etag: str
    occurrences: int
    diff: str = Field(description="Only with dry_run: how the file would change.")


class Unreplaced(BaseModel):
    """A file that has the text and stays as it is."""

    path: str
    reason: str = Field(description="A stable code.")
    explanation: str


class Replacements(ToolOutput):
    """Result of `replace_in_files`."""

    vault: str
    dry_run: bool
    occurrences: int
    files: list[ReplacedIn]
    files_total: int
    skipped: list[Unreplaced]
    skipped_total: int
    note: Note = None


def preview_replace_in_files(context: ToolContext, arguments: ReplaceInFiles) -> Preview:
    """Return what `replace_in_files` would do."""
    return context.services.changing.replacing.preview(context.access, arguments.asked)


@tool(
    description="""Find and replace text in the text files of a vault. Narrow it with include_paths
    and exclude_paths; to change one file give its path there. Each file keeps a backup. Values of
    secrets are neither found nor changed.""",
    cut=Cut(field="files", then=Cut(field="skipped")),
    risk=Risk.DANGEROUS,
    preview=preview_replace_in_files,
)
def replace_in_files(context: ToolContext, arguments: ReplaceInFiles) -> Replacements:
    """Replace in the files that were confirmed."""
    service, access = context.services.changing.replacing, context.access
    if arguments.dry_run:
        done = service.dry_run(access, arguments.asked)
    else:
        done = service.replace(access, arguments.asked, context.confirmed)
    return Replacements(
        vault=access.vault.name,
        dry_run=arguments.dry_run,
        occurrences=done.occurrences,
        files=[
            ReplacedIn(path=f.path, etag=f.etag, occurrences=f.occurrences, diff=f.diff)
            for f in done.files
        ],
        files_total=len(done.files),
        skipped=[
            Unreplaced(
                path=skip.path,
                reason=skip.reason,
                explanation=reason_for(skip.reason, context.language, {}),
            )
            for skip in done.skipped
        ],
        skipped_total=len(done.skipped),
    )
