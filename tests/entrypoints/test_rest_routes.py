"""Every route of the tools function, through the real handler with the events that AWS sends."""

import json
from typing import Any

import pytest

from archivolt.domain.limits import MAX_RAW_RESPONSE_BYTES
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRole
from archivolt.tools.catalogue import native_tools
from tests.builders import ALICE, BOB, principal
from tests.entrypoints.rest_world import GOLDEN, RestWorld, part
from tests.unit.test_paths import ATTACKS, ODD_NAMES

API = "/api/v1"


@pytest.fixture
def world() -> RestWorld:
    """Alice owns `notes`, which Bob reads; both tenants have a vault named `plans`."""
    world = RestWorld()
    notes = world.vault("notes")
    world.share(notes, principal(BOB))
    world.write(notes, "a.md", "apples and été", tags=("fruit",))
    world.write(notes, "dir/b.md", "pears")
    return world


def error(answer: Any) -> tuple[int, str]:  # noqa: ANN401
    return answer.status, answer.json["error"]["code"]


def test_the_golden_event_is_answered_as_it_came(world: RestWorld) -> None:
    answer = world.invoke(GOLDEN)

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert [vault["name"] for vault in answer.json["vaults"]] == ["notes"]


def test_health_needs_no_token(world: RestWorld) -> None:
    answer = world.get("/healthz", user="")

    assert (answer.status, answer.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/vaults"),
        ("POST", "/vaults"),
        ("GET", "/vaults/notes/members"),
        ("PUT", "/vaults/notes/members/bob"),
        ("DELETE", "/vaults/notes/members/bob"),
        ("GET", "/browse/notes"),
        ("GET", "/file/notes?path=a.md"),
        ("GET", "/file/notes/raw?path=a.md"),
        ("POST", "/file/notes"),
        ("GET", "/vault/notes/files"),
        ("GET", "/vault/notes/index"),
        ("GET", "/search?q=apples"),
        ("GET", "/tools"),
        ("POST", "/tools/list_vaults"),
    ],
)
@pytest.mark.parametrize("user", ["", "nobody"])
def test_every_other_route_needs_a_token(
    world: RestWorld, method: str, path: str, user: str
) -> None:
    answer = world.send(method, API + path, {} if method in {"POST", "PUT"} else None, user=user)

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_the_vaults_have_the_shape_of_the_contract(world: RestWorld) -> None:
    vaults = world.get(f"{API}/vaults").json["vaults"]

    assert vaults == [{"name": "notes", "role": "owner", "files": 2, "aiDestructiveTools": True}]


def test_a_vault_is_created_once(world: RestWorld) -> None:
    created = world.post(f"{API}/vaults", {"name": "Été 100%"})
    assert created.status == 201
    assert created.json == {
        "name": "Été 100%",
        "role": "owner",
        "files": 0,
        "aiDestructiveTools": True,
    }

    assert error(world.post(f"{API}/vaults", {"name": "Été 100%"})) == (409, "vault_exists")
    assert error(world.post(f"{API}/vaults", {"name": "a/b"})) == (400, "invalid_vault_name")
    assert error(world.post(f"{API}/vaults", {"title": "x"})) == (422, "invalid_request")


@pytest.mark.parametrize(
    "name", ["Été 2026", "100%", "a%20b", "a+b", "日本語 👩‍👩‍👧", "a?b#c", "a&b=c"]
)
def test_any_vault_name_works_in_an_address(world: RestWorld, name: str) -> None:
    world.post(f"{API}/vaults", {"name": name})

    created = world.post(f"{API}/file/{part(name)}", {"path": "a.md", "content": "text"})
    read = world.get(f"{API}/file/{part(name)}?path=a.md")
    raw = world.get(f"{API}/file/{part(name)}/raw?path=a.md")
    listed = world.get(f"{API}/browse/{part(name)}")
    files = world.get(f"{API}/vault/{part(name)}/files")

    assert created.status == 201
    assert (read.json["vault"], read.json["content"]) == (name, "text")
    assert raw.body == b"text"
    assert [entry["path"] for entry in listed.json["entries"]] == ["a.md"]
    assert [file["path"] for file in files.json["files"]] == ["a.md"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_file_name_works_in_an_address(world: RestWorld, name: str) -> None:
    created = world.post(f"{API}/file/notes", {"path": f"odd/{name}", "content": "text"})

    assert (created.status, created.json["path"]) == (201, f"odd/{name}")
    assert world.get(f"{API}/file/notes?path={part(f'odd/{name}')}").json["content"] == "text"
    assert world.get(f"{API}/file/notes/raw?path={part(f'odd/{name}')}").body == b"text"


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a != "\ud800.md"])
def test_no_route_takes_a_path_that_leaves_the_vault(world: RestWorld, attack: str) -> None:
    urls = [f"file/notes?path={part(attack)}", f"file/notes/raw?path={part(attack)}"]
    if attack not in {"", ".", "a/"}:
        urls += [f"browse/notes?path={part(attack)}", f"vault/notes/files?dir={part(attack)}"]

    answers = [world.get(f"{API}/{url}") for url in urls]
    answers.append(world.post(f"{API}/file/notes", {"path": attack, "content": "x"}))

    for answer in answers:
        assert answer.status in {400, 422}
        code = answer.json["error"]["code"]
        assert code in {"invalid_path", "invalid_arguments", "invalid_request"}


def test_a_file_is_created_with_what_names_its_version(world: RestWorld) -> None:
    created = world.post(f"{API}/file/notes", {"path": "new/c.md", "content": "# Neuf\n"})

    assert created.status == 201
    assert set(created.json) >= {"path", "etag", "version"}
    read = world.get(f"{API}/file/notes?path=new/c.md").json
    assert (read["content"], read["etag"]) == ("# Neuf\n", created.json["etag"])
    again = world.post(f"{API}/file/notes", {"path": "new/c.md", "content": "x"})
    assert error(again) == (409, "file_exists")


def test_a_reader_creates_no_file(world: RestWorld) -> None:
    answer = world.post(f"{API}/file/notes", {"path": "c.md", "content": "x"}, user="bob")

    assert error(answer) == (403, "vault_read_only")


def test_a_text_can_be_read_in_parts(world: RestWorld) -> None:
    read = world.get(f"{API}/file/notes?path=a.md&offset=7&limit=3").json

    assert (read["content"], read["next_offset"], read["total_chars"]) == ("and", 10, 14)


def test_a_directory_can_be_read_in_pages(world: RestWorld) -> None:
    first = world.get(f"{API}/browse/notes?limit=1").json
    second = world.get(f"{API}/browse/notes?limit=1&after={part(first['next_after'])}").json

    assert [entry["path"] for entry in first["entries"] + second["entries"]] == ["a.md", "dir/"]
    assert second["next_after"] is None


def test_a_search_finds_documents(world: RestWorld) -> None:
    found = world.get(f"{API}/search?q=APPLE").json

    assert [hit["uri"] for hit in found["hits"]] == ["vault://notes/a.md"]
    assert found["hits"][0]["highlights"] == [[0, 6]]
    assert world.get(f"{API}/search?q=apples&tag=%23fruit&vault=notes").json["hits"]
    assert not world.get(f"{API}/search?q=apples&tag=other").json["hits"]


def test_the_index_counts_documents_by_state(world: RestWorld) -> None:
    world.write(world.vaults.access(principal(ALICE), "notes").vault.ref, "x.bin", b"\x00")

    counts = world.get(f"{API}/vault/notes/index", user="bob").json

    assert (counts["vault"], counts["files"]) == ("notes", 3)
    assert counts["states"] == {
        "pending": 2,
        "indexed": 0,
        "no_text": 0,
        "ocr_needed": 0,
        "unsupported": 1,
        "too_big": 0,
        "failed": 0,
    }


def test_every_member_sees_who_shares_a_vault_owners_first(world: RestWorld) -> None:
    world.send("PUT", f"{API}/vaults/notes/members/bob", {"role": "reader"})

    seen = world.get(f"{API}/vaults/notes/members", user="bob")

    assert seen.status == 200
    assert [(each["user"], each["role"]) for each in seen.json["members"]] == [
        ("alice", "owner"),
        ("bob", "reader"),
    ]


def test_members_are_added_and_removed(world: RestWorld) -> None:
    made = world.send("PUT", f"{API}/vaults/notes/members/auth0%7Cx%40y.z", {"role": "writer"})
    assert (made.status, made.json) == (
        200,
        {"vault": "notes", "user": "auth0|x@y.z", "role": "writer"},
    )
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    assert ("auth0|x@y.z", VaultRole.WRITER) in world.directory.members(ref)

    gone = world.send("DELETE", f"{API}/vaults/notes/members/auth0%7Cx%40y.z")
    assert (gone.status, gone.body) == (204, b"")
    assert error(world.send("DELETE", f"{API}/vaults/notes/members/alice")) == (409, "last_owner")
    refused = world.send("PUT", f"{API}/vaults/notes/members/bob", {"role": "king"})
    assert error(refused) == (422, "invalid_request")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/vaults", {"name": "agents"}),
        ("PUT", "/vaults/notes/members/bob", {"role": "owner"}),
        ("DELETE", "/vaults/notes/members/bob", None),
        ("POST", "/file/notes", {"path": "c.md", "content": "x"}),
        ("GET", "/file/notes/raw?path=a.md", None),
        ("GET", "/vaults/notes/members", None),
        ("GET", "/tenants/acme/settings", None),
        ("GET", "/audit", None),
    ],
)
@pytest.mark.parametrize("agent", ["alices-agent", "admins-agent"])
def test_an_agents_token_does_nothing_by_hand(
    world: RestWorld, method: str, path: str, body: object, agent: str
) -> None:
    answer = world.send(method, API + path, body, user=agent)

    assert error(answer) == (403, "person_required")


def test_an_agents_token_reads_through_tools(world: RestWorld) -> None:
    answer = world.get(f"{API}/file/notes?path=a.md", user="alices-agent")

    assert answer.status == 200
    assert world.audit.entries[-1].surface == "mcp"


def test_the_tools_have_the_shape_of_the_contract(world: RestWorld) -> None:
    tools = world.get(f"{API}/tools").json["tools"]

    assert [tool["name"] for tool in tools] == [tool.name for tool in native_tools()]
    for tool in tools:
        assert set(tool) == {
            "name",
            "description",
            "parameters",
            "risk",
            "requires_confirmation",
            "scopes",
            "label",
        }
        assert tool["parameters"]["type"] == "object"
        assert tool["requires_confirmation"] == (tool["risk"] != "read")
        web = tool["name"] in {"web_search", "fetch_url"}
        assert tool["scopes"] == (["in_app"] if web else ["in_app", "mcp"])
        assert set(tool["label"]) == {"fr", "en"}


@pytest.mark.parametrize(
    ("tool", "arguments", "url"),
    [
        ("list_vaults", {}, "vaults"),
        ("list_directory", {"vault": "notes", "path": "dir"}, "browse/notes?path=dir"),
        ("list_all_files", {"vault": "notes", "limit": "1"}, "vault/notes/files?limit=1"),
        ("read_file", {"vault": "notes", "path": "a.md"}, "file/notes?path=a.md"),
        ("search_fulltext", {"q": "apples"}, "search?q=apples"),
        ("list_directory", {"vault": "nothing"}, "browse/nothing"),
        ("read_file", {"vault": "notes", "path": "x.md"}, "file/notes?path=x.md"),
        ("read_file", {"vault": "notes", "path": "../x"}, "file/notes?path=../x"),
        ("list_all_files", {"vault": "notes", "limit": "0"}, "vault/notes/files?limit=0"),
        ("search_fulltext", {}, "search"),
    ],
)
def test_a_call_gives_the_same_as_a_tool_and_as_an_address(
    world: RestWorld, tool: str, arguments: dict[str, Any], url: str
) -> None:
    called = world.post(f"{API}/tools/{tool}", arguments)
    read = world.get(f"{API}/{url}")

    assert called.status == read.status
    assert called.json.get("result", called.json) == read.json


def test_an_unknown_tool_is_not_found(world: RestWorld) -> None:
    assert error(world.post(f"{API}/tools/read_minds", {})) == (404, "tool_not_found")


@pytest.mark.parametrize("body", [b"[1]", b"{", b'"a"', b"\xff"])
def test_a_body_that_is_no_object_is_refused(world: RestWorld, body: bytes) -> None:
    answer = world.post(f"{API}/tools/list_vaults", body)

    assert answer.status in {400, 422}
    assert answer.json["error"]["code"] in {"invalid_request", "unreadable_request"}


def test_a_tool_without_arguments_may_be_called_without_a_body(world: RestWorld) -> None:
    assert world.send("POST", f"{API}/tools/list_vaults").status == 200


def test_an_unknown_parameter_is_told_rather_than_ignored(world: RestWorld) -> None:
    answer = world.get(f"{API}/browse/notes?pth=dir", Accept_Language="fr")

    assert error(answer) == (400, "invalid_arguments")
    assert "pth n'est pas connu (vault, path, limit, after)" in answer.json["error"]["message"]


def test_a_parameter_cannot_name_another_vault_than_the_address(world: RestWorld) -> None:
    world.vault("private", owner=principal(BOB))

    answer = world.get(f"{API}/browse/notes?vault=private")

    assert (answer.status, answer.json["vault"]) == (200, "notes")


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1", "/", "/api/v1/browse/a%2Fb"])
def test_an_unknown_address_is_not_found(world: RestWorld, path: str) -> None:
    assert error(world.get(path)) == (404, "not_found")


def test_a_long_text_is_cut_for_a_model_and_not_for_a_person(world: RestWorld) -> None:
    text = "line\n" * 5_000
    world.post(f"{API}/file/notes", {"path": "long.md", "content": text})

    called = world.post(f"{API}/tools/read_file", {"vault": "notes", "path": "long.md"}).json
    read = world.get(f"{API}/file/notes?path=long.md").json

    assert read["content"] == text
    assert len(json.dumps(called["result"])) <= 8_000
    assert called["result"]["next_offset"] == len(called["result"]["content"])


def test_every_action_by_hand_is_recorded_and_limited() -> None:
    world = RestWorld(per_token=3)
    world.post(f"{API}/vaults", {"name": "notes"})
    world.post(f"{API}/file/notes", {"path": "a.md", "content": "very secret"})
    world.get(f"{API}/file/notes/raw?path=../a.md")
    refused = world.get(f"{API}/file/notes/raw?path=a.md")

    assert error(refused) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) <= 60
    assert [(entry.action, entry.outcome) for entry in world.audit.entries] == [
        ("create_vault", "ok"),
        ("create_file", "ok"),
        ("read_bytes", "invalid_path"),
        ("read_bytes", "rate_limited"),
    ]
    assert "very secret" not in repr(world.audit.entries)


def test_two_invocations_of_one_process_are_both_answered(world: RestWorld) -> None:
    assert [world.get(f"{API}/vaults").status for _ in range(3)] == [200, 200, 200]


def test_bytes_are_sent_as_they_are(world: RestWorld) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    data = bytes(range(256))
    world.write(ref, "photo é.png", data)

    answer = world.get(f"{API}/file/notes/raw?path={part('photo é.png')}")

    assert answer.body == data
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == "inline; filename*=UTF-8''photo%20%C3%A9.png"


@pytest.mark.parametrize(
    "name", ["page.html", "image.svg", "script.js", "feed.xml", "thing", "a.xhtml"]
)
def test_what_could_run_in_a_browser_is_only_downloaded(world: RestWorld, name: str) -> None:
    world.post(f"{API}/file/notes", {"path": name, "content": "<script>alert(1)</script>"})

    headers = world.get(f"{API}/file/notes/raw?path={name}").headers

    assert headers["content-disposition"].startswith("attachment")
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_the_bytes_of_a_text_keep_their_encoding(world: RestWorld, encoding: str) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    world.write(ref, "text.md", "été\r\n".encode(encoding))

    assert world.get(f"{API}/file/notes/raw?path=text.md").body == "été\r\n".encode(encoding)


@pytest.mark.parametrize(
    ("header", "status", "body", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=5-2", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
def test_a_range_of_bytes_can_be_asked_for(
    world: RestWorld, header: str, status: int, body: bytes | None, content_range: str | None
) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    world.write(ref, "digits", b"0123456789")

    answer = world.get(f"{API}/file/notes/raw?path=digits", Range=header)

    assert answer.status == status
    assert body is None or answer.body == body
    assert answer.headers.get("content-range") == content_range


def test_a_file_too_large_for_an_answer_is_read_in_ranges(world: RestWorld) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    world.write(ref, "film.mp4", b"\x00" * (MAX_RAW_RESPONSE_BYTES + 5))

    whole = world.get(f"{API}/file/notes/raw?path=film.mp4")
    rest = world.get(
        f"{API}/file/notes/raw?path=film.mp4", Range=f"bytes={MAX_RAW_RESPONSE_BYTES}-"
    )
    most = world.get(f"{API}/file/notes/raw?path=film.mp4", Range="bytes=0-")

    assert error(whole) == (413, "file_too_large")
    assert (rest.status, len(rest.body)) == (206, 5)
    assert most.headers["content-range"].startswith(f"bytes 0-{MAX_RAW_RESPONSE_BYTES - 1}/")


def test_bytes_that_did_not_change_are_not_sent_again(world: RestWorld) -> None:
    first = world.get(f"{API}/file/notes/raw?path=a.md")
    second = world.get(f"{API}/file/notes/raw?path=a.md", If_None_Match=first.headers["etag"])

    assert (second.status, second.body) == (304, b"")


def test_a_page_of_an_allowed_origin_may_call(world: RestWorld) -> None:
    answer = world.send(
        "OPTIONS",
        f"{API}/vaults",
        user="",
        Origin="https://app.example",
        Access_Control_Request_Method="GET",
    )

    assert answer.headers["access-control-allow-origin"] == "https://app.example"


def test_a_deleted_file_is_not_found(world: RestWorld) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    info = world.store.head(ref, VaultPath("a.md"))
    world.store.delete(ref, VaultPath("a.md"), expected=info.etag)

    for url in ("file/notes?path=a.md", "file/notes/raw?path=a.md"):
        assert error(world.get(f"{API}/{url}")) == (404, "file_not_found")


def test_an_administrator_changes_settings_and_sees_no_key(world: RestWorld) -> None:
    url = f"{API}/tenants/acme/settings"
    change = {"chat_provider": "openai", "chat_api_key": "k" * 40}

    changed = world.send("PUT", url, change, user="admin")
    shown = world.get(url, user="admin")

    assert changed.status == 200
    assert changed.json == shown.json
    assert (shown.json["chat_provider"], shown.json["chat_enabled"]) == ("openai", True)
    assert shown.json["chat_api_key"].startswith("sha256:")
    assert b"kkkk" not in changed.body + shown.body
    assert "k" * 40 not in repr(world.audit.entries)


@pytest.mark.parametrize(
    ("user", "tenant", "told"),
    [
        ("alice", "acme", (403, "forbidden")),
        ("admin", "globex", (404, "tenant_not_found")),
    ],
)
def test_settings_are_for_the_administrators_of_the_tenant(
    world: RestWorld, user: str, tenant: str, told: tuple[int, str]
) -> None:
    url = f"{API}/tenants/{tenant}/settings"

    assert error(world.get(url, user=user)) == told
    assert error(world.send("PUT", url, {"chat_enabled": False}, user=user)) == told


def test_settings_sent_back_as_they_were_shown_change_nothing(world: RestWorld) -> None:
    url = f"{API}/tenants/acme/settings"
    shown = world.send("PUT", url, {"chat_api_key": "k" * 40}, user="admin").json

    again = world.send("PUT", url, shown, user="admin").json

    assert again == shown


def test_a_setting_that_is_none_is_refused(world: RestWorld) -> None:
    answer = world.send("PUT", f"{API}/tenants/acme/settings", {"colour": "red"}, user="admin")

    assert error(answer) == (422, "invalid_request")
