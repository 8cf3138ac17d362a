"""A person answers what an agent wants to change, in a browser."""

import re
from dataclasses import replace

import pytest

from archivolt.domain.confirmation import Change
from archivolt.domain.errors import ConflictError, ForbiddenError
from archivolt.domain.identity import TokenKind
from archivolt.domain.limits import MAX_SHOWN_FILES
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tool import Surface
from archivolt.entrypoints.browser.approval_texts import CHANGES
from archivolt.tools.pipeline import Proposed
from tests.builders import ACME, ALICE, BOB, principal
from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.oauth import PUBLIC_URL

AGENT = replace(principal(ALICE, kind=TokenKind.MCP), program="my\nagent\u202e<b>")
WAITING = "/approve/waiting"


@pytest.fixture
def world() -> BrowserWorld:
    world = BrowserWorld()
    world.write(world.vault("notes"), "garden.md", "Plant tulips.")
    world.tenant_settings.save(ACME, TenantSettings(human_confirmation_in_product=True))
    return world


@pytest.fixture
def alice(world: BrowserWorld) -> Browser:
    browser = Browser(world)
    assert browser.sign_in().status == 303
    return browser


def proposed(world: BrowserWorld, content: str = "Water them.") -> Proposed:
    arguments = {"vault": "notes", "path": "garden.md", "content": content}
    return world.propose("append_to_file", arguments, by=AGENT, surface=Surface.MCP)


def path_of(proposal: Proposed) -> str:
    return f"/approve/{proposal.id}"


def answer(browser: Browser, proposal: Proposed, said: str, **headers: str) -> int:
    """Return the status of the answer to a form of the page that is shown."""
    fields = {**browser.form(path_of(proposal)), "answer": said}
    return browser.submit(path_of(proposal), fields, **headers).status


def text_of(world: BrowserWorld) -> str:
    return world.call("read_file", {"vault": "notes", "path": "garden.md"})["content"]


def test_a_person_sees_the_change_agrees_and_the_agent_makes_it_once(
    world: BrowserWorld, alice: Browser
) -> None:
    proposal = proposed(world)
    assert proposal.approval_url.endswith(path_of(proposal))
    page = alice.get(path_of(proposal))

    assert answer(alice, proposal, "approve") == 303
    agreed = alice.get(path_of(proposal)).body.decode()
    for _ in range(2):
        world.apply(proposal, by=AGENT, surface=Surface.MCP)

    assert page.status == 200
    assert "+Water them." in page.body.decode()
    assert "<p>In the vault notes:</p>" in page.body.decode()
    assert "“my agent�&lt;b&gt;”, a program that works for you" in page.body.decode()
    assert "You agreed." in agreed
    assert text_of(world).count("Water") == 1
    assert "carried it out" in alice.get(path_of(proposal)).body.decode()
    actions = [entry.action for entry in world.audit.entries]
    assert "approve_confirmation" in actions


def test_what_a_person_declined_is_never_made_even_after_a_yes(
    world: BrowserWorld, alice: Browser
) -> None:
    proposal = proposed(world)
    for said in ("approve", "decline"):
        alice.get(path_of(proposal))
        assert answer(alice, proposal, said) == 303

    page = alice.get(path_of(proposal)).body.decode()

    assert "You declined" in page
    assert "<button" not in page
    with pytest.raises(ConflictError, match="confirmation_declined"):
        world.apply(proposal, by=AGENT, surface=Surface.MCP)


def test_a_person_is_sent_to_sign_in_and_back(world: BrowserWorld) -> None:
    proposal, browser = proposed(world), Browser(world)

    sent = browser.get(path_of(proposal))
    browser.get(sent.headers["location"])
    signed_in = browser.sign_in(to=browser.form("/oauth/sign-in")["to"])

    assert sent.headers["location"].startswith(f"{PUBLIC_URL}/oauth/sign-in?to=")
    assert signed_in.headers["location"] == f"{PUBLIC_URL}{path_of(proposal)}"
    assert browser.get(signed_in.headers["location"]).status == 200


def test_a_change_of_somebody_elses_agent_and_none_look_the_same(world: BrowserWorld) -> None:
    proposal, bob = proposed(world), Browser(world)
    bob.sign_in(BOB)

    theirs, nothing = bob.get(path_of(proposal)), bob.get(f"/approve/{'0' * 32}")

    assert (theirs.status, theirs.body) == (404, nothing.body)
    assert proposal.id not in bob.get(WAITING).body.decode()


def test_no_page_of_others_answers_for_a_person(world: BrowserWorld, alice: Browser) -> None:
    proposal, bob = proposed(world), Browser(world)
    alice.get(path_of(proposal))
    form = alice.form(path_of(proposal)) | {"answer": "approve"}
    bob.sign_in(BOB)

    refused = [
        alice.submit(path_of(proposal), form, Origin="https://evil.example").status,
        alice.submit(path_of(proposal), form, **{"Sec-Fetch-Site": "cross-site"}).status,
        alice.submit(path_of(proposal), form | {"form_token": "guessed"}).status,
        alice.submit(path_of(proposal), {"answer": "approve"}).status,
        Browser(world).submit(path_of(proposal), form).status,
        bob.submit(path_of(proposal), form).status,
    ]

    assert refused == [403] * 6
    with pytest.raises(ForbiddenError, match="human_confirmation_required"):
        world.apply(proposal, by=AGENT, surface=Surface.MCP)


@pytest.mark.parametrize("said", ["", "yes", "approve "])
def test_anything_but_a_yes_or_a_no_is_neither(
    world: BrowserWorld, alice: Browser, said: str
) -> None:
    proposal = proposed(world)
    alice.get(path_of(proposal))

    assert answer(alice, proposal, said) == 400

    assert not world.approvals.show(principal(ALICE), proposal.id).approved


def test_what_documents_and_agents_write_is_shown_as_text_with_nothing_hidden(
    world: BrowserWorld, alice: Browser
) -> None:
    hostile = "</pre><script>alert(1)</script>\x1b[2K\u202egpj.exe<!--"
    page = alice.get(path_of(proposed(world, hostile)))

    shown = page.body.decode()
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)" in shown
    assert "<script" not in shown
    assert "␛[2K�gpj.exe&lt;!--" in shown
    assert re.search(r"default-src 'none'.*frame-ancestors 'none'", str(page.headers))


def test_a_yes_that_comes_too_late_is_told_as_such(world: BrowserWorld, alice: Browser) -> None:
    proposal = proposed(world)
    alice.get(path_of(proposal))
    form = alice.form(path_of(proposal)) | {"answer": "approve"}
    world.clock.advance(seconds=601)

    late = alice.submit(path_of(proposal), form)
    page = alice.get(path_of(proposal)).body.decode()

    assert late.status == 409
    assert "It has expired" in page
    assert "<button" not in page


def test_what_waits_is_listed_and_linked(world: BrowserWorld, alice: Browser) -> None:
    empty = alice.get(WAITING).body.decode()
    proposals = [proposed(world), proposed(world)]

    listed = alice.get(WAITING).body.decode()

    assert "Nothing waits for you." in empty
    assert all(f'href="{PUBLIC_URL}{path_of(each)}"' in listed for each in proposals)


def test_the_pages_speak_french(world: BrowserWorld) -> None:
    browser = Browser(world, language="fr")
    browser.sign_in()

    page = browser.get(path_of(proposed(world))).body.decode()

    assert 'lang="fr"' in page
    assert "Accepter ce changement ?" in page
    assert "modifié — " in page
    assert "Dans le coffre notes :" in page


def test_files_that_are_not_listed_are_counted(world: BrowserWorld, alice: Browser) -> None:
    notes = world.vault("many")
    for number in range(MAX_SHOWN_FILES + 3):
        world.write(notes, f"d/{number}.md", "x")
    arguments = {"vault": "many", "path": "d", "recursive": True}
    proposal = world.propose("delete_directory", arguments, by=AGENT, surface=Surface.MCP)

    page = alice.get(path_of(proposal)).body.decode()

    assert "<p>and 3 more</p>" in page


def test_every_kind_of_change_has_a_word() -> None:
    assert set(CHANGES) == {change.value for change in Change}
