"""All that is held of a person, as one archive."""

import asyncio
import io
import json
import zipfile
from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.chat import taking_home
from archivolt.domain.identity import FULL_REACH, Principal
from archivolt.domain.language import Language
from archivolt.domain.oauth import AccessDigest, OAuthGrant, Person
from archivolt.domain.paths import VaultPath
from archivolt.domain.personal_tokens import PersonalToken
from archivolt.domain.run import Run, RunId
from archivolt.domain.skill import Skill
from archivolt.domain.usage import Budgets, Reservation, Tokens
from archivolt.domain.vault import VaultRole
from archivolt.ports.chat_model import ModelTurn
from tests.account_world import an_account, connected
from tests.builders import ACME, ALICE, BOB, a_conversation, a_message, a_vault, principal
from tests.chat_world import ChatWorld
from tests.export_world import taking_home_of
from tests.fakes.clock import START
from tests.fakes.models import RepeatableModel, calling
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.fakes.runs import InMemoryRuns
from tests.run_world import RunWorld

CALLER = principal(ALICE)


@pytest.fixture
def world() -> ChatWorld:
    """Alice and Bob have talked, and each has a vault; Alice writes in Bob's too."""
    world = ChatWorld()
    for user in (ALICE, BOB):
        conversation = a_conversation(f"of-{user}", owner=user, title=f"Été of {user}")
        world.conversations.create(conversation)
        world.conversations.append(conversation, [a_message(1, f"Words of {user}")])
        vault = a_vault(f"own of {user}")
        world.directory.create(vault, owner=user)
        world.store.create(vault.ref, VaultPath("Été/note.md"), f"note of {user}".encode())
    shared = a_vault(f"own of {BOB}")
    world.directory.set_member(shared.ref, ALICE, VaultRole.WRITER)
    return world


def opened(data: bytes) -> dict[str, str]:
    """Return the files of an archive that a reader finds whole."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def taken(world: ChatWorld, caller: Principal = CALLER, **stores: object) -> dict[str, str]:
    home = taking_home_of(world, **stores)  # pyright: ignore[reportArgumentType]  as it takes them
    return opened(b"".join(home.archive(caller, Language.EN)))


def test_everything_of_a_person_is_in_it_and_nothing_of_anybody_else(world: ChatWorld) -> None:
    files = taken(world)

    conversation = json.loads(files["conversations/of-alice.json"])
    assert conversation["title"] == "Été of alice"
    assert conversation["messages"][0]["text"] == "Words of alice"
    assert "Words of alice" in files["conversations/of-alice.md"]
    assert files["documents/own of alice/Été/note.md"] == "note of alice"
    assert json.loads(files["vaults.json"]) == [
        {"vault": "own of alice", "role": "owner"},
        {"vault": "own of bob", "role": "writer"},
    ]
    assert json.loads(files["about.json"])["user"] == ALICE
    assert json.loads(files["left-out.json"]) == []
    assert not [name for name, text in files.items() if "of bob" in name or "of bob" in text][1:]


def test_skills_settings_and_usage_are_in_it(world: ChatWorld) -> None:
    skill = Skill(id="s", title="Mine", icon="", description="", prompt="Do it.", keywords=("a",))
    world.kept_skills.save(ACME, ALICE, skill)
    world.user_settings.change(ACME, ALICE, {"human_confirmation": True})
    reservation = Reservation(
        id="r",
        tenant=ACME,
        user=ALICE,
        conversation="c",
        provider="openai",
        model="m",
        worst=Tokens(input=9, output=9),
        micros=9,
        made_at=START,
        expires_at=START + timedelta(minutes=6),
    )
    world.ledger.reserve(reservation, Budgets())
    world.ledger.settle(reservation, Tokens(input=3, output=4), 5)

    files = taken(world)

    assert json.loads(files["skills.json"])[0]["prompt"] == "Do it."
    assert json.loads(files["settings.json"])["human_confirmation"] is True
    [(month, days)] = json.loads(files["usage.json"]).items()
    assert month == "2026-09"
    assert days["2026-09-01"]["input_tokens"] == 3


def test_runs_tokens_and_connections_are_in_it_without_secrets(world: ChatWorld) -> None:
    runs, tokens, grants = InMemoryRuns(), InMemoryPersonalTokens(), InMemoryOAuthGrants()
    run = Run(
        id=RunId("r1"), principal=CALLER, goal="Do « it ».", created_at=START, updated_at=START
    )
    runs.create(run, "sealed-state", [])
    token = PersonalToken(
        id="t",
        tenant=ACME,
        user=ALICE,
        name="laptop",
        reach=FULL_REACH,
        digest="secret-digest",
        fingerprint="…abcd",
        created_at=START,
        expires_at=START,
    )
    tokens.add(token, limit=9)
    person = Person(tenant=ACME, user=ALICE, role=CALLER.role)
    grant = OAuthGrant(
        id="g",
        client_id="c",
        client_name="A client",
        person=person,
        reach=FULL_REACH,
        family="secret-family",
        refresh="secret-refresh",
        access=(AccessDigest(digest="secret-access", expires_at=START),),
        created_at=START,
        expires_at=START,
    )
    vars(grants).setdefault("_grants", {})[grant.id] = grant

    connected(world.mcp_accounts.store, an_account(sealed="secret-tokens"))

    files = taken(world, runs=runs, tokens=tokens, grants=grants)

    [account] = json.loads(files["mcp-accounts.json"])
    assert (account["server"], account["state"]) == ("ours", "sign_in_needed")
    assert json.loads(files["runs/r1.json"])["goal"] == "Do « it »."
    assert json.loads(files["tokens.json"])[0]["name"] == "laptop"
    assert json.loads(files["connections.json"])[0]["program"] == "A client"
    for text in files.values():
        assert "secret" not in text
        assert "sealed" not in text


def test_what_answers_lead_to_is_followed_to_where_it_is_now() -> None:
    read = calling("read_file", vault="notes", path="a.md")
    world = RunWorld(RepeatableModel(read, ModelTurn(text="See [it](vault://notes/a.md).")))
    world.write(world.vault("notes"), "a.md", "Under the mat.")
    asyncio.run(world.turn("Where?"))
    world.drive(world.start_run("Where?"))
    world.change("rename_file", {"vault": "notes", "path": "a.md", "new_name": "b c.md"})

    files = taken(world, runs=world.agent_runs)

    [talk] = [json.loads(files[name]) for name in files if name[:5] + name[-5:] == "conve.json"]
    [run] = [json.loads(files[name]) for name in files if name.startswith("runs/")]
    now = "vault://notes/b%20c.md"
    for answer in (talk["messages"][1], run["result"]):
        assert answer["text"] == f"See [it]({now})."
        assert [each["uri"] for each in answer["citations"]] == [now]
        assert [call["uris"] for call in answer["tool_calls"]] == [[now]]
    [written] = [text for name, text in files.items() if name.endswith(f"{talk['id']}.md")]
    assert written.count(now) == 3


def test_a_document_is_read_in_pieces_and_one_that_is_too_large_is_named(
    world: ChatWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking_home, "_PIECE", 3)
    ref = world.directory.access(ACME, ALICE, "own of alice").vault.ref
    world.store.create(ref, VaultPath("large.bin"), b"x" * 100)

    files = taken(world, most=50)

    assert files["documents/own of alice/Été/note.md"] == "note of alice"
    assert "documents/own of alice/large.bin" not in files
    assert json.loads(files["left-out.json"]) == ["own of alice/large.bin"]


def test_what_is_deleted_meanwhile_is_left_out(world: ChatWorld) -> None:
    listed = world.conversations.of_user

    def then_deleted(*arguments: object, **options: object) -> object:
        page = listed(*arguments, **options)  # pyright: ignore[reportArgumentType]  passed on
        for conversation in page[0]:
            world.conversations.delete(replace(conversation))
        return page

    world.conversations.of_user = then_deleted  # pyright: ignore[reportAttributeAccessIssue]  once

    assert not [name for name in taken(world) if name.startswith("conversations/")]
