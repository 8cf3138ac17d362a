"""The index of a vault over REST: what it lacks and why, and having it made anew."""

import pytest

from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.paths import VaultPath
from archivolt.domain.sync import SyncKind
from archivolt.domain.vault import VaultRole
from tests.entrypoints.rest_world import PEOPLE, RestWorld

INDEX = "/api/v1/vault/notes/index"
STATES = {
    "scan.pdf": (IndexState.OCR_NEEDED, "ocr_needed"),
    "empty.md": (IndexState.NO_TEXT, "document_without_text"),
    "huge.txt": (IndexState.TOO_BIG, "document_too_much_text"),
    "new.md": (IndexState.PENDING, ""),
    "good.md": (IndexState.INDEXED, ""),
}


class World(RestWorld):
    """A vault of Alice's that Bob reads."""

    def __init__(self) -> None:
        super().__init__()
        self.notes = self.vault("notes")
        self.share(self.notes, PEOPLE["bob"])

    def has(self, path: str, state: IndexState, reason: str = "") -> None:
        """Put a document in a state."""
        entry = CatalogueEntry(
            vault=self.notes,
            path=VaultPath(path),
            state=state,
            updated_at=self.clock.now(),
            generation=Generation("1-a"),
            reason=reason,
        )
        assert self.catalogue.advance(entry, previous=None)


@pytest.fixture
def world() -> World:
    world = World()
    for path, (state, reason) in STATES.items():
        world.has(path, state, reason)
    return world


def test_a_member_sees_what_is_not_indexed_and_why(world: World) -> None:
    seen = world.get(INDEX, user="bob").json

    assert (seen["files"], seen["states"]["indexed"], seen["states"]["pending"]) == (5, 1, 1)
    assert [(one["path"], one["state"], one["reason"]) for one in seen["attention"]] == [
        ("empty.md", "no_text", "document_without_text"),
        ("scan.pdf", "ocr_needed", "ocr_needed"),
        ("huge.txt", "too_big", "document_too_much_text"),
    ]
    assert seen["attention"][0]["since"] == world.clock.now().isoformat().replace("+00:00", "Z")
    assert seen["more"] is False


def test_reasons_are_sentences_in_the_readers_language(world: World) -> None:
    french = world.get(INDEX, accept_language="fr").json["attention"]
    english = world.get(INDEX).json["attention"]

    assert french[0]["message"].startswith("Ce document n'a pas de texte")
    assert english[0]["message"].startswith("This document has no text")
    assert "?" not in english[2]["message"]


def test_one_state_can_be_asked_for_and_the_pending_ones_too(world: World) -> None:
    for state, path in {"pending": "new.md", "too_big": "huge.txt"}.items():
        listed = world.get(f"{INDEX}?state={state}").json["attention"]
        assert [one["path"] for one in listed] == [path]
    assert world.get(f"{INDEX}?state=indexed").status == 422


def test_the_list_comes_in_pages(world: World) -> None:
    first = world.get(f"{INDEX}?limit=2").json
    rest = world.get(f"{INDEX}?limit=2&offset=2").json

    assert ([one["path"] for one in first["attention"]], first["more"]) == (
        ["empty.md", "scan.pdf"],
        True,
    )
    assert ([one["path"] for one in rest["attention"]], rest["more"]) == (["huge.txt"], False)
    for wrong in ("limit=0", "limit=201", "offset=-1", "offset=1001"):
        assert world.get(f"{INDEX}?{wrong}").status == 422


def test_a_secret_in_a_path_is_not_shown(world: World) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    world.has(f"{secret}.md", IndexState.NO_TEXT, "document_without_text")

    assert secret not in world.get(INDEX).body.decode()


def test_it_tells_when_all_was_last_compared(world: World) -> None:
    assert world.get(INDEX).json["last_sync"] is None
    world.runs.finish(world.notes, now=world.clock.now())

    moment = world.get(INDEX).json["last_sync"]
    assert moment == world.clock.now().isoformat().replace("+00:00", "Z")


def test_an_owner_has_the_index_made_anew_and_sees_how_far_it_is(world: World) -> None:
    answer = world.post(f"{INDEX}/rebuild", None)
    assert (answer.status, answer.json) == (202, {"status": "started"})
    [job] = world.sync_queue.jobs
    assert (job.kind, job.vault) == (SyncKind.REBUILD, world.notes.id)

    world.runs.note_rebuilt(world.notes, documents=3)
    rebuild = world.get(INDEX, user="bob").json["rebuild"]
    assert rebuild["done"] == 3
    assert world.post(f"{INDEX}/rebuild", None).json == {"status": "already_running"}
    assert len(world.sync_queue.jobs) == 1


def test_a_reader_may_not_and_an_administrator_who_is_a_member_may(world: World) -> None:
    refused = world.post(f"{INDEX}/rebuild", None, user="bob")
    assert (refused.status, refused.json["error"]["code"]) == (403, "owner_required")

    world.share(world.notes, PEOPLE["admin"], VaultRole.READER)
    assert world.post(f"{INDEX}/rebuild", None, user="admin").status == 202


@pytest.mark.parametrize("user", ["admin", "root", "mallory", "alice-of-globex"])
def test_whoever_is_no_member_finds_no_vault_whatever_their_role(world: World, user: str) -> None:
    refused = world.post(f"{INDEX}/rebuild", None, user=user)

    assert (refused.status, refused.json["error"]["code"]) == (404, "vault_not_found")
    assert world.sync_queue.jobs == []


def test_a_program_may_not_have_it_made_anew(world: World) -> None:
    assert world.post(f"{INDEX}/rebuild", None, user="alices-agent").status == 403


def test_it_is_counted_and_recorded_as_every_other_action(world: World) -> None:
    world.post(f"{INDEX}/rebuild", None)

    assert world.audit.entries[-1].action == "rebuild_index"
