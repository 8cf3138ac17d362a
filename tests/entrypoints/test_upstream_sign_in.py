"""Signing in at an identity provider that speaks OpenID Connect over HTTP, and coming back."""

import re
from collections.abc import Generator
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.documents import read_json
from archivolt.adapters.http.outbound import guarded_client
from archivolt.adapters.jwt.jwks import JwksKeys
from archivolt.adapters.jwt.verifier import JwtVerifier, TokenRules
from archivolt.adapters.oidc.provider import OidcClient, OidcProvider
from archivolt.domain.limits import BROWSER_SESSION_SECONDS, MAX_SIGN_IN_RETURNS_PER_ADDRESS
from archivolt.governance.sign_in.upstream import UpstreamSignIn
from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.entrypoints.rest_api import Answer
from tests.fakes.identity_server import CLIENT_ID, SECRET, IdentityServer, identity_server
from tests.oauth import PUBLIC_URL, answer_in

CALLBACK = f"{PUBLIC_URL}/oauth/callback"


@pytest.fixture
def provider() -> Generator[IdentityServer, None, None]:
    with identity_server() as server:
        yield server


def world_of(provider: IdentityServer, *, secret: str = "", scopes: str = "openid") -> BrowserWorld:
    world = BrowserWorld()
    http = guarded_client(OutboundRules(frozenset({"127.0.0.1"})))
    rules = TokenRules(
        issuer=provider.url,
        audience=CLIENT_ID,
        mcp_audience=CLIENT_ID,
        tenant_claim="tenant",
        role_claim="role",
    )
    keys = JwksKeys(lambda: read_json(http, f"{provider.url}/jwks"), world.clock)
    client = OidcClient(issuer=provider.url, client_id=CLIENT_ID, secret=secret, scopes=scopes)
    upstream = UpstreamSignIn(
        OidcProvider(client, lambda: http, JwtVerifier(keys, rules, world.clock), world.clock),
        CALLBACK,
    )
    world.services = replace(world.services, local=None, upstream=upstream)
    return world


@pytest.fixture
def world(provider: IdentityServer) -> BrowserWorld:
    return world_of(provider)


def come_back(world: BrowserWorld, provider: IdentityServer, browser: Browser) -> Answer:
    """Go to the provider from the consent page, sign in there, and come back."""
    asked = browser.get(world.authorize_url())
    away = browser.get(asked.headers["location"])
    return browser.get(provider.signs_in(away.headers["location"]))


def test_a_person_signs_in_there_and_is_asked_here(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    browser = Browser(world)

    back = come_back(world, provider, browser)

    assert back.headers["location"] == f"{PUBLIC_URL}{world.authorize_url()}"
    assert "carol" in browser.get(back.headers["location"]).body.decode()
    code = answer_in(browser.decide().headers["location"])["code"]
    caller = world.oauth.tokens.verify(world.oauth.exchange(code).access)
    assert (caller.tenant, caller.user) == ("acme", "carol")


@pytest.mark.parametrize("methods", [None, ["client_secret_post"], ["client_secret_basic"]])
def test_our_secret_is_shown_as_the_provider_wants_it(
    provider: IdentityServer, methods: list[str] | None
) -> None:
    if methods is not None:
        provider.document = {"token_endpoint_auth_methods_supported": methods}
    world = world_of(provider, secret=SECRET)

    assert come_back(world, provider, Browser(world)).status == 303

    (shown,) = provider.credentials
    assert shown.startswith("Basic ") is (methods != ["client_secret_post"])
    assert SECRET not in shown or methods == ["client_secret_post"]


def test_the_provider_is_asked_for_the_scopes_of_the_deployment(provider: IdentityServer) -> None:
    world = world_of(provider, scopes="openid profile")

    away = Browser(world).get("/oauth/sign-in")

    asked = answer_in(away.headers["location"])
    assert (asked["scope"], asked["redirect_uri"]) == ("openid profile", CALLBACK)
    assert asked["client_id"] == CLIENT_ID


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": ...},
        {"aud": "another-client"},
        {"aud": [CLIENT_ID, "another-client"]},
        {"aud": [CLIENT_ID, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"iss": "https://id.evil.example"},
        {"exp": 1},
        {"tenant": ...},
        {"tenant": "a/b"},
        {"role": "king"},
        {"sub": ""},
    ],
)
def test_a_word_that_is_not_good_signs_nobody_in(
    world: BrowserWorld, provider: IdentityServer, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    browser = Browser(world)

    back = come_back(world, provider, browser)

    assert back.status == 403
    assert "__Host-archivolt_session" not in browser.cookies


def test_several_audiences_are_good_when_we_are_the_authorized_party(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    provider.claims = {"aud": [CLIENT_ID, "an-api"], "azp": CLIENT_ID}

    assert come_back(world, provider, Browser(world)).status == 303


def test_another_browser_cannot_finish_what_this_one_began(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    mine, other = Browser(world), Browser(world)
    away = mine.get("/oauth/sign-in")
    other.get("/oauth/sign-in")
    back = provider.signs_in(away.headers["location"])

    assert other.get(back).status == 403
    assert Browser(world).get(back).status == 403
    assert mine.get(back).status == 303


@pytest.mark.parametrize(
    "query", ["", "?code=x", "?state=x&code=y", "?error=access_denied&state=x"]
)
def test_an_answer_that_nobody_asked_for_is_refused(
    world: BrowserWorld, provider: IdentityServer, query: str
) -> None:
    browser = Browser(world)
    browser.get("/oauth/sign-in")

    assert browser.get(f"/oauth/callback{query}").status == 403
    assert "/token" not in provider.paths


def test_somebody_else_is_asked_for_even_if_the_provider_knows_who_was_there(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    browser = Browser(world)
    browser.get(come_back(world, provider, browser).headers["location"])

    out = browser.submit("/oauth/sign-out", browser.form("/oauth/sign-out"))
    away = browser.get(goes_on(out))

    assert answer_in(away.headers["location"])["prompt"] == "login"
    provider.claims = {"sub": "dora"}
    back = browser.get(provider.signs_in(away.headers["location"]))
    assert "dora" in browser.get(back.headers["location"]).body.decode()


def test_from_a_form_a_browser_goes_on_by_a_page_as_its_policy_does_not_let_it_elsewhere(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    browser = Browser(world)
    browser.get(come_back(world, provider, browser).headers["location"])
    world.clock.advance(seconds=BROWSER_SESSION_SECONDS)

    answer = browser.decide()

    assert "location" not in answer.headers
    assert goes_on(answer).startswith(f"{PUBLIC_URL}/oauth/sign-in?to=")


def goes_on(answer: Answer) -> str:
    """Return where a page goes by itself, which is also where its link leads."""
    text = answer.body.decode()
    (by_itself,) = re.findall(r'http-equiv="refresh" content="0;url=([^"]*)"', text)
    assert f'href="{by_itself}"' in text
    return unescape(by_itself)


def test_a_code_that_was_used_is_refused(world: BrowserWorld, provider: IdentityServer) -> None:
    browser = Browser(world)
    away = browser.get("/oauth/sign-in")
    back = provider.signs_in(away.headers["location"])

    assert browser.get(back).status == 303
    assert browser.get(back).status == 403


def test_a_document_of_another_issuer_is_none(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    provider.document = {"issuer": "https://id.evil.example"}

    assert Browser(world).get("/oauth/sign-in").status == 503


@pytest.mark.parametrize("endpoint", [None, 7, "javascript:alert(1)"])
def test_a_provider_without_an_address_is_down(
    world: BrowserWorld, provider: IdentityServer, endpoint: object
) -> None:
    provider.document = {"authorization_endpoint": endpoint}

    assert Browser(world).get("/oauth/sign-in").status == 503


def test_a_provider_that_fails_is_no_fault_of_the_person(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    provider.token_status = 500

    assert come_back(world, provider, Browser(world)).status == 503


@pytest.mark.parametrize("body", [b"\xff\xfe\xfd", b"[" * 200_000, b"no JSON"])
def test_an_answer_that_cannot_be_read_is_no_fault_of_the_person_either(
    world: BrowserWorld, provider: IdentityServer, body: bytes
) -> None:
    provider.token_body = body

    assert come_back(world, provider, Browser(world)).status == 503


def test_a_document_that_cannot_be_read_again_serves_on_and_is_tried_again(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    Browser(world).get("/oauth/sign-in")
    world.clock.advance(hours=2)
    provider.document = {"issuer": "https://id.evil.example"}
    meanwhile = [Browser(world).get("/oauth/sign-in") for _ in range(2)]
    provider.document = {"authorization_endpoint": f"{provider.url}/new"}
    world.clock.advance(minutes=2)
    later = Browser(world).get("/oauth/sign-in")

    old = [each.headers["location"].partition("?")[0] for each in meanwhile]
    assert old == [f"{provider.url}/authorize"] * 2
    assert later.headers["location"].startswith(f"{provider.url}/new?")
    assert len(provider.paths) == 3


def test_one_address_comes_back_so_often_and_no_more(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    statuses = [
        Browser(world).get("/oauth/callback?state=x&code=y").status
        for _ in range(MAX_SIGN_IN_RETURNS_PER_ADDRESS + 1)
    ]

    assert statuses == [403] * MAX_SIGN_IN_RETURNS_PER_ADDRESS + [429]


def test_the_document_is_read_once_in_a_while(
    world: BrowserWorld, provider: IdentityServer
) -> None:
    for _ in range(3):
        Browser(world).get("/oauth/sign-in")
    world.clock.advance(hours=2)
    Browser(world).get("/oauth/sign-in")

    assert provider.paths == ["/.well-known/openid-configuration"] * 2


def test_passwords_and_links_are_not_for_these_people(world: BrowserWorld) -> None:
    browser = Browser(world)

    assert browser.sign_in().status == 404
    assert browser.get("/oauth/link?token=link").status == 404


def test_a_very_long_way_back_is_left_out(world: BrowserWorld, provider: IdentityServer) -> None:
    browser = Browser(world)
    away = browser.get(f"/oauth/sign-in?to=/approve/{'x' * 5_000}")
    back = browser.get(provider.signs_in(away.headers["location"]))

    assert back.headers["location"] == f"{PUBLIC_URL}/oauth/connections"
