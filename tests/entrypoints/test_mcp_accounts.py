"""A person's account at an MCP server of others: the routes, the pages, and who may do what."""

import html
from dataclasses import replace

import pytest

from archivolt.domain.federation import McpServer, McpTool, McpTransport
from archivolt.domain.mcp_accounts import AccountNeededError
from archivolt.federation.sign_ins import SignInAnswer
from archivolt.federation.targets import place_of
from tests.builders import ACME, ALICE, BOB
from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.entrypoints.rest_world import PEOPLE, RestWorld
from tests.fakes.authorization_server import SECRET, SERVER, callback_query
from tests.fakes.federation import ScriptedServer
from tests.oauth import PUBLIC_URL

READ = McpTool(name="read", read_only=True)
OURS = McpServer(
    id="ours", title="Ours", enabled=True, transport=McpTransport.HTTP, url=SERVER, tools=(READ,)
)
PLACE = place_of(OURS)
CONNECTION = "/api/v1/mcp/ours/connection"
PAGE = "/oauth/mcp/ours"
CALLBACK = f"{PUBLIC_URL}/oauth/mcp/callback/{PLACE}"


@pytest.fixture
def api() -> RestWorld:
    world = RestWorld()
    world.mcp_servers.save(ACME, OURS)
    return world


@pytest.fixture
def world() -> BrowserWorld:
    made = BrowserWorld()
    made.mcp_servers.save(ACME, OURS)
    return made


def back(world: BrowserWorld, address: str, **changed: str) -> str:
    """Return the path of ours to which somebody comes back who signed in at an address."""
    answer = world.mcp_accounts.login.signs_in(address, **changed)
    return f"/oauth/mcp/callback/{PLACE}?{callback_query(answer)}"


def finish(api: RestWorld, address: str) -> None:
    """Have Alice come back from an address to which the API sent her."""
    answer = api.mcp_accounts.login.signs_in(address)
    brought = SignInAnswer(state=answer["state"], code=answer["code"], issuer=answer["iss"])
    api.mcp_accounts.accounts.finish(PEOPLE["alice"], PLACE, brought)


def begun(world: BrowserWorld, browser: Browser) -> str:
    """Return where a browser is sent that asks to connect."""
    browser.get(PAGE)
    page = browser.submit(PAGE, {**browser.form(PAGE), "wish": "begin"})
    assert page.status == 200, page.body
    assert "Location" not in page.headers
    assert "form-action 'self'" in page.headers["content-security-policy"]
    text = page.body.decode()
    assert "For Ours, you sign in at login.test." in text
    assert "refresh" not in text
    return html.unescape(text.partition('<a href="')[2].partition('"')[0])


def test_a_person_begins_by_the_api_and_sees_how_they_stand(api: RestWorld) -> None:
    absent = api.get(CONNECTION).json
    assert (absent["state"], absent["page"]) == ("not_connected", f"{PUBLIC_URL}{PAGE}")

    finish(api, api.post(CONNECTION, {}).json["authorization_url"])

    connected = api.get(CONNECTION).json
    assert (connected["state"], connected["scope"]) == ("connected", "read")
    assert connected["issuer"] == "https://login.test/acme"
    listed = api.get("/api/v1/mcp").json["servers"]
    assert [each["account"] for each in listed if each["id"] in {"fetch", "ours"}] == [
        *(None, "connected")
    ]
    assert not [text for text in ("access-1", "refresh-1") if text in str(connected)]
    assert api.get(CONNECTION, user="bob").json["state"] == "not_connected"
    assert api.get(CONNECTION, user="mallory").json["error"]["code"] == "mcp_server_not_found"
    assert api.send("DELETE", CONNECTION, user="bob").status == 404
    assert api.send("DELETE", CONNECTION).status == 204
    assert api.get(CONNECTION).json["state"] == "not_connected"
    assert api.mcp_accounts.login.revoked == ["refresh-1"]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_program_connects_an_account(api: RestWorld, method: str) -> None:
    answer = api.send(method, CONNECTION, {} if method == "POST" else None, user="alices-agent")

    assert (answer.status, answer.json["error"]["code"]) == (403, "person_required")
    assert api.mcp_accounts.login.asked == []


def test_what_is_done_is_recorded_and_says_no_secret(api: RestWorld) -> None:
    api.post(CONNECTION, {})

    [entry] = [each for each in api.audit.entries if each.action == "connect_mcp_account"]
    assert (entry.outcome, entry.principal.user) == ("ok", ALICE)


def test_an_administrator_gives_the_client_that_they_registered(api: RestWorld) -> None:
    given = {"client_id": "acme's", "client_secret": SECRET, "scope": "a"}
    api.mcp_client.servers = {"ours": ScriptedServer([READ])}
    body = api.send("PUT", "/api/v1/mcp/ours", {"oauth": given}, user="admin").json

    shown = body["oauth"]
    assert shown["redirect_uri"] == CALLBACK
    assert (shown["client_id"], shown["scope"]) == ("acme's", "a")
    assert shown["client_secret"].startswith("sha256:")
    kept = given | {"client_secret": shown["client_secret"]}
    again = api.send("PUT", "/api/v1/mcp/ours", {"oauth": kept}, user="admin").json
    assert again["oauth"] == shown
    api.post(CONNECTION, {})
    other = kept | {"client_id": "other"}
    changed = api.send("PUT", "/api/v1/mcp/ours", {"oauth": other}, user="admin").json
    assert changed["oauth"]["client_secret"] == ""
    assert api.get("/api/v1/mcp").json["servers"][-1]["oauth"] is None
    moved = {"url": "https://other.test/mcp"}
    body = api.send("PUT", "/api/v1/mcp/ours", moved, user="admin").json
    assert body["oauth"]["client_id"] == ""
    assert body["oauth"]["redirect_uri"] != CALLBACK


def test_a_server_that_asks_for_accounts_tells_its_administrator_where_to(api: RestWorld) -> None:
    api.mcp_client.servers = {"new": ScriptedServer([READ], broken=AccountNeededError("new"))}
    body = api.send("PUT", "/api/v1/mcp/new", {"enabled": True, "url": SERVER}, user="admin").json

    assert (body["status"], body["problem"]["code"]) == ("error", "mcp_sign_in_needed")
    assert f"{PUBLIC_URL}/oauth/mcp/new" in body["problem"]["message"]


def test_who_deletes_a_server_takes_everybodys_account_with_it(api: RestWorld) -> None:
    finish(api, api.post(CONNECTION, {}).json["authorization_url"])
    assert api.send("DELETE", "/api/v1/mcp/ours", user="admin").status == 204

    assert api.mcp_accounts.store.of_user(ACME, ALICE) == []


def test_a_person_connects_and_disconnects_in_their_browser(world: BrowserWorld) -> None:
    browser = Browser(world)
    browser.sign_in()
    asks = browser.get(PAGE).body.decode()
    assert "to mcp.test, which your administrator chose" in asks

    done = browser.get(back(world, begun(world, browser)))

    assert (done.status, "Your account is connected" in done.body.decode()) == (200, True)
    page = browser.get(PAGE).body.decode()
    assert "login.test let you in" in page
    form = {"form_token": page.partition('name="form_token" value="')[2].partition('"')[0]}
    ended = browser.submit(PAGE, {**form, "wish": "end"})
    assert ended.headers["location"] == f"{PUBLIC_URL}{PAGE}"
    assert world.mcp_accounts.store.of_user(ACME, ALICE) == []
    actions = [entry.action for entry in world.audit.entries]
    assert actions[-3:] == ["connect_mcp_account", "finish_mcp_account", "disconnect_mcp_account"]


def test_an_account_for_an_address_of_before_can_be_ended(world: BrowserWorld) -> None:
    browser = Browser(world)
    browser.sign_in()
    browser.get(back(world, begun(world, browser)))
    world.mcp_servers.save(ACME, replace(OURS, url="https://other.test/mcp"))

    page = browser.get(PAGE).body.decode()
    assert "another address now: other.test. login.test let you in to the one before" in page
    assert 'value="end"' in page
    token = page.partition('name="form_token" value="')[2].partition('"')[0]
    browser.submit(PAGE, {"form_token": token, "wish": "end"})

    assert 'value="end"' not in browser.get(PAGE).body.decode()
    assert world.mcp_accounts.login.revoked == ["refresh-1"]


def test_an_account_at_a_server_that_was_turned_off_can_be_ended(world: BrowserWorld) -> None:
    browser = Browser(world)
    browser.sign_in()
    browser.get(back(world, begun(world, browser)))
    world.mcp_servers.save(ACME, replace(OURS, enabled=False))

    page = browser.get(PAGE).body.decode()
    assert "Ours is not used any more" in page
    assert 'value="begin"' not in page
    token = page.partition('name="form_token" value="')[2].partition('"')[0]
    refused = browser.submit(PAGE, {"form_token": token, "wish": "begin"})
    ended = browser.submit(PAGE, {"form_token": token, "wish": "end"})

    assert refused.status == 404
    assert "not connected any more" in ended.body.decode()
    assert world.mcp_accounts.login.revoked == ["refresh-1"]
    assert browser.get(PAGE).status == 404


def test_who_is_not_signed_in_when_they_are_back_signs_in_and_goes_on(world: BrowserWorld) -> None:
    begins, returns = Browser(world), Browser(world, "fr")
    begins.sign_in()
    path = back(world, begun(world, begins))

    sent = returns.get(path)
    assert sent.headers["location"].startswith(f"{PUBLIC_URL}/oauth/sign-in?to=")
    assert world.mcp_accounts.login.forms == []
    gone_on = returns.sign_in(to=path)
    assert gone_on.headers["location"] == f"{PUBLIC_URL}{path}"
    assert "Votre compte est relié" in returns.get(path).body.decode()


def test_nobody_finishes_what_another_began(world: BrowserWorld) -> None:
    alice, bob = Browser(world), Browser(world)
    alice.sign_in()
    bob.sign_in(BOB)
    path = back(world, begun(world, alice))

    refused = bob.get(path)
    assert refused.status == 403
    assert "somebody else began it" in refused.body.decode()
    assert world.mcp_accounts.store.of_user(ACME, BOB) == []
    assert alice.get(path).status == 200
    assert alice.get(path).status == 403


def test_a_form_of_another_page_connects_nothing(world: BrowserWorld) -> None:
    browser = Browser(world)
    browser.sign_in()
    browser.get(PAGE)
    fields = {**browser.form(PAGE), "wish": "begin"}

    foreign = browser.submit(PAGE, fields, Origin="https://evil.test")
    unproven = browser.submit(PAGE, {"wish": "begin"})

    assert (foreign.status, unproven.status) == (403, 403)
    assert world.mcp_accounts.login.asked == []


def test_we_say_who_we_are_to_whoever_asks(world: BrowserWorld) -> None:
    path = f"/oauth/mcp/client/{PLACE}"
    described = world.send("GET", path).json

    assert described["client_id"] == f"{PUBLIC_URL}{path}"
    assert described["redirect_uris"] == [CALLBACK]
    assert described["token_endpoint_auth_method"] == "none"
    for other in ("0123", "0123456789ABCDEF", f"{PLACE}0"):
        assert world.send("GET", f"/oauth/mcp/client/{other}").status == 404


def test_a_page_of_no_server_is_none(world: BrowserWorld) -> None:
    browser = Browser(world)
    browser.sign_in()

    assert browser.get("/oauth/mcp/nothing").status == 404
    assert browser.get(f"/oauth/mcp/callback/{'0' * 15}").status == 404
