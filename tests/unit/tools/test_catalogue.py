"""The product's tools, called as every door calls them: through the pipeline."""

import base64
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archivolt.domain.errors import ArchivoltError, InvalidRequestError, NotFoundError
from archivolt.domain.identity import TokenKind, TokenReach
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.messages import Language
from archivolt.domain.tool import Risk, Surface
from archivolt.tools.catalogue import native_tools
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.unit.test_paths import ATTACKS, ODD_NAMES
from tests.world import World

BOB_ = principal(BOB)
STRANGER = principal("mallory", tenant=GLOBEX)

# What the catalogue of the source says: parameters, and the step text in French (O33 to O42).
SOURCE: dict[str, tuple[list[str], str]] = {
    "list_vaults": ([], "Liste des vaults consultée"),
    "list_directory": (["vault", "path"], "Répertoire exploré : {chemin}"),
    "list_all_files": (["vault", "dir", "limit", "recursive"], "Fichiers listés"),
    "read_file": (["vault", "path"], "Fichier lu : {chemin}"),
    "read_file_raw": (["vault", "path"], "Fichier lu : {chemin}"),
    "get_backlinks": (["vault", "path"], "Backlinks analysés"),
    "get_graph": (["vault", "path", "depth", "scope", "tag"], "Graphe du vault consulté"),
    "search_fulltext": (["q", "vault", "tag", "limit"], "Recherche dans le vault : {q}"),
    "search_advanced": (
        [
            *("q", "vault", "tag", "limit", "offset", "sort", "case_sensitive", "whole_word"),
            *("regex", "include_paths", "exclude_paths", "created", "modified", "size"),
        ],
        "Recherche dans le vault : {q}",
    ),
    "search_paths": (["q", "vault"], "Chemins recherchés : {q}"),
    "list_tags": (["vault"], "Tags consultés"),
    "suggest_tags": (["q", "vault", "limit"], "Tags suggérés pour {q}"),
    "list_recent": (["vault", "limit", "mode"], "Fichiers récents consultés"),
}
READING = {"list_directory", "list_all_files", "read_file", "read_file_raw"}
OF_ONE_VAULT = {
    "list_directory": {},
    "list_all_files": {},
    "read_file": {"path": "a.md"},
    "read_file_raw": {"path": "a.md"},
    "get_backlinks": {"path": "a.md"},
    "list_backups": {"path": "a.md"},
    "diff_backup": {"path": "a.md", "version": "version-1"},
    "get_graph": {},
    "search_fulltext": {"q": "apples"},
    "search_advanced": {},
    "search_paths": {"q": "a"},
    "list_tags": {},
    "suggest_tags": {"q": "a"},
    "list_recent": {},
    "search_documents": {"q": "apples"},
    "sync_documents": {},
    "run_check": {"path": "a.md"},
}


@pytest.fixture
def world() -> World:
    """Alice owns `notes`, Bob owns `ideas` and shares it with Alice."""
    world = World()
    notes = world.vault("notes")
    ideas = world.vault("ideas", owner=BOB_)
    world.share(ideas, principal(ALICE))
    world.write(notes, "a.md", "apples from notes")
    world.write(ideas, "a.md", "apples from ideas")
    return world


@pytest.mark.parametrize("name", SOURCE)
def test_the_catalogue_is_that_of_the_source(name: str) -> None:
    parameters, french = SOURCE[name]
    spec = native_tools().get(name).spec

    assert set(parameters) <= set(spec.parameters["properties"])
    assert spec.label.fr == french
    assert spec.label.en != french
    assert (spec.risk, spec.requires_confirmation) == (Risk.READ, False)
    assert spec.scopes == frozenset(Surface)


def test_every_tool_is_described_so_that_a_model_can_choose() -> None:
    for spec in native_tools().specs(Surface.MCP):
        assert re.fullmatch(r"[a-z_]{1,64}", spec.name)
        assert 60 < len(spec.description) < 600
        for name, parameter in spec.parameters["properties"].items():
            assert parameter.get("description"), (spec.name, name)
            assert "type" in parameter, (spec.name, name)


def test_the_whole_list_of_tools_stays_small_in_a_models_context() -> None:
    listed = [
        {"name": s.name, "description": s.description, "parameters": s.parameters}
        for s in native_tools().specs(Surface.IN_APP)
    ]

    assert len(json.dumps(listed)) < 30_000


def test_the_step_text_names_what_a_call_is_about() -> None:
    read = native_tools().get("read_file").spec
    explored = native_tools().get("list_directory").spec

    assert read.step({"vault": "n", "path": "à/b.md"}, Language.FR) == "Fichier lu : à/b.md"
    assert read.step({"vault": "n", "path": "à/b.md"}, Language.EN) == "File read: à/b.md"
    assert explored.step({"vault": "n"}, Language.FR) == "Répertoire exploré : /"
    assert len(read.step({"path": "x" * 900}, Language.EN)) < 200


def test_the_list_of_vaults_has_those_of_the_caller_only(world: World) -> None:
    assert world.call("list_vaults")["vaults"] == [
        {"name": "ideas", "role": "reader", "files": 1, "aiDestructiveTools": True},
        {"name": "notes", "role": "owner", "files": 1, "aiDestructiveTools": True},
    ]
    assert [vault["name"] for vault in world.call("list_vaults", by=BOB_)["vaults"]] == ["ideas"]
    assert world.call("list_vaults", by=STRANGER)["vaults"] == []


@pytest.mark.parametrize("tool", OF_ONE_VAULT)
def test_a_vault_of_others_looks_like_one_that_does_not_exist(world: World, tool: str) -> None:
    told: list[tuple[str, str]] = []
    for vault in ("notes", "no-such"):
        for by in (BOB_, STRANGER):
            with pytest.raises(NotFoundError) as caught:
                world.call(tool, {"vault": vault, **OF_ONE_VAULT[tool]}, by=by)
            told.append((caught.value.code, caught.value.message(Language.EN).replace(vault, "V")))

    assert len(set(told)) == 1


@pytest.mark.parametrize("tool", ["search_fulltext", "search_documents"])
def test_a_search_without_a_vault_is_over_all_vaults_of_the_caller(world: World, tool: str) -> None:
    def vaults(**arguments: Any) -> set[str]:  # noqa: ANN401
        return {hit["vault"] for hit in world.call(tool, {"q": "apples", **arguments})["hits"]}

    assert vaults() == {"notes", "ideas"}
    assert vaults(vault="notes") == {"notes"}
    assert vaults(vault="") == {"notes", "ideas"}
    assert {hit["vault"] for hit in world.call(tool, {"q": "apples"}, by=BOB_)["hits"]} == {"ideas"}
    assert world.call(tool, {"q": "apples"}, by=STRANGER)["hits"] == []


def test_a_search_for_documents_has_the_shape_of_the_contract(world: World) -> None:
    found = world.call("search_documents", {"q": "apples", "vault": "notes"})

    assert found == {
        "hits": [
            {
                "vault": "notes",
                "path": "a.md",
                "uri": "vault://notes/a.md",
                "heading": "Top",
                "page": None,
                "excerpt": "apples from notes",
                "score": 1.0,
                "line": None,
                "span": [0, 0],
            }
        ],
        "notices": [{"code": "words_only", "message": "words only (en)"}],
    }


def test_a_search_explains_itself_when_asked(world: World) -> None:
    found = world.call("search_documents", {"q": "apples", "vault": "notes", "explain": True})

    assert found["hits"][0]["explanation"] == {"lexical": 1.0}


@pytest.mark.parametrize("name", [*ODD_NAMES, "dir/" + "é" * 126 + ".md"])
def test_an_odd_name_goes_through_every_tool_unchanged(name: str) -> None:
    world = World()
    notes = world.vault("Été 100%")
    world.write(notes, name, "apples")
    at = {"vault": "Été 100%", "path": name}

    assert world.call("read_file", at)["content"] == "apples"
    assert base64.b64decode(world.call("read_file_raw", at)["data"]) == b"apples"
    assert [f["path"] for f in world.call("list_all_files", {"vault": "Été 100%"})["files"]] == [
        name
    ]
    (hit,) = world.call("search_fulltext", {"q": "apples"})["hits"]
    assert hit["path"] == name
    parent = name.rpartition("/")[0]
    listed = world.call("list_directory", {"vault": "Été 100%", "path": parent})["entries"]
    assert [entry["path"] for entry in listed] == [name]


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a not in {"", ".", "a/"}])
@pytest.mark.parametrize(
    ("tool", "parameter"),
    [
        ("list_directory", "path"),
        ("list_all_files", "dir"),
        ("read_file", "path"),
        ("read_file_raw", "path"),
        ("search_documents", "path"),
    ],
)
def test_a_path_that_is_not_plainly_inside_the_vault_is_refused(
    world: World, tool: str, parameter: str, attack: str
) -> None:
    arguments = {"vault": "notes", parameter: attack}
    if tool == "search_documents":
        arguments["q"] = "apples"

    with pytest.raises(InvalidRequestError) as caught:
        world.call(tool, arguments)
    assert caught.value.code in {"invalid_path", "invalid_arguments"}


@pytest.mark.parametrize("tool", sorted(READING))
@pytest.mark.parametrize(
    "vault", ["../acme/notes", "vault://notes", "notes/", "notes\x00", "\ud800"]
)
def test_a_vault_is_named_and_not_navigated_to(world: World, tool: str, vault: str) -> None:
    with pytest.raises(NotFoundError, match="vault_not_found"):
        world.call(tool, {**OF_ONE_VAULT[tool], "vault": vault})


def read_on(world: World, tool: str, arguments: dict[str, Any], cursor: str, argument: str) -> Any:  # noqa: ANN401
    """Yield every part of a long result, each as short as the limit demands."""
    while True:
        result = world.result(tool, arguments)
        assert len(json.dumps(result.value, ensure_ascii=False)) <= MAX_TOOL_RESULT_CHARS
        Draft202012Validator(dict(native_tools().get(tool).spec.result)).validate(result.value)  # pyright: ignore[reportUnknownMemberType]
        yield result.value
        if result.value[cursor] is None:
            return
        arguments = arguments | {argument: result.value[cursor]}


def test_a_long_text_is_read_on_to_its_end_and_parts_end_with_lines() -> None:
    world = World()
    text = "".join(f'line {n}: "quoted" \\ été\n' for n in range(2_000))
    world.write(world.vault("notes"), "long.md", text)

    at = {"vault": "notes", "path": "long.md"}
    parts = [part["content"] for part in read_on(world, "read_file", at, "next_offset", "offset")]

    assert "".join(parts) == text
    assert all(part.endswith("\n") for part in parts)
    assert len(parts) < 20


def test_a_text_of_one_line_is_read_on_to_its_end() -> None:
    world = World()
    text = "\u0001é" * 20_000  # a control character takes six in JSON
    world.write(world.vault("notes"), "line.md", text.replace("\u0001", "\t"))

    at = {"vault": "notes", "path": "line.md"}
    parts = [part["content"] for part in read_on(world, "read_file", at, "next_offset", "offset")]

    assert "".join(parts) == text.replace("\u0001", "\t")


def test_long_bytes_are_read_on_to_their_end() -> None:
    world = World()
    data = bytes(range(256)) * 100
    world.write(world.vault("notes"), "data.bin", data)

    at = {"vault": "notes", "path": "data.bin"}
    parts = read_on(world, "read_file_raw", at, "next_offset", "offset")

    assert b"".join(base64.b64decode(part["data"]) for part in parts) == data


@pytest.mark.parametrize(
    ("tool", "field"), [("list_all_files", "files"), ("list_directory", "entries")]
)
def test_a_long_listing_is_read_on_to_its_end(tool: str, field: str) -> None:
    world = World()
    notes = world.vault("notes")
    paths = [f"n{number:03}/{'x' * 50}.md" for number in range(150)]
    for path in paths:
        world.write(notes, path, "text")

    parts = read_on(world, tool, {"vault": "notes", "limit": 140}, "next_after", "after")
    listed = [entry["path"] for part in parts for entry in part[field]]

    expected = paths if field == "files" else [path.partition("/")[0] + "/" for path in paths]
    assert listed == expected


def test_many_vaults_are_read_on_to_the_last() -> None:
    world = World()
    for number in range(150):
        world.vault(f"vault {number:03} {'x' * 40}")

    parts = list(read_on(world, "list_vaults", {}, "next_offset", "offset"))

    assert len(parts) > 1
    assert len({vault["name"] for part in parts for vault in part["vaults"]}) == 150


@pytest.mark.parametrize("tool", ["search_fulltext", "search_documents"])
def test_many_hits_are_bounded_and_say_how_to_get_the_rest(tool: str) -> None:
    world = World()
    notes = world.vault("notes")
    for number in range(60):
        world.write(notes, f"{number}.md", f"apples {'filler ' * 150} {number}")

    most = {"limit": 50} if tool == "search_fulltext" else {"top_k": 50}
    result = world.result(tool, {"q": "apples", **most})

    assert result.truncated
    assert result.value["hits"]
    assert len(json.dumps(result.value, ensure_ascii=False)) <= MAX_TOOL_RESULT_CHARS
    if tool == "search_fulltext":
        assert result.value["next_offset"] == len(result.value["hits"])
    else:
        assert result.value["notices"][-1]["code"] == "result_cut"


def test_a_secret_in_a_document_reaches_no_tool() -> None:
    world = World()
    secret = "hf_" + "aB3" * 12
    world.write(world.vault("notes"), "a.md", f"apples {secret}")
    at = {"vault": "notes", "path": "a.md"}

    read = world.call("read_file", at)
    raw = base64.b64decode(world.call("read_file_raw", at)["data"])
    found = [world.call(tool, {"q": "apples"}) for tool in ("search_fulltext", "search_documents")]

    assert read["redactions"] == 1
    assert raw == b"apples " + b"*" * len(secret)
    assert secret not in json.dumps([read, found])


def test_a_binary_file_is_refused_as_text_with_what_to_do(world: World) -> None:
    notes = world.vaults.access(principal(ALICE), "notes").vault.ref
    world.write(notes, "photo.png", b"\x89PNG\x00")

    with pytest.raises(ArchivoltError) as caught:
        world.call("read_file", {"vault": "notes", "path": "photo.png"})
    assert caught.value.code == "file_not_text"
    raw = world.call("read_file_raw", {"vault": "notes", "path": "photo.png"})
    assert (raw["content_type"], raw["size"]) == ("image/png", 5)


def test_reads_give_the_version_that_was_read(world: World) -> None:
    notes = world.vaults.access(principal(ALICE), "notes").vault.ref
    info = world.write(notes, "b.md", "text")
    at = {"vault": "notes", "path": "b.md"}

    assert world.call("read_file", at)["etag"] == info.etag
    assert world.call("read_file_raw", at)["etag"] == info.etag
    files = world.call("list_all_files", {"vault": "notes"})["files"]
    assert {file["path"]: file["etag"] for file in files}["b.md"] == info.etag


def test_a_synchronisation_is_queued_for_the_caller_and_the_second_finds_it(world: World) -> None:
    assert world.call("sync_documents", {}) == {"status": "started"}
    assert world.call("sync_documents", {"vault": "notes"}) == {"status": "already_running"}
    [job] = world.sync_queue.take()
    assert (job.tenant, job.user, job.vault) == (ACME, ALICE, None)


def test_a_synchronisation_goes_no_further_than_the_token(world: World) -> None:
    reach = TokenReach(
        vaults=frozenset({world.vaults.access(principal(ALICE), "ideas").vault.ref.id})
    )
    program = replace(principal(ALICE, kind=TokenKind.PERSONAL), reach=reach)
    world.pipeline.call(program, "sync_documents", {}, surface=Surface.MCP, language=Language.EN)
    [job] = world.sync_queue.take()
    assert (job.vault, job.reach) == (None, reach.vaults)


def test_a_synchronisation_of_one_vault_names_that_vault(world: World) -> None:
    world.call("sync_documents", {"vault": "ideas"})
    [job] = world.sync_queue.take()
    assert job.vault == world.vaults.access(principal(ALICE), "ideas").vault.ref.id
