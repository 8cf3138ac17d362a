"""Checking code, without running it (L22)."""

from typing import Annotated, Final

from pydantic import Field

from archivolt.domain.code_check import CodeCheck, CodeLanguage, code_language
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_CHECKED_CODE_BYTES
from archivolt.domain.messages import message_for
from archivolt.domain.paths import resolve_path
from archivolt.domain.validation import broken_rule
from archivolt.tools.catalogue.parameters import FilePath
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut

_UNKNOWN: Final = CodeCheck(unchecked="code_kind")


class RunCheck(ToolInput):
    """Arguments of `run_check`."""

    path: FilePath
    vault: Annotated[
        str | None,
        Field(description="Name of the vault whose file is checked; left out with content."),
    ] = None
    content: Annotated[
        str | None,
        Field(
            max_length=MAX_CHECKED_CODE_BYTES,
            description="The text to check in place of the file; path then tells its language.",
        ),
    ] = None


class CodeProblem(ToolOutput):
    """A mistake in code."""

    line: int
    column: int
    message: str


class CheckedCode(ToolOutput):
    """Result of `run_check`."""

    path: str
    language: CodeLanguage | None
    ok: bool | None = Field(description="null: not checked, note says why.")
    errors: list[CodeProblem] = Field(description="The first of them.")
    total: int
    note: str | None = Field(default=None, exclude_if=lambda note: note is None)


@tool(
    description="""Check the syntax of code: Python, JavaScript, TypeScript, JSX, HTML, CSS, JSON,
    YAML or TOML, told by the end of the path. It reads a file of a vault, or the content that you
    give, and runs nothing: types, names and behaviour are not checked. What you propose to write is
    checked by itself.""",
    cut=Cut(field="errors"),
)
def run_check(context: ToolContext, arguments: RunCheck) -> CheckedCode:
    """Return what is wrong with code."""
    path = resolve_path(arguments.path)
    language = code_language(path)
    text = arguments.content
    if text is None:
        if context.vault is None:
            problem = f"vault {broken_rule('missing', {}, context.language)}"
            raise InvalidRequestError("invalid_arguments", problem=problem)
        text = context.services.files.read_whole_text(context.vault, path)
    check = context.services.code.check(language, text) if language else _UNKNOWN
    note = None
    if check.unchecked:
        note = message_for("code_not_checked", context.language, {"reason": check.unchecked})
    return CheckedCode(
        path=path,
        language=language,
        ok=None if check.unchecked else not check.total,
        errors=[
            CodeProblem(line=error.line, column=error.column, message=error.message)
            for error in check.errors
        ],
        total=check.total,
        note=note,
    )
