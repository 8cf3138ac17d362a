"""Signing in, letting programs in and ending that, in a browser."""

from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.limits import BROWSER_SESSION_SECONDS, MAX_OAUTH_BODY_BYTES
from tests.builders import ALICE, BOB, principal
from tests.entrypoints.browser_world import PASSWORD, Browser, BrowserWorld
from tests.oauth import PUBLIC_URL, REDIRECT, VERIFIER, answer_in

CONSENT_HEADERS = {
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
SESSION = "__Host-archivolt_session"


@pytest.fixture
def world() -> BrowserWorld:
    world = BrowserWorld()
    for name in ("garden", "cellar"):
        world.vault(name)
    return world


@pytest.fixture
def alice(world: BrowserWorld) -> Browser:
    browser = Browser(world)
    assert browser.sign_in().status == 303
    return browser


def test_a_person_signs_in_agrees_and_the_program_is_answered(world: BrowserWorld) -> None:
    browser = Browser(world)
    first = browser.get(world.authorize_url())
    assert first.status == 303
    assert first.headers["location"].startswith(f"{PUBLIC_URL}/oauth/sign-in?to=")
    browser.get(first.headers["location"])
    to = browser.form("/oauth/sign-in")["to"]
    signed_in = browser.sign_in(to=to)
    assert signed_in.headers["location"] == f"{PUBLIC_URL}{to}"

    page = browser.get(signed_in.headers["location"])
    agreed = browser.decide()

    assert page.status == 200
    assert (agreed.status, agreed.headers["location"].partition("?")[0]) == (303, REDIRECT)
    answer = answer_in(agreed.headers["location"])
    assert (answer["state"], answer["iss"]) == ("s t&te=1", PUBLIC_URL)
    caller = world.oauth.tokens.verify(world.oauth.exchange(answer["code"]).access)
    assert (caller.user, caller.reach.read_only, caller.reach.vaults) == (ALICE, False, None)


def test_the_page_names_the_program_where_it_is_answered_and_who_is_asked(
    world: BrowserWorld, alice: Browser
) -> None:
    text = alice.get(world.authorize_url()).body.decode()

    for shown in ("A client", "127.0.0.1:7777", "chose its name itself", ALICE, "garden"):
        assert shown in text
    world.oauth.documents.documents["https://claude.example/c.json"] = {
        "client_id": "https://claude.example/c.json",
        "client_name": "Claude",
        "redirect_uris": ["https://claude.example/callback"],
    }
    described = alice.get(
        world.authorize_url(
            client_id="https://claude.example/c.json",
            redirect_uri="https://claude.example/callback",
        )
    ).body.decode()
    assert "the one that claude.example publishes" in described
    assert "chose its name itself" not in described


def test_nobody_makes_us_read_an_address_before_they_signed_in(world: BrowserWorld) -> None:
    url = world.authorize_url(client_id="https://claude.example/c.json")

    answer = Browser(world).get(url)

    assert answer.headers["location"].startswith(f"{PUBLIC_URL}/oauth/sign-in")
    assert world.oauth.documents.reads == 0


@pytest.mark.parametrize(
    ("filled", "read_only", "vaults"),
    [
        ({"access": "read"}, True, None),
        ({"access": "write"}, False, None),
        ({"access": "anything"}, True, None),
        ({"reach": "some", "vault": ["garden"]}, False, {"garden"}),
        ({"reach": "some", "vault": ["garden", "cellar"]}, False, {"garden", "cellar"}),
        ({"reach": "some", "vault": ["garden", "of-bob"]}, False, {"garden"}),
    ],
)
def test_a_person_lets_a_program_go_only_so_far(
    world: BrowserWorld,
    alice: Browser,
    filled: dict[str, Any],
    read_only: bool,
    vaults: set[str] | None,
) -> None:
    world.vault("of-bob", owner=principal(BOB))
    chosen = [f"id-of-acme-{name}" for name in filled.get("vault", [])]
    alice.get(world.authorize_url())

    code = answer_in(alice.decide("agree", **{**filled, "vault": chosen}).headers["location"])[
        "code"
    ]

    reach = world.oauth.exchange(code).grant.reach
    ids = None if vaults is None else {f"id-of-acme-{name}" for name in vaults}
    assert (reach.read_only, reach.vaults) == (read_only, ids)


def test_a_program_that_asks_to_read_cannot_be_let_write(
    world: BrowserWorld, alice: Browser
) -> None:
    alice.get(world.authorize_url(scope="vaults:read"))

    code = answer_in(alice.decide(access="write").headers["location"])["code"]

    assert world.oauth.exchange(code).grant.reach.read_only


def test_no_vault_chosen_is_asked_again(world: BrowserWorld, alice: Browser) -> None:
    alice.get(world.authorize_url())

    again = alice.decide(reach="some")

    assert again.status == 400
    assert "Choose at least one vault" in again.body.decode()
    assert "code" in answer_in(alice.decide().headers["location"])


def test_a_person_declines(world: BrowserWorld, alice: Browser) -> None:
    alice.get(world.authorize_url())

    answer = answer_in(alice.decide("decline").headers["location"])

    assert (answer["error"], answer["state"]) == ("access_denied", "s t&te=1")
    assert "code" not in answer


@pytest.mark.parametrize(
    "changed",
    [{"client_id": "avc_unknown"}, {"redirect_uri": "https://evil.example/"}],
)
def test_who_is_not_known_or_not_at_home_is_told_to_the_person_alone(
    world: BrowserWorld, alice: Browser, changed: dict[str, str]
) -> None:
    for browser in (Browser(world), alice):
        answer = browser.get(world.authorize_url(**changed))

        assert answer.status == 400
        assert "location" not in answer.headers
        assert "text/html" in answer.headers["content-type"]
        assert "evil.example" not in answer.body.decode()


def test_what_is_the_clients_to_mend_goes_back_to_it_from_who_signed_in_alone(
    world: BrowserWorld, alice: Browser
) -> None:
    url = world.authorize_url(code_challenge_method="plain")

    nobody, signed_in = Browser(world).get(url), alice.get(url)

    assert nobody.headers["location"].startswith(f"{PUBLIC_URL}/oauth/sign-in?to=")
    assert (signed_in.status, signed_in.headers["location"].partition("?")[0]) == (303, REDIRECT)
    assert answer_in(signed_in.headers["location"])["error"] == "invalid_request"


def test_on_this_machine_nothing_proves_which_program_listens(
    world: BrowserWorld, alice: Browser
) -> None:
    address = "https://claude.example/c.json"
    world.oauth.documents.documents[address] = {
        "client_id": address,
        "client_name": "Claude",
        "redirect_uris": [REDIRECT],
    }

    page = alice.get(world.authorize_url(client_id=address)).body.decode()

    assert "the one that claude.example publishes" not in page
    assert "chose its name itself" in page


def test_who_signs_in_is_greeted(world: BrowserWorld, alice: Browser) -> None:
    assert [each.user for each in world.greeted] == [ALICE]


def test_the_form_is_held_to_the_same_rules_as_the_page(
    world: BrowserWorld, alice: Browser
) -> None:
    alice.get(world.authorize_url())
    shown = alice.form("/oauth/authorize")
    evil = world.authorize_url(redirect_uri="https://evil.example/").partition("?")[2]

    answer = alice.submit("/oauth/authorize", {**shown, "request": evil, "decision": "agree"})

    assert answer.status == 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"{PUBLIC_URL}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(
    "path", ["/oauth/authorize", "/oauth/sign-in", "/oauth/connections", "/oauth/sign-out"]
)
def test_a_form_of_another_page_does_nothing(
    world: BrowserWorld, alice: Browser, path: str, headers: dict[str, str]
) -> None:
    alice.get(world.authorize_url())
    fields = {**alice.form("/oauth/authorize"), "decision": "agree", "name": ALICE}

    answer = alice.submit(path, {**fields, "password": PASSWORD}, **headers)

    assert answer.status == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_the_token_of_its_session_does_nothing(
    world: BrowserWorld, alice: Browser, token: str
) -> None:
    alice.get(world.authorize_url())
    assert alice.decide(form_token=token).status == 403


def test_a_form_token_of_another_person_is_worth_nothing(
    world: BrowserWorld, alice: Browser
) -> None:
    bob = Browser(world)
    bob.sign_in(BOB)
    bob.get(world.authorize_url())
    alice.get(world.authorize_url())

    stolen = bob.form("/oauth/authorize")["form_token"]

    assert alice.decide(form_token=stolen).status == 403


def test_a_session_that_ended_while_the_page_was_open_signs_in_and_comes_back(
    world: BrowserWorld, alice: Browser
) -> None:
    alice.get(world.authorize_url())
    world.clock.advance(seconds=BROWSER_SESSION_SECONDS)
    world.oauth.client = world.oauth.registered()

    answer = alice.decide()

    assert answer.status == 303
    to = answer_in(answer.headers["location"])["to"]
    assert to.startswith("/oauth/authorize?response_type=code")


def test_every_page_is_framed_by_nobody_and_runs_nothing(
    world: BrowserWorld, alice: Browser
) -> None:
    answers = [
        alice.get(world.authorize_url()),
        alice.get("/oauth/connections"),
        alice.get("/oauth/sign-in"),
        alice.get("/oauth/link?token=link"),
        alice.get("/oauth/link?token=unknown"),
        alice.get("/oauth/nothing"),
        alice.sign_in(password="wrong"),
    ]

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert CONSENT_HEADERS.items() <= answer.headers.items()
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("redirect", "source"),
    [
        (REDIRECT, "http://127.0.0.1:7777"),
        ("https://client.example/callback?x=1", "https://client.example"),
        ("cursor://anysphere.cursor-mcp/cb", "cursor:"),
        ("http://[::1]:7/cb", "http:"),
    ],
)
def test_the_browser_may_go_on_from_the_form_to_the_client(
    world: BrowserWorld, alice: Browser, redirect: str, source: str
) -> None:
    world.oauth.client = world.oauth.registered(redirect)

    policy = alice.get(world.authorize_url()).headers["content-security-policy"]

    assert f"form-action 'self' {source};" in policy


def test_what_others_wrote_is_shown_and_never_run(world: BrowserWorld, alice: Browser) -> None:
    hostile = '"><script>alert(1)</script>'
    world.oauth.client = world.oauth.registered(name=hostile)
    world.vault(hostile.replace("/", "|"))

    pages = [
        alice.get(world.authorize_url(state=hostile, scope=f"vaults:read {hostile}")),
        alice.sign_in(name=hostile, to=hostile),
        alice.get("/oauth/sign-in?to=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"),
    ]
    alice.get(world.authorize_url())
    world.oauth.exchange(answer_in(alice.decide().headers["location"])["code"])
    pages.append(alice.get("/oauth/connections"))

    for page in pages:
        text = page.body.decode()
        assert "<script" not in text
        assert "&lt;script&gt;" in text


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(world: BrowserWorld) -> None:
    cookie = Browser(world).sign_in().headers["set-cookie"]

    assert cookie.startswith(f"{SESSION}=")
    for attribute in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert attribute in cookie
    assert "Domain" not in cookie


def test_signing_in_again_ends_the_session_before(world: BrowserWorld, alice: Browser) -> None:
    before = dict(alice.cookies)
    alice.sign_in(BOB)
    stale = Browser(world)
    stale.cookies = before

    assert stale.get("/oauth/connections").status == 303
    assert BOB in alice.get("/oauth/connections").body.decode()


@pytest.mark.parametrize(
    ("name", "password", "status"),
    [(ALICE, "wrong", 403), ("nobody", PASSWORD, 403), ("", "", 403)],
)
def test_a_wrong_password_signs_nobody_in(
    world: BrowserWorld, name: str, password: str, status: int
) -> None:
    answer = Browser(world).sign_in(name, password)

    assert answer.status == status
    assert "set-cookie" not in answer.headers
    assert PASSWORD not in answer.body.decode()


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/oauth/authorize",
        "/oauth/sign-out",
        "/approve/\r\nSet-Cookie: a=b",
        "@evil.example/",
        "",
    ],
)
def test_nobody_is_sent_elsewhere_after_signing_in(world: BrowserWorld, to: str) -> None:
    assert Browser(world).sign_in(to=to).headers["location"] == f"{PUBLIC_URL}/oauth/connections"


def test_a_link_signs_in_once_after_a_click(world: BrowserWorld) -> None:
    browser, other = Browser(world), Browser(world)

    assert ALICE in browser.get("/oauth/link?token=link").body.decode()
    browser.get("/oauth/link?token=link")
    signed_in = browser.submit("/oauth/link", browser.form("/oauth/link"))

    assert signed_in.headers["location"] == f"{PUBLIC_URL}/oauth/connections"
    assert ALICE in browser.get("/oauth/connections").body.decode()
    refused = other.submit("/oauth/link", {"token": "link"})
    assert (refused.status, "set-cookie" in refused.headers) == (403, False)


def test_a_person_sees_what_they_let_in_and_ends_it(world: BrowserWorld, alice: Browser) -> None:
    alice.get(world.authorize_url())
    pair = world.oauth.exchange(answer_in(alice.decide(access="read").headers["location"])["code"])
    bob = Browser(world)
    bob.sign_in(BOB)

    shown = alice.get("/oauth/connections").body.decode()
    assert "A client" in shown
    assert "Only search and read" in shown
    assert "A client" not in bob.get("/oauth/connections").body.decode()

    form = alice.form("/oauth/connections")
    bob.get(world.authorize_url())
    theirs = {"form_token": bob.form("/oauth/authorize")["form_token"]}
    assert bob.submit("/oauth/connections", {**form, **theirs}).status == 404
    assert world.oauth.tokens.verify(pair.access).user == ALICE
    assert alice.submit("/oauth/connections", form).status == 303
    assert "There are none" in alice.get("/oauth/connections").body.decode()


def test_signing_out_ends_the_session(world: BrowserWorld, alice: Browser) -> None:
    alice.get("/oauth/connections")
    kept = dict(alice.cookies)

    answer = alice.submit("/oauth/sign-out", alice.form("/oauth/sign-out"))

    assert answer.status == 200
    assert alice.cookies == {}
    alice.cookies = kept
    assert alice.get("/oauth/connections").status == 303


def test_somebody_else_signs_in_and_comes_back_to_the_same_question(
    world: BrowserWorld, alice: Browser
) -> None:
    alice.get(world.authorize_url())

    answer = alice.submit("/oauth/sign-out", alice.form("/oauth/sign-out"))

    assert alice.cookies == {}
    alice.get(answer.headers["location"])
    back = alice.sign_in(BOB, to=alice.form("/oauth/sign-in")["to"])
    assert back.headers["location"] == f"{PUBLIC_URL}{world.authorize_url()}"
    assert BOB in alice.get(back.headers["location"]).body.decode()


@pytest.mark.parametrize("path", ["/oauth/authorize", "/oauth/sign-in", "/oauth/token"])
def test_where_nobody_can_sign_in_there_are_no_pages(world: BrowserWorld, path: str) -> None:
    world.services = replace(world.services, local=None)

    assert world.send("GET", path).status == 404
    assert world.send("POST", path, b"").status == 404


def test_what_a_person_does_is_recorded(world: BrowserWorld, alice: Browser) -> None:
    alice.get(world.authorize_url())
    alice.decide()

    done = [(entry.action, entry.principal.user) for entry in world.audit.entries]

    assert done == [("sign_in", ALICE), ("let_program_in", ALICE)]
    assert VERIFIER not in str(world.audit.entries)


def test_pages_speak_french(world: BrowserWorld) -> None:
    browser = Browser(world, "fr-FR,fr;q=0.9")

    assert "Connexion" in browser.get("/oauth/sign-in").body.decode()
    browser.sign_in()
    text = browser.get(world.authorize_url()).body.decode()

    assert 'lang="fr"' in text
    assert "Laisser entrer A client ?" in text


def test_large_or_foreign_bodies_are_refused(world: BrowserWorld, alice: Browser) -> None:
    large = {"name": "x" * MAX_OAUTH_BODY_BYTES}

    assert alice.submit("/oauth/sign-in", large).status == 413
    assert alice.submit("/oauth/sign-in", {}, **{"Content-Type": "text/plain"}).status == 415
    many = {f"f{number}": "" for number in range(600)}
    assert alice.submit("/oauth/sign-in", many).status == 400
