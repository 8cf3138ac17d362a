"""Writes only with human confirmation: what an agent may do alone, and what is a yes."""

import dataclasses

import pytest

from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tool import Surface
from archivolt.domain.user_settings import UserSettings
from archivolt.domain.vault import VaultRole
from archivolt.governance.human_confirmation import YesRule
from archivolt.ports.confirmations import ProposalState
from archivolt.tools.pipeline import Proposed
from tests.builders import ACME, ALICE, BOB, principal
from tests.entrypoints.mcp_messages import Json, modern
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_world import RestWorld
from tests.world import World

ADDITION: Json = {"vault": "notes", "path": "garden.md", "content": "Water them."}
AGENT = principal(ALICE, kind=TokenKind.MCP)
PROGRAM = principal(ALICE, kind=TokenKind.PERSONAL)
PERSON = principal(ALICE)
YES: Json = {"confirm": {"action": "accept", "content": {"confirm": True}}}


def prepared(world: World) -> None:
    notes = world.vault("notes")
    world.write(notes, "garden.md", "Plant tulips.")
    world.share(notes, principal(BOB), VaultRole.WRITER)
    world.tenant_settings.save(ACME, TenantSettings(human_confirmation=True))


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    prepared(world)
    return world


def proposed(world: World, by: Principal = AGENT, surface: Surface = Surface.MCP) -> Proposed:
    return world.propose("append_to_file", ADDITION, by=by, surface=surface)


def refusal(world: World, proposal: Proposed, by: Principal, surface: Surface) -> ArchivoltError:
    with pytest.raises(ForbiddenError) as refused:
        world.apply(proposal, by=by, surface=surface)
    return refused.value


def text_of(world: World) -> str:
    return world.call("read_file", {"vault": "notes", "path": "garden.md"})["content"]


@pytest.mark.parametrize(
    ("by", "surface"),
    [
        (AGENT, Surface.MCP),
        (PERSON, Surface.MCP),
        (PROGRAM, Surface.MCP),
        (PROGRAM, Surface.IN_APP),
    ],
)
def test_an_agents_silent_apply_is_refused_with_the_address_to_agree_at(
    world: McpWorld, by: Principal, surface: Surface
) -> None:
    proposal = proposed(world, by, surface)

    refused = refusal(world, proposal, by, surface)

    assert refused.code == "human_confirmation_required"
    assert proposal.approval_url == f"https://vault.example.com/approve/{proposal.id}"
    assert refused.details["approval_url"] == proposal.approval_url
    assert text_of(world) == "Plant tulips."


def test_a_persons_own_hand_needs_no_second_yes(world: McpWorld) -> None:
    proposal = proposed(world, PERSON, Surface.IN_APP)

    world.apply(proposal, by=PERSON)

    assert proposal.approval_url == ""
    assert "Water" in text_of(world)


def test_without_the_setting_nothing_is_asked(world: McpWorld) -> None:
    world.tenant_settings.save(ACME, TenantSettings())
    proposal = proposed(world)

    world.apply(proposal, by=AGENT, surface=Surface.MCP)

    assert proposal.approval_url == ""
    with pytest.raises(NotFoundError):
        world.approvals.show(PERSON, proposal.id)


def test_after_a_persons_yes_the_agent_makes_the_change_once(world: McpWorld) -> None:
    proposal = proposed(world)
    awaited = world.approvals.show(PERSON, proposal.id)

    approved = world.approvals.approve(PERSON, proposal.id)
    results = [world.apply(proposal, by=AGENT, surface=Surface.MCP) for _ in range(2)]

    assert "+Water them." in awaited.preview["diff"]
    assert (awaited.approved, approved.approved) == (False, True)
    assert results[0] == results[1]
    assert text_of(world).count("Water") == 1
    assert world.approvals.show(PERSON, proposal.id).state is ProposalState.DONE


def test_a_yes_to_one_change_is_none_to_another(world: McpWorld) -> None:
    first, second = proposed(world), proposed(world)
    world.approvals.approve(PERSON, first.id)

    assert refusal(world, second, AGENT, Surface.MCP).code == "human_confirmation_required"


def test_what_a_person_declined_is_never_made(world: McpWorld) -> None:
    proposal = proposed(world)
    world.approvals.decline(PERSON, proposal.id)
    world.approvals.decline(PERSON, proposal.id)

    with pytest.raises(ConflictError, match="confirmation_declined"):
        world.approvals.approve(PERSON, proposal.id)
    with pytest.raises(ConflictError, match="confirmation_declined"):
        world.apply(proposal, by=AGENT, surface=Surface.MCP)
    assert text_of(world) == "Plant tulips."


def test_an_agent_is_not_sent_to_a_person_for_a_yes_that_comes_too_late(world: McpWorld) -> None:
    proposal = proposed(world)
    world.clock.advance(seconds=601)

    with pytest.raises(ConflictError, match="confirmation_expired"):
        world.apply(proposal, by=AGENT, surface=Surface.MCP)


@pytest.mark.parametrize("kind", [TokenKind.MCP, TokenKind.PERSONAL])
def test_an_agent_cannot_say_yes_for_its_person(world: McpWorld, kind: TokenKind) -> None:
    proposal = proposed(world)
    agent = principal(ALICE, kind=kind)

    for answer in (world.approvals.show, world.approvals.approve, world.approvals.decline):
        with pytest.raises(ForbiddenError, match="person_required"):
            answer(agent, proposal.id)


@pytest.mark.parametrize("by", [principal(BOB), dataclasses.replace(PERSON, tenant="globex")])
def test_nobody_else_sees_or_answers_a_proposal(world: McpWorld, by: Principal) -> None:
    proposal = proposed(world)

    for answer in (world.approvals.show, world.approvals.approve, world.approvals.decline):
        with pytest.raises(NotFoundError, match="confirmation_not_found"):
            answer(by, proposal.id)


def test_a_yes_that_comes_too_late_is_none(world: McpWorld) -> None:
    proposal = proposed(world)
    world.clock.advance(seconds=601)

    with pytest.raises(ConflictError, match="confirmation_expired"):
        world.approvals.approve(PERSON, proposal.id)


def test_a_change_that_is_made_can_no_longer_be_declined(world: McpWorld) -> None:
    proposal = proposed(world)
    world.approvals.approve(PERSON, proposal.id)
    world.apply(proposal, by=AGENT, surface=Surface.MCP)

    with pytest.raises(ConflictError, match="confirmation_done"):
        world.approvals.decline(PERSON, proposal.id)


def test_a_yes_does_not_give_the_token_to_somebody_else(world: McpWorld) -> None:
    proposal = proposed(world)
    world.approvals.approve(PERSON, proposal.id)

    with pytest.raises(InvalidRequestError, match="confirmation_invalid"):
        world.apply(proposal, by=principal(BOB, kind=TokenKind.MCP), surface=Surface.MCP)


def form(world: McpWorld, **rounds: object) -> Json:
    """Return the result of a call by an agent whose client shows forms."""
    return inline(world, {"form": {}}, **rounds)


def inline(world: McpWorld, shows: Json, **rounds: object) -> Json:
    """Return the result of a call by an agent whose client shows what is given."""
    call: Json = {"name": "apply_append_to_file", "arguments": ADDITION, **rounds}
    sent = modern("tools/call", call)
    capabilities = "io.modelcontextprotocol/clientCapabilities"
    sent.body["params"]["_meta"][capabilities] = {"elicitation": shows}
    return world.send(sent, token="agent").json["result"]


def test_where_only_the_product_counts_a_client_cannot_answer_for_its_person(
    world: McpWorld,
) -> None:
    asked = form(world)
    in_product = TenantSettings(human_confirmation_in_product=True)
    world.tenant_settings.save(ACME, in_product)

    answered = form(world, inputResponses=YES, requestState=asked["requestState"])
    anew = form(world)
    proposal = proposed(world)
    world.approvals.approve(PERSON, proposal.id)
    world.apply(proposal, by=AGENT, surface=Surface.MCP)

    assert answered["content"][0]["text"].startswith("human_confirmation_required: ")
    assert anew["isError"] is True
    assert "call propose_append_to_file first" in anew["content"][0]["text"]
    assert text_of(world).count("Water") == 1


WENT: Json = {"confirm": {"action": "accept"}}
PAGES: Json = {"url": {}}


def sent_to_page(world: McpWorld, shows: Json = PAGES) -> tuple[Json, str]:
    """Return the question that sends a person to the page, and the id of what it is about."""
    asked = inline(world, shows)
    question = asked["inputRequests"]["confirm"]["params"]
    assert question["mode"] == "url"
    page, _, proposal_id = question["url"].rpartition("/")
    assert page == "https://vault.example.com/approve"
    return asked, proposal_id


@pytest.mark.parametrize(
    ("shows", "settings"),
    [
        (PAGES, TenantSettings(human_confirmation=True)),
        (PAGES, TenantSettings(human_confirmation_in_product=True)),
        ({"form": {}, "url": {}}, TenantSettings(human_confirmation_in_product=True)),
    ],
)
def test_a_client_that_opens_pages_sends_its_person_to_agree_and_the_call_waits_for_them(
    world: McpWorld, shows: Json, settings: TenantSettings
) -> None:
    world.tenant_settings.save(ACME, settings)
    waits: list[float] = []

    def agree_after_a_while(seconds: float) -> None:
        waits.append(seconds)
        world.clock.advance(seconds=seconds)
        if len(waits) == 4:
            world.approvals.approve(PERSON, proposal_id)

    world.pipeline = world.pipeline_of(world.tools(), wait=agree_after_a_while)
    asked, proposal_id = sent_to_page(world, shows)

    made = [
        inline(world, shows, inputResponses=WENT, requestState=asked["requestState"])
        for _ in range(2)
    ]

    assert made[0]["structuredContent"] == made[1]["structuredContent"]
    assert made[0]["structuredContent"]["path"] == "garden.md"
    assert len(waits) == 4
    assert text_of(world).count("Water") == 1


def test_a_person_who_takes_longer_than_a_call_may_answers_later(world: McpWorld) -> None:
    world.tenant_settings.save(ACME, TenantSettings(human_confirmation_in_product=True))
    asked, proposal_id = sent_to_page(world)

    late = inline(world, PAGES, inputResponses=WENT, requestState=asked["requestState"])
    told = late["content"][0]["text"]
    [token] = [line for line in told.splitlines() if line.startswith("confirmation_token: ")]
    world.approvals.approve(PERSON, proposal_id)
    given = {"confirmation_token": token.removeprefix("confirmation_token: ")}
    made = world.call_tool("apply_append_to_file", given, token="agent")

    assert late["isError"] is True
    assert told.startswith("human_confirmation_required: ")
    assert f"approval_url: https://vault.example.com/approve/{proposal_id}" in told
    assert made["structuredContent"]["path"] == "garden.md"


@pytest.mark.parametrize("on_the_page", [True, False])
def test_a_person_who_declines_there_or_does_not_go_has_declined(
    world: McpWorld, *, on_the_page: bool
) -> None:
    world.tenant_settings.save(ACME, TenantSettings(human_confirmation_in_product=True))
    asked, proposal_id = sent_to_page(world)
    if on_the_page:
        world.approvals.decline(PERSON, proposal_id)
    given = WENT if on_the_page else {"confirm": {"action": "decline"}}

    answer = inline(world, PAGES, inputResponses=given, requestState=asked["requestState"])

    assert answer["structuredContent"] == {"status": "declined"}
    assert world.approvals.show(PERSON, proposal_id).state is ProposalState.DECLINED


def test_a_client_that_went_nowhere_cannot_say_that_its_person_agreed(world: McpWorld) -> None:
    world.tenant_settings.save(ACME, TenantSettings(human_confirmation_in_product=True))
    asked, _ = sent_to_page(world)

    every: list[Json] = [PAGES, {"form": {}}, {"form": {}, "url": {}}]
    for shows in every:
        forged = inline(world, shows, inputResponses=YES, requestState=asked["requestState"])
        assert forged["content"][0]["text"].startswith("human_confirmation_required: ")
    assert text_of(world) == "Plant tulips."


def test_nobody_is_sent_to_a_page_where_no_yes_is_asked_for(world: McpWorld) -> None:
    world.tenant_settings.save(ACME, TenantSettings())

    told = inline(world, PAGES)["content"][0]["text"]

    assert told.startswith("confirmation_unasked: ")


@pytest.mark.parametrize(
    ("tenant", "own", "rule"),
    [
        (TenantSettings(), UserSettings(), YesRule.NONE),
        (TenantSettings(human_confirmation=True), UserSettings(), YesRule.FORM),
        (TenantSettings(), UserSettings(human_confirmation=True), YesRule.FORM),
        (
            TenantSettings(human_confirmation=True),
            UserSettings(human_confirmation_in_product=True),
            YesRule.PRODUCT,
        ),
        (
            TenantSettings(human_confirmation_in_product=True),
            UserSettings(human_confirmation=True),
            YesRule.PRODUCT,
        ),
    ],
)
def test_the_stricter_of_the_tenants_and_the_users_setting_is_in_force(
    world: McpWorld, tenant: TenantSettings, own: UserSettings, rule: YesRule
) -> None:
    world.tenant_settings.save(ACME, tenant)
    world.user_settings.change(ACME, ALICE, dataclasses.asdict(own))

    assert world.human.rule(AGENT) is rule
    assert bool(proposed(world).approval_url) is (rule is not YesRule.NONE)


def test_over_mcp_the_silent_apply_is_refused_and_the_form_is_enough(world: McpWorld) -> None:
    proposal = world.call_tool("propose_append_to_file", ADDITION, token="agent")
    token = proposal["structuredContent"]["confirmation_token"]
    silent = world.call_tool("apply_append_to_file", {"confirmation_token": token}, token="agent")

    made = form(world, inputResponses=YES, requestState=form(world)["requestState"])

    assert silent["isError"] is True
    assert silent["content"][0]["text"].startswith("human_confirmation_required: ")
    assert proposal["structuredContent"]["approval_url"] in silent["content"][0]["text"]
    assert made["structuredContent"]["path"] == "garden.md"
    assert text_of(world).count("Water") == 1


def test_a_person_agrees_over_rest_and_an_agent_may_not() -> None:
    world = RestWorld()
    prepared(world)
    proposal = proposed(world)
    url = f"/api/v1/confirmations/{proposal.id}"

    seen = world.get(url)
    agents = world.send("POST", f"{url}/approve", user="alices-agent")
    foreign = world.send("POST", f"{url}/approve", user="bob")
    approved = world.send("POST", f"{url}/approve")
    world.apply(proposal, by=AGENT, surface=Surface.MCP)

    assert (seen.status, seen.json["approved"]) == (200, False)
    assert "+Water them." in seen.json["preview"]["diff"]
    assert (agents.status, foreign.status) == (403, 404)
    assert (approved.status, approved.json["approved"]) == (200, True)
    assert world.send("POST", f"{url}/decline").status == 409


def test_an_administrator_turns_it_on() -> None:
    world = RestWorld()
    url = "/api/v1/tenants/acme/settings"

    shown = world.send("PUT", url, {"human_confirmation": True}, user="admin").json

    assert shown["human_confirmation"] is True
    assert world.tenant_settings.load(ACME).human_confirmation


OWN = "/api/v1/me/settings"


def test_a_person_turns_it_on_for_their_own_agents() -> None:
    world = RestWorld()
    prepared(world)
    world.tenant_settings.save(ACME, TenantSettings())

    before = world.get(OWN).json
    changed = world.send("PUT", OWN, {"human_confirmation": True}).json
    unchanged = world.send("PUT", OWN, {}).json
    proposal = proposed(world)

    assert before == {
        "human_confirmation": False,
        "human_confirmation_in_product": False,
        "in_force": "none",
    }
    assert changed == unchanged == before | {"human_confirmation": True, "in_force": "form"}
    assert world.get(OWN, user="bob").json == before
    assert refusal(world, proposal, AGENT, Surface.MCP).code == "human_confirmation_required"


def test_a_person_sees_what_their_tenant_demands_and_cannot_loosen_it() -> None:
    world = RestWorld()
    prepared(world)

    shown = world.send("PUT", OWN, {"human_confirmation": False}).json

    assert (shown["human_confirmation"], shown["in_force"]) == (False, "form")


def test_no_program_sees_or_changes_a_persons_settings_or_lists_what_waits() -> None:
    world = RestWorld()
    prepared(world)

    assert world.get(OWN, user="alices-agent").status == 403
    assert world.send("PUT", OWN, {}, user="alices-agent").status == 403
    assert world.get("/api/v1/confirmations", user="alices-agent").status == 403
    assert world.send("PUT", OWN, {"human_confirmation": "perhaps"}).status == 422
    assert world.send("PUT", OWN, {"theme": "dark"}).status == 422


def test_a_person_lists_what_waits_for_their_yes() -> None:
    world = RestWorld()
    prepared(world)
    url = "/api/v1/confirmations"
    empty = world.get(url).json
    first, second = proposed(world), proposed(world)
    listed = world.get(url).json["confirmations"]

    world.send("POST", f"{url}/{first.id}/approve")
    world.send("POST", f"{url}/{second.id}/decline")

    assert empty == {"confirmations": []}
    assert {one["id"] for one in listed} == {first.id, second.id}
    assert all("+Water them." in one["preview"]["diff"] for one in listed)
    assert world.get(url, user="bob").json == world.get(url).json == empty
