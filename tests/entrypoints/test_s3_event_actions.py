"""Every event of S3, in every form in which it comes, ends in the right action."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest

from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from tests.builders import ACME, ALICE, a_vault, vault_ref
from tests.index_world import IndexWorld
from tests.s3_events import FORMS, KINDS, IndexingFunction, batch, messages_in, wrapped

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "aws"
VAULT = vault_ref("v1")
PATH = "Été 2026/à+b (1) two words.md"
APPEARS = ("put", "copy", "multipart")
GOES = ("marker", "purge", "expiry")
CHANGES_NOTHING = sorted(KINDS.keys() - {*APPEARS, *GOES})

Form = Callable[..., str]

in_every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


class World(IndexWorld):
    """A vault at the place that events are about, and the function that is told of them."""

    def __init__(self) -> None:
        super().__init__()
        self.directory.create(a_vault("team", vault_id=VAULT.id), owner=ALICE)
        self.tell = IndexingFunction(self)

    def put(self, text: str, path: str = PATH) -> None:
        """Put a document there, of which nobody is told."""
        self.write(path, text, vault=VAULT)

    def put_and_index(self, text: str, path: str = PATH) -> None:
        """Put a document there that the index knows."""
        self.put(text, path)
        self.reconciled()

    def points_at(self, path: str) -> int:
        """Return how many vectors there are of a document."""
        return sum(point[:2] == (VAULT, path) for point in self.vectors.held(ACME, ALICE))

    def take(self, path: str = PATH) -> None:
        """Take the document away, of which nobody is told."""
        self.delete(path, vault=VAULT)


@pytest.fixture
def world() -> World:
    return World()


def key(path: str = PATH) -> str:
    return f"vaults/{VAULT.tenant}/{VAULT.id}/{path}"


@in_every_form
@pytest.mark.parametrize("kind", APPEARS)
def test_what_appears_is_found(world: World, form: Form, kind: str) -> None:
    world.put("llamas")

    assert world.tell(batch(form(kind, key(), sequencer="0A"))) == []
    assert world.found("llamas") == [PATH]


@in_every_form
@pytest.mark.parametrize("kind", GOES)
def test_what_goes_is_found_no_more(world: World, form: Form, kind: str) -> None:
    world.put_and_index("llamas")
    world.take()

    assert world.tell(batch(form(kind, key(), sequencer="0A"))) == []
    assert world.found("llamas") == []


@in_every_form
@pytest.mark.parametrize("kind", GOES)
def test_the_deletion_of_an_old_version_deletes_nothing(
    world: World, form: Form, kind: str
) -> None:
    world.put_and_index("llamas")
    embedded = len(world.embedder.embedded)

    assert world.tell(batch(form(kind, key(), sequencer="0A"))) == []
    assert world.found("llamas") == [PATH]
    assert len(world.embedder.embedded) == embedded


@in_every_form
def test_a_document_whose_delete_marker_was_deleted_is_back(world: World, form: Form) -> None:
    world.put_and_index("llamas")
    world.take()
    world.tell(batch(form("marker", key(), sequencer="0A")))
    # The deletion of the marker announces a deletion, and brings the document back.
    world.put("llamas")

    assert world.tell(batch(form("purge", key(), sequencer="0B"))) == []
    assert world.found("llamas") == [PATH]


@in_every_form
@pytest.mark.parametrize("kind", CHANGES_NOTHING)
def test_what_changes_no_content_is_acknowledged_and_looked_at_by_nobody(
    world: World, form: Form, kind: str
) -> None:
    world.put("llamas")

    assert world.tell(batch(form(kind, key(), sequencer="0A"))) == []
    assert not list(world.catalogue.entries(VAULT))


@in_every_form
def test_events_that_come_twice_and_in_another_order_lead_to_what_is_there(
    world: World, form: Form
) -> None:
    world.put_and_index("llamas")
    world.take()
    world.put("alpacas")
    events = [form(kind, key(), sequencer=f"{number:02X}")
              for number, kind in enumerate(("put", "marker", "put"))]  # fmt: skip

    for order in (events[::-1], events, [events[1], *events]):
        assert world.tell(batch(*order)) == []
        assert world.found("alpacas") == [PATH]
        assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.points_at(PATH) == 1


@in_every_form
def test_what_cannot_be_read_comes_again_alone(world: World, form: Form) -> None:
    world.put("llamas")
    told = batch("hello world", form("put", key(), sequencer="0A"), None, '{"Records": [{}]}')

    assert world.tell(told) == ["m0", "m2", "m3"]
    assert world.found("llamas") == [PATH]


def test_a_document_that_fails_comes_again_and_the_others_of_its_batch_do_not(
    world: World,
) -> None:
    world.put("DOWN", "down.md")
    world.put("llamas", "good.md")
    forms = dict(zip(("down.md", "good.md"), FORMS, strict=False))
    told = batch(*(form("put", key(path), sequencer="0A") for path, form in forms.items()))

    assert world.tell(told) == ["m0"]
    assert world.found("llamas") == ["good.md"]


def test_the_test_event_is_acknowledged_in_both_envelopes(world: World) -> None:
    test = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "documents"})

    assert world.tell(batch(test, wrapped(test))) == []
    assert world.tell.jobs.jobs == []


def test_a_topic_in_a_topic_is_no_message_of_s3(world: World) -> None:
    test = json.dumps({"Event": "s3:TestEvent"})

    assert world.tell(batch(wrapped(wrapped(test)), wrapped("hello"))) == ["m0", "m1"]


def test_a_queue_of_dead_letters_is_read_as_any_other(world: World) -> None:
    world.put("llamas")
    told = batch(FORMS[0]("put", key(), sequencer="0A"), "hello", source="indexing-dead-letters")

    assert world.tell(told) == ["m1"]
    assert world.found("llamas") == [PATH]


@in_every_form
@pytest.mark.parametrize(
    ("stray", "synchronised"),
    [
        ("vaults/acme/v9/a.md", True),
        ("vaults/acme/no vault/a.md", True),
        ("vaults/acme/a.md", True),
        ("vaults/acme/v9/", True),
        ("vaults/acme/v1/", False),
        ("vaults/acme/v1/directory/", False),
        ("vaults/acme/v1/a/../b.md", False),
        ("vaults/initech/v1/a.md", False),
        ("vaults/no tenant/v1/a.md", False),
        ("vaults/a.md", False),
        ("derived/acme/v1/x", False),
    ],
)
def test_a_key_of_no_known_vault_has_the_tenants_users_synchronised(
    world: World, form: Form, stray: str, synchronised: bool
) -> None:
    told = batch(*(form(kind, stray, sequencer="0A") for kind in ("put", "purge")))

    assert world.tell(told) == []
    expected = [(ACME, ALICE)] if synchronised else []
    assert [(job.tenant, job.user) for job in world.tell.jobs.jobs] == expected
    assert not list(world.catalogue.entries(VAULT))


def _recorded() -> Iterator[tuple[str, str]]:
    """Yield the file and the body of every message of S3 in the recordings."""
    for file in sorted(CORPUS.glob("*.json")):
        for message in messages_in(json.loads(file.read_text(encoding="utf-8"))):
            yield file.name, json.dumps(message)


def _kind_and_key(body: str) -> tuple[str, str]:
    message = json.loads(body)
    if "Records" in message:
        [record] = message["Records"]
        return record["eventName"].removeprefix("s3:"), unquote_plus(record["s3"]["object"]["key"])
    return message.get("detail-type", "test"), message.get("detail", {}).get("object", {}).get(
        "key", ""
    )


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no recorded events here")
def test_every_recorded_event_of_s3_ends_in_the_right_action() -> None:
    seen = {"appears": 0, "goes": 0, "stays": 0, "nothing": 0}
    for name, recorded in _recorded():
        kind, path = _kind_and_key(recorded)
        here = recorded.replace('"key": "', f'"key": "{key("")}')
        for body in (here, wrapped(here)):
            if kind.startswith(("Object Created", "ObjectCreated:")):
                seen["appears"] += _appears(body, path, name)
            elif kind.startswith(("Object Deleted", "ObjectRemoved:", "LifecycleExpiration:")):
                seen["goes"] += _goes(body, path, name)
                seen["stays"] += _stays(body, path, name)
            else:
                seen["nothing"] += _changes_nothing(body, path or "a.md", name)
    assert all(seen.values()), seen


def _appears(body: str, path: str, name: str) -> bool:
    world = World()
    world.put("llamas", path)
    assert world.tell(batch(body, body)) == [], name
    assert world.found("llamas") == [path], name
    return True


def _goes(body: str, path: str, name: str) -> bool:
    world = World()
    world.put_and_index("llamas", path)
    world.take(path)
    assert world.tell(batch(body, body)) == [], name
    assert world.found("llamas") == [], name
    return True


def _stays(body: str, path: str, name: str) -> bool:
    world = World()
    world.put_and_index("llamas", path)
    assert world.tell(batch(body, body)) == [], name
    assert world.found("llamas") == [path], name
    return True


def _changes_nothing(body: str, path: str, name: str) -> bool:
    world = World()
    world.put("llamas", VaultPath(path))
    assert world.tell(batch(body, body)) == [], name
    assert not list(world.catalogue.entries(VAULT)), name
    assert world.tell.jobs.jobs == [], name
    return True


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no recorded events here")
def test_every_recorded_batch_of_something_else_is_given_back_whole() -> None:
    given_back = 0
    for file in sorted(CORPUS.glob("*[sS]qs*.json")):
        recorded: Any = json.loads(file.read_text(encoding="utf-8"))
        if "s3" in file.name.lower() or "Records" not in recorded:
            continue
        messages = [record["messageId"] for record in recorded["Records"]]
        assert World().tell(recorded) == messages, file.name
        given_back += 1
    assert given_back
