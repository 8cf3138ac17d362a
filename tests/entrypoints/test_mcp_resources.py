"""Vaults and documents as resources."""

import base64
import json
from typing import Any

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import MAX_READ_BYTES, MAX_RESOURCE_BYTES
from archivolt.domain.paths import vault_uri
from tests.entrypoints.mcp_messages import legacy, modern
from tests.entrypoints.mcp_world import SECRET, McpWorld, Send

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])
NOT_FOUND = {legacy: -32002, modern: -32602}
PICTURE = b"\x89PNG\r\n\x1a\n\x00" + bytes(range(256))


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "# Garden\nPlant tulips.")
    world.write(notes, "keys.md", f"the deploy key is {SECRET}")
    world.write(notes, "Été 2026/à+b (1).md", "chaleur")
    world.write(notes, "Été 2026/photo.png", PICTURE)
    return world


def the_contents(answer: dict[str, Any]) -> dict[str, Any]:
    [contents] = answer["result"]["contents"]
    return contents


# -------------------------------------------------------------------------------- documents


@EVERY_ERA
def test_a_text_is_read_as_text_under_the_address_it_was_asked_by(
    world: McpWorld, send: Send
) -> None:
    contents = the_contents(world.read("vault://notes/garden.md", send=send))

    assert contents == {
        "uri": "vault://notes/garden.md",
        "mimeType": "text/markdown",
        "text": "# Garden\nPlant tulips.",
    }


def test_a_document_is_private_and_not_to_be_kept(world: McpWorld) -> None:
    result = world.read("vault://notes/garden.md")["result"]

    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_secrets_do_not_leave(world: McpWorld) -> None:
    text = the_contents(world.read("vault://notes/keys.md"))["text"]

    assert text.startswith("the deploy key is [redacted:")
    assert SECRET not in text


@pytest.mark.parametrize(
    "path",
    [
        "%C3%89t%C3%A9%202026/%C3%A0%2Bb%20%281%29.md",
        "Été 2026/à+b (1).md",
        "E\u0301te\u0301%202026/à+b (1).md",
    ],
)
def test_an_address_may_be_encoded_or_not_composed_or_not(world: McpWorld, path: str) -> None:
    assert the_contents(world.read(f"vault://notes/{path}", send=legacy))["text"] == "chaleur"


def test_a_fragment_is_the_readers_own(world: McpWorld) -> None:
    contents = the_contents(world.read("vault://notes/garden.md#Garden"))

    assert contents["uri"] == "vault://notes/garden.md#Garden"
    assert contents["text"].startswith("# Garden")


def test_what_a_search_finds_can_be_read_by_its_address(world: McpWorld) -> None:
    found = world.call_tool("search_documents", {"q": "chaleur"})
    uri = found["structuredContent"]["hits"][0]["uri"]

    assert the_contents(world.read(uri))["text"] == "chaleur"


def test_an_image_is_read_as_bytes(world: McpWorld) -> None:
    contents = the_contents(world.read(vault_uri("notes", "Été 2026/photo.png")))

    assert contents["mimeType"] == "image/png"
    assert base64.b64decode(contents["blob"]) == PICTURE
    assert "text" not in contents


@pytest.mark.parametrize(
    ("path", "data", "mime_type", "field"),
    [
        ("a.csv", b"a,b", "text/csv", "text"),
        ("a.html", b"<p>hi", "text/html", "text"),
        ("a.svg", b"<svg/>", "image/svg+xml", "text"),
        ("a.json", b"{}", "application/json", "text"),
        ("LICENSE", b"free", "text/plain", "text"),
        ("a.unknown", b"words", "text/plain", "text"),
        ("latin.txt", "café crème déjà là".encode("cp1252"), "text/plain", "text"),
        ("a.pdf", b"%PDF-1.7 \x00", "application/pdf", "blob"),
        ("a.unknown", b"\x00\x01", "application/octet-stream", "blob"),
        ("a.md", b"\x00\x01", "application/octet-stream", "blob"),
        ("empty.md", b"", "text/markdown", "text"),
    ],
)
def test_a_type_is_told_by_the_name_and_checked_by_the_content(
    world: McpWorld, path: str, data: bytes, mime_type: str, field: str
) -> None:
    world.write(world.vault("kinds"), path, data)

    contents = the_contents(world.read(vault_uri("kinds", path)))

    assert contents["mimeType"] == mime_type
    assert field in contents


@pytest.mark.parametrize("path", ["long.txt", "long.bin"])
def test_a_long_document_comes_whole(world: McpWorld, path: str) -> None:
    data = (b"word\n" if path.endswith("txt") else b"\x00\x01\x02\xff\n") * (MAX_READ_BYTES // 4)
    world.write(world.vault("long"), path, data)

    contents = the_contents(world.read(f"vault://long/{path}"))

    read = contents["text"].encode() if "text" in contents else base64.b64decode(contents["blob"])
    assert len(data) > MAX_READ_BYTES
    assert read == data


@EVERY_ERA
@pytest.mark.parametrize("path", ["big.txt", "big.bin"])
def test_a_document_over_the_limit_is_refused_with_size_and_limit(
    world: McpWorld, send: Send, path: str
) -> None:
    size = MAX_RESOURCE_BYTES + 1
    world.write(world.vault("big"), path, (b"x" if path.endswith("txt") else b"\x00") * size)

    error = world.read(f"vault://big/{path}", send=send)["error"]

    assert error["code"] == -32602
    assert error["message"].startswith(f"file_too_large: {path} has {size} bytes and the limit")
    assert error["data"] == {
        "code": "file_too_large",
        "path": path,
        "size": size,
        "limit": MAX_RESOURCE_BYTES,
    }


def test_a_read_passes_the_steps_of_the_tools(world: McpWorld) -> None:
    world.read("vault://notes/garden.md")

    entry = world.audit.entries[-1]
    assert (entry.action, entry.surface, entry.outcome) == ("read_file", "mcp", "ok")
    assert (entry.vault, entry.path) == ("notes", "garden.md")


def test_too_many_reads_are_refused_for_now() -> None:
    world = McpWorld(per_tool=1)
    world.write(world.vault("notes"), "garden.md", "tulips")
    world.read("vault://notes/garden.md")

    error = world.read("vault://notes/garden.md")["error"]

    assert error["code"] == -32010
    assert error["data"]["code"] == "rate_limited"


@pytest.mark.parametrize("method", ["resources/list", "resources/read"])
def test_a_service_that_is_down_is_told_by_its_code(world: McpWorld, method: str) -> None:
    world.break_files(UnavailableError("unavailable"))

    error = world.send(modern(method, {"uri": "vault://notes/garden.md"})).json["error"]

    assert error["message"].startswith("unavailable: ")


# --------------------------------------------------------------------------------- listings


@pytest.mark.parametrize("uri", ["vault://notes", "vault://notes/"])
def test_a_vault_is_a_listing_of_its_root(world: McpWorld, uri: str) -> None:
    contents = the_contents(world.read(uri))

    assert contents["mimeType"] == "application/json"
    listing = json.loads(contents["text"])
    assert (listing["vault"], listing["path"], listing["next_after"]) == ("notes", "", None)
    assert [(entry["kind"], entry["uri"]) for entry in listing["entries"]] == [
        ("file", "vault://notes/garden.md"),
        ("file", "vault://notes/keys.md"),
        ("directory", "vault://notes/%C3%89t%C3%A9%202026/"),
    ]


def test_the_addresses_of_a_listing_lead_on(world: McpWorld) -> None:
    root = json.loads(the_contents(world.read("vault://notes"))["text"])
    directory = json.loads(the_contents(world.read(root["entries"][-1]["uri"]))["text"])

    photo, note = (the_contents(world.read(entry["uri"])) for entry in directory["entries"])
    assert (note["text"], photo["mimeType"]) == ("chaleur", "image/png")


def test_an_empty_vault_has_an_empty_root(world: McpWorld) -> None:
    world.vault("empty")

    assert json.loads(the_contents(world.read("vault://empty"))["text"])["entries"] == []


# ------------------------------------------------------------------------- not found at all

TRAVERSALS = [
    "vault://notes/../other/secret.md",
    "vault://notes/..%2Fother%2Fsecret.md",
    "vault://notes/%2e%2e/other/secret.md",
    "vault://notes/%252e%252e/other/secret.md",
    "vault://notes/%252e%252e%252fother",
    "vault://notes/..\\other\\secret.md",
    "vault://notes/..%5Cother",
    "vault://notes/a/../../other/secret.md",
    "vault://notes//etc/passwd",
    "vault://notes/%2Fetc/passwd",
    "vault://notes/garden.md%00.png",
    "vault://notes/\u2025/other",
    "vault://notes/\uff0e\uff0e/other",
    "vault://notes/..",
    "vault://notes/../",
    "vault://notes/.",
    "vault://notes/vault://other/secret.md",
    "vault://notes/file:///etc/passwd",
    "vault://notes/%FF",
    "vault://notes/" + "x" * 2_000,
    "vault://../notes/garden.md",
    "vault://notes%2Fgarden.md",
    "vault://notes%2F..%2Fother/secret.md",
    "vault:///garden.md",
    "vault://",
    "vault:notes/garden.md",
    "VAULT://notes/garden.md",
    "file:///etc/passwd",
    "https://vault.example.com/mcp",
    "garden.md",
    "",
]
ABSENT = [
    "vault://notes/gone.md",
    "vault://notes/gone/",
    "vault://notes/garden.md/",
    "vault://gone",
    "vault://gone/garden.md",
    "vault://other",
    "vault://other/secret.md",
]


@EVERY_ERA
@pytest.mark.parametrize("uri", [*ABSENT, *TRAVERSALS])
def test_absent_foreign_and_malformed_addresses_look_the_same(
    world: McpWorld, send: Send, uri: str
) -> None:
    other = world.vault("other", owner=world.tokens.verify("bob"))
    world.write(other, "secret.md", "Bob's secret")
    sent = send("resources/read", {"uri": uri})
    if send is modern:
        encoded = base64.b64encode(uri.encode()).decode()
        sent.headers["mcp-name"] = f"=?base64?{encoded}?="

    answer = world.send(sent)

    assert answer.json["error"] == {
        "code": NOT_FOUND[send],
        "message": "Resource not found",
        "data": {"uri": uri},
    }


def test_the_owner_reads_what_others_do_not_find(world: McpWorld) -> None:
    other = world.vault("other", owner=world.tokens.verify("bob"))
    world.write(other, "secret.md", "Bob's secret")

    uri = "vault://other/secret.md"
    assert the_contents(world.read(uri, token="bob"))["text"] == "Bob's secret"
    assert "error" in world.read(uri, token="alice")
    assert "error" in world.read(uri, token="carol")


def test_a_vault_of_the_same_name_elsewhere_is_another(world: McpWorld) -> None:
    theirs = world.vault("notes", owner=world.tokens.verify("carol"))
    world.write(theirs, "hers.md", "of Carol")

    assert the_contents(world.read("vault://notes/hers.md", token="carol"))["text"] == "of Carol"
    assert "error" in world.read("vault://notes/hers.md", token="alice")
    assert "error" in world.read("vault://notes/garden.md", token="carol")
