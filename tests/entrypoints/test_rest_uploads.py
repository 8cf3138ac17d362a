"""Uploads that go straight to the store, and the progress of changes of many files."""

import pytest

from archivolt.domain.limits import MAX_UPLOAD_BYTES
from archivolt.domain.vault import VaultRole
from archivolt.ports.operations import Operation, OperationKind
from tests.builders import ALICE, BOB, principal
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld

API = "/api/v1"
URL = f"{API}/vault/notes/uploads"


@pytest.fixture
def world() -> RestWorld:
    world = RestWorld()
    world.write(world.vault("notes"), "a.md", "text")
    return world


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def test_an_upload_is_one_request_for_one_new_file(world: RestWorld) -> None:
    answer = world.post(URL, {"path": "films/été 1.mp4", "size": 12_000_000})

    assert answer.status == 201
    assert answer.json["path"] == "films/été 1.mp4"
    assert answer.json["method"] == "PUT"
    assert answer.json["url"].startswith("http")
    assert answer.json["headers"]["Content-Type"] == "video/mp4"
    assert answer.json["expires_at"] > world.clock.now().isoformat()[:19]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"path": "a.md", "size": 1}, (409, "file_exists")),
        ({"path": "a.md/b.png", "size": 1}, (409, "path_taken")),
        ({"path": "../a", "size": 1}, (400, "invalid_path")),
        ({"path": "b", "size": MAX_UPLOAD_BYTES + 1}, (413, "upload_too_large")),
        ({"path": "b", "size": 1, "content_type": "a\r\nb: c"}, (400, "content_type_invalid")),
        ({"path": "b", "size": 1, "content_type": "html"}, (400, "content_type_invalid")),
        ({"path": "b", "size": -1}, (422, "invalid_request")),
        ({"path": "b"}, (422, "invalid_request")),
    ],
)
def test_an_upload_that_cannot_be_is_refused_before_it_is_sent(
    world: RestWorld, body: dict[str, object], told: tuple[int, str]
) -> None:
    assert error(world.post(URL, body)) == told


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("bob", (403, "vault_read_only")),
        ("mallory", (404, "vault_not_found")),
        ("alices-agent", (403, "person_required")),
        ("", (401, "missing_token")),
    ],
)
def test_only_writers_upload_with_a_token_of_their_own(
    world: RestWorld, user: str, told: tuple[int, str]
) -> None:
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    world.share(ref, principal(BOB), VaultRole.READER)

    assert error(world.post(URL, {"path": "b.png", "size": 1}, user=user)) == told


def test_members_see_how_far_changes_of_many_files_are(world: RestWorld) -> None:
    secret = "ghp_" + "a1B2" * 10
    ref = world.vaults.access(principal(ALICE), "notes").vault.ref
    now = world.clock.now()
    operation = Operation(
        id="0" * 32,
        vault=ref,
        user=principal(ALICE).user,
        kind=OperationKind.MOVE,
        started_at=now,
        updated_at=now,
        total=2,
        parameters={"source": "a", "target": f"b/{secret}"},
    )
    world.operations.start(operation, [("a/1", "x"), ("a/2", "y")])
    world.operations.progress(operation, done=1, finished=False, now=now)

    answer = world.get(f"{API}/vault/notes/operations")

    [shown] = answer.json["operations"]
    assert (shown["id"], shown["kind"], shown["user"]) == ("0" * 32, "move", ALICE)
    assert (shown["done"], shown["total"], shown["finished"]) == (1, 2, False)
    assert shown["parameters"] == {"source": "a", "target": "b/[redacted:github-token]"}
    assert error(world.get(f"{API}/vault/notes/operations", user="bob")) == (
        404,
        "vault_not_found",
    )
