"""Completion of vault names and paths, in addresses and in the arguments of prompts.

It lists what the caller may read, through the tools, and so through their steps.
"""

from typing import Final
from urllib.parse import quote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    PromptReference,
)

from archivolt.domain.errors import ArchivoltError, InvalidRequestError, NotFoundError
from archivolt.domain.limits import MAX_COMPLETIONS, MAX_LIST_LIMIT
from archivolt.entrypoints.mcp.caller import Caller, RequestContext, caller_of
from archivolt.entrypoints.mcp.failures import protocol_error
from archivolt.entrypoints.mcp.prompts import takes
from archivolt.tools.pipeline import ToolPipeline

# Entries of a directory as JSON, for a reader that is no model.
_ROOM_CHARS: Final = 500_000
_DIRECTORIES_ONLY: Final = "directory"
_PATHS: Final = ("path", _DIRECTORIES_ONLY)
_TEMPLATE_VARIABLES: Final = {
    "vault://{vault}": ("vault",),
    "vault://{vault}/{+path}": ("vault", "path"),
}


class McpCompletions:
    """The handler of `completion/complete`."""

    def __init__(self, pipeline: ToolPipeline) -> None:
        self._pipeline = pipeline.with_room_for(_ROOM_CHARS)

    async def complete(
        self, context: RequestContext, params: CompleteRequestParams
    ) -> CompleteResult:
        """Return what the value of an argument may go on to.

        Raises:
            MCPError: -32602: there is no such prompt, template or argument.

        """
        caller, argument = caller_of(context), params.argument
        _require_known(params)
        known = (params.context.arguments if params.context else None) or {}
        try:
            if argument.name == "vault":
                values = self._vaults(caller, argument.value)
            elif argument.name in _PATHS and known.get("vault"):
                only = argument.name == _DIRECTORIES_ONLY
                values = self._paths(caller, known["vault"], argument.value, directories=only)
            else:
                values = []
        except (NotFoundError, InvalidRequestError):
            # A vault or directory of others, or none (yet): nothing goes on from there.
            values = []
        except ArchivoltError as error:
            raise protocol_error(error, caller.language) from error
        if not isinstance(params.ref, PromptReference):
            values = [quote(value, safe="/") for value in values]
        more = len(values) > MAX_COMPLETIONS
        completion = Completion(
            values=values[:MAX_COMPLETIONS], total=None if more else len(values), has_more=more
        )
        return CompleteResult(completion=completion)

    def _vaults(self, caller: Caller, start: str) -> list[str]:
        vaults = caller.call(self._pipeline, "list_vaults", {})["vaults"]
        return [one["name"] for one in vaults if _goes_on(one["name"], start)]

    def _paths(self, caller: Caller, vault: str, start: str, *, directories: bool) -> list[str]:
        """Return the entries of the directory that `start` is in; directories end in a slash."""
        parent, slash, _ = start.rpartition("/")
        arguments = {"vault": vault, "limit": MAX_LIST_LIMIT}
        if slash:
            arguments["path"] = parent
        entries = caller.call(self._pipeline, "list_directory", arguments)["entries"]
        paths: list[str] = [entry["path"] for entry in entries]
        return [
            path
            for path in paths
            if _goes_on(path, start) and (path.endswith("/") or not directories)
        ]


def _require_known(params: CompleteRequestParams) -> None:
    if isinstance(params.ref, PromptReference):
        known = takes(params.ref.name, params.argument.name)
    else:
        known = params.argument.name in _TEMPLATE_VARIABLES.get(params.ref.uri, ())
    if not known:
        raise MCPError(INVALID_PARAMS, "There is nothing of that name to complete")


def _goes_on(text: str, start: str) -> bool:
    return text.casefold().startswith(start.casefold())
