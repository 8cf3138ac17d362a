"""The steps every call goes through, seen from the caller and from the audit log."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.errors import (
    ArchivoltError,
    ConfirmationRequiredError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
)
from archivolt.domain.identity import Role
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.messages import Language, Message
from archivolt.domain.tool import Risk, Surface, ToolResult
from archivolt.domain.vault import VaultRole
from archivolt.tools.audit import digest
from archivolt.tools.catalogue.parameters import Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.redaction import redacted
from archivolt.tools.registry import Registry, Tool, tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from tests.builders import ALICE, BOB, GLOBEX, principal
from tests.world import World

BOBS = principal(BOB)


class Everything(ToolInput):
    """One parameter of each kind."""

    text: str = ""
    whole: int = Field(default=1, ge=1, le=10)
    yes: bool = False
    names: list[str] = Field(default_factory=list[str])
    maybe: str | None = None


class Echo(ToolOutput):
    """What the tool was given."""

    given: dict[str, Any]
    note: Note = None


@tool(description="Gives back what it was given.", cut=Cut(field="given"))
def read_file(context: ToolContext, arguments: Everything) -> Echo:
    return Echo(given=arguments.model_dump())


class InVault(ToolInput):
    """Something in a vault."""

    vault: Vault


class Lines(ToolOutput):
    """Many lines."""

    lines: list[str]
    offset: int = 0
    next_offset: int | None = None
    note: Note = None


_LINES = Cut(field="lines", cursor="next_offset", argument="offset", position=from_offset)


def _nothing_yet(context: ToolContext, arguments: InVault) -> Preview:
    name = context.access.vault.name
    return Preview(summary=Message(f"Change {name}", f"Modifier {name}"))


@tool(description="Changes a vault.", cut=_LINES, risk=Risk.WRITE, preview=_nothing_yet)
def list_directory(context: ToolContext, arguments: InVault) -> Lines:
    return Lines(lines=[f"written in {context.access.vault.name}"])


@tool(
    description="Destroys.",
    cut=_LINES,
    risk=Risk.DANGEROUS,
    scopes=frozenset({Surface.IN_APP}),
    preview=_nothing_yet,
)
def list_all_files(context: ToolContext, arguments: InVault) -> Lines:
    return Lines(lines=[])


@tool(description="Says too much.", cut=_LINES)
def list_vaults(context: ToolContext, arguments: Everything) -> Lines:
    return Lines(lines=[f"line {number}: " + "x" * 100 for number in range(500)])


@tool(description="Has a fault.", cut=_LINES)
def read_file_raw(context: ToolContext, arguments: Everything) -> Lines:
    raise ZeroDivisionError


class Stage:
    """The tools above, over a world in which Alice owns `notes` and Bob reads it."""

    def __init__(self, **limits: int) -> None:
        self.world = World(**limits)
        self.ref = self.world.vault("notes")
        self.world.share(self.ref, BOBS)
        tools: list[Tool] = [read_file, list_directory, list_all_files, list_vaults, read_file_raw]
        self.pipeline = self.world.pipeline_of(Registry(tools))

    def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        user: str = ALICE,
        surface: Surface = Surface.IN_APP,
        language: Language = Language.EN,
    ) -> ToolResult:
        return self.pipeline.call(
            principal(user), name, arguments or {}, surface=surface, language=language
        )

    def change(
        self, name: str, arguments: dict[str, Any], *, user: str = ALICE, role: Role = Role.VIEWER
    ) -> ToolResult:
        caller = principal(user, role=role)
        door, language = Surface.IN_APP, Language.EN
        token = self.pipeline.propose(
            caller, name, arguments, surface=door, language=language
        ).token
        return self.pipeline.apply(caller, name, token, surface=door, language=language)

    @property
    def outcomes(self) -> list[str]:
        return [entry.outcome for entry in self.world.audit.entries]


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize(
    ("name", "sent", "read"),
    [
        ("whole", "5", 5),
        ("whole", 5, 5),
        ("yes", "true", True),
        ("yes", "False", False),
        ("names", '["a", "b"]', ["a", "b"]),
        ("names", ["a"], ["a"]),
        ("text", "[1,2]", "[1,2]"),
        ("text", '{"a": 1}', '{"a": 1}'),
        ("text", "5", "5"),
        ("text", 5, "5"),
        ("text", "", ""),
        ("maybe", None, None),
        ("maybe", "", None),
        ("whole", None, 1),
    ],
)
def test_arguments_are_read_as_language_models_write_them(
    stage: Stage, name: str, sent: object, read: object
) -> None:
    assert stage.call("read_file", {name: sent}).value["given"][name] == read


@pytest.mark.parametrize(
    ("arguments", "english", "french"),
    [
        ({"whole": "many"}, "whole must be a whole number", "whole doit être un nombre entier"),
        ({"whole": 11}, "whole must be 10 or less", "whole doit être au plus 10"),
        (
            {"depth": 3},
            "depth is not known (text, whole, yes, names, maybe)",
            "depth n'est pas connu (text, whole, yes, names, maybe)",
        ),
        ({"names": "a"}, "names must be a list", "names doit être une liste"),
        ({"names": '{"a": 1}'}, "names must be a list", "names doit être une liste"),
        ({"text": ["a"]}, "text must be text", "text doit être du texte"),
        ({"text": "\ud800"}, "text is not valid Unicode", "text n'est pas de l'Unicode valide"),
    ],
)
def test_a_wrong_argument_is_told_in_the_callers_language_without_its_value(
    stage: Stage, arguments: dict[str, Any], english: str, french: str
) -> None:
    for language, problem in ((Language.EN, english), (Language.FR, french)):
        with pytest.raises(InvalidRequestError) as caught:
            stage.call("read_file", arguments, language=language)
        assert caught.value.code == "invalid_arguments"
        assert caught.value.details["problem"] == problem


def test_a_change_needs_a_confirmation_and_runs_with_one(stage: Stage) -> None:
    with pytest.raises(ConfirmationRequiredError) as caught:
        stage.call("list_directory", {"vault": "notes"})
    assert caught.value.details == {"tool": "list_directory"}

    result = stage.change("list_directory", {"vault": "notes"})
    assert result.value["lines"] == ["written in notes"]


def test_invalid_arguments_are_told_before_a_confirmation_is_asked(stage: Stage) -> None:
    with pytest.raises(InvalidRequestError):
        stage.call("list_directory", {"vault": "notes", "colour": "red"})


def test_a_reader_may_not_change_a_vault_even_with_a_confirmation(stage: Stage) -> None:
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        stage.change("list_directory", {"vault": "notes"}, user=BOB)


def test_a_writer_may_change_a_vault(stage: Stage) -> None:
    stage.world.share(stage.ref, BOBS, VaultRole.WRITER)

    assert stage.change("list_directory", {"vault": "notes"}, user=BOB).value["lines"]


def test_an_owner_can_forbid_dangerous_tools_in_a_vault(stage: Stage) -> None:
    stage.world.directory.forbid_destructive_tools(stage.ref)

    with pytest.raises(ForbiddenError, match="destructive_tools_off"):
        stage.change("list_all_files", {"vault": "notes"})


def test_a_tool_outside_its_surface_does_not_exist(stage: Stage) -> None:
    with pytest.raises(NotFoundError, match="tool_not_found"):
        stage.call("list_all_files", {"vault": "notes"}, surface=Surface.MCP)


@pytest.mark.parametrize("name", ["elsewhere", "Notes", "../notes", "", "n" * 65, 12])
def test_an_unknown_vault_is_not_found(stage: Stage, name: object) -> None:
    with pytest.raises(ArchivoltError) as caught:
        stage.change("list_directory", {"vault": name})
    assert caught.value.code == ("vault_not_found" if name != "" else "invalid_arguments")


def test_no_role_opens_a_vault_of_others(stage: Stage) -> None:
    with pytest.raises(NotFoundError, match="vault_not_found"):
        stage.change("list_directory", {"vault": "notes"}, user="root", role=Role.CPI_ADMIN)


def test_calls_of_one_tool_are_limited_and_the_next_window_is_free() -> None:
    stage = Stage(per_token=100, per_tool=2)
    stage.call("read_file")
    stage.call("read_file")
    with pytest.raises(RateLimitedError) as caught:
        stage.call("read_file")
    assert caught.value.details == {"retry_after": 60}

    stage.call("list_vaults")  # another tool
    stage.call("read_file", user=BOB)  # another person
    stage.world.clock.advance(seconds=60)
    stage.call("read_file")


def test_calls_of_one_token_are_limited_whatever_the_tool() -> None:
    stage = Stage(per_token=2, per_tool=100)
    stage.world.clock.advance(seconds=15)
    stage.call("read_file")
    stage.call("list_vaults")
    with pytest.raises(RateLimitedError) as caught:
        stage.call("read_file")
    assert caught.value.details == {"retry_after": 45}


def test_equal_user_names_of_two_tenants_are_limited_apart() -> None:
    stage = Stage(per_token=1)
    stage.call("read_file")

    stage.pipeline.call(
        principal(ALICE, tenant=GLOBEX, token_id=principal(ALICE).token_id),
        "read_file",
        {},
        surface=Surface.IN_APP,
        language=Language.EN,
    )


def test_a_long_result_is_cut_and_says_where_to_read_on(stage: Stage) -> None:
    result = stage.call("list_vaults")

    assert result.truncated
    assert result.size > MAX_TOOL_RESULT_CHARS
    shown = len(result.value["lines"])
    assert result.value["next_offset"] == shown
    assert result.value["note"] == f"Cut to fit: call again with offset = {shown} to read on."
    assert MAX_TOOL_RESULT_CHARS - 200 < len(json.dumps(result.value)) <= MAX_TOOL_RESULT_CHARS


def test_a_reader_that_is_no_model_gets_more_room(stage: Stage) -> None:
    stage.pipeline = stage.pipeline.with_room_for(1_000_000)

    result = stage.call("list_vaults")

    assert not result.truncated
    assert len(result.value["lines"]) == 500


def test_secrets_are_hidden_in_every_text_of_a_result(stage: Stage) -> None:
    secret = "ghp_" + "a1B2" * 10

    given = stage.call("read_file", {"text": f"use {secret}", "names": [secret]}).value["given"]

    assert given["text"] == "use [redacted:github-token]"
    assert given["names"] == ["[redacted:github-token]"]


def test_secrets_are_hidden_in_addresses_too() -> None:
    secret = "ghp_" + "a1B2" * 10
    kept = {"uri": "vault://notes/a%20b.md", "content": f"vault://x%20y {secret}"}

    result = redacted({**kept, "links": [{"uri": f"vault://notes/my%20{secret}.md#x"}]})

    assert result["uri"] == kept["uri"]
    assert result["content"] == "vault://x%20y [redacted:github-token]"
    assert result["links"] == [{"uri": "vault://notes/my [redacted:github-token].md#x"}]


def test_no_secret_in_a_path_is_recorded(stage: Stage) -> None:
    secret = "ghp_" + "a1B2" * 10
    with pytest.raises(ArchivoltError):
        stage.call(secret, {"vault": secret, "path": f"a/{secret}.md"})

    entry = stage.world.audit.entries[-1]
    assert secret[:20] not in f"{entry.action} {entry.vault} {entry.path}"
    assert entry.path == "a/[redacted:github-token].md"


def test_every_call_is_recorded_with_its_outcome_and_nothing_of_its_content(stage: Stage) -> None:
    arguments = {"vault": "notes", "colour": "very secret"}
    stage.call("read_file", {"text": "very secret"})
    for name in ("list_directory", "read_minds"):
        with pytest.raises(ArchivoltError):
            stage.call(name, arguments, surface=Surface.MCP)
    with pytest.raises(ZeroDivisionError):
        stage.call("read_file_raw")

    assert stage.outcomes == ["ok", "invalid_arguments", "tool_not_found", "internal"]
    refused = stage.world.audit.entries[1]
    assert (refused.principal.user, refused.action) == (ALICE, "list_directory")
    assert (refused.vault, refused.surface) == ("notes", "mcp")
    assert refused.arguments_digest == digest(dict(reversed(arguments.items())))
    assert "very secret" not in repr(stage.world.audit.entries)


def test_the_time_a_call_took_is_recorded() -> None:
    stage = Stage()

    class SlowServices(World):
        @property
        def vaults(self) -> Any:  # noqa: ANN401
            self.clock.advance(milliseconds=1234)
            return stage.world.vaults

        @vaults.setter
        def vaults(self, value: object) -> None: ...

    slow = SlowServices()
    pipeline = slow.pipeline_of(Registry([read_file]))
    started = slow.clock.now()
    pipeline.call(principal(ALICE), "read_file", {}, surface=Surface.IN_APP, language=Language.EN)

    entry = slow.audit.entries[0]
    assert entry.milliseconds == 1234
    assert entry.at == started


def test_threads_share_a_pipeline_without_mixing_their_calls(stage: Stage) -> None:
    def echoed(number: int) -> str:
        return stage.call("read_file", {"text": str(number)}).value["given"]["text"]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(echoed, range(200))) == [str(number) for number in range(200)]
