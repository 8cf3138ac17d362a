"""Anything at all, sent to the pages and the endpoints: never a 5xx, nor a word from inside."""

import random
from urllib.parse import quote, urlencode

import pytest

from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.oauth import PUBLIC_URL

PATHS = (
    *("authorize", "sign-in", "sign-out", "link", "callback", "connections"),
    *("token", "register", "revoke", "", "authorize/", "..", "nothing"),
)
NAMES = (
    *("client_id", "redirect_uri", "state", "scope", "resource", "code_challenge", "request"),
    *("code_challenge_method", "response_type", "to", "token", "name", "password", "form_token"),
    *("decision", "vault", "reach", "access", "code", "grant_type", "refresh_token", "error"),
    *("code_verifier", "connection", "redirect_uris", "client_name", "\x00", "é", ""),
)
TEXTS = (
    *("", "a", "é\u202e", "\x00", "\r\nSet-Cookie: x=y", "../..", "%", "%zz", "'\"<script>"),
    *("https://client.example/c.json", "https://[", "http://[::1", "https://a:99999/x"),
    *("http://127.0.0.1:7777/callback", "javascript:alert(1)", "code", "S256", "agree", "all"),
    *("authorization_code", "refresh_token", "avo_" + "a" * 65, "avr_" + "a" * 87, "x" * 3_000),
    *("/oauth/authorize?a=b", "//evil.example", "[]", "{", "null", "1e999", f"{PUBLIC_URL}/mcp"),
)
TYPES = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=utf-16",
    "application/json",
    "multipart/form-data; boundary=x",
    "",
)
INSIDE = (b"Traceback", b'File "', b"archivolt.", b"Exception", b"botocore")


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_sent_nothing_breaks(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  chooses what to try, hides nothing
    world = BrowserWorld()
    world.vault("garden")
    browser = Browser(world)
    browser.sign_in()

    def pairs() -> list[tuple[str, str]]:
        known = world.oauth.parameters()[: dice.choice([0, 99])]
        changed = [(dice.choice(NAMES), dice.choice(TEXTS)) for _ in range(dice.randrange(6))]
        return [*(pair for pair in known if dice.random() < 0.9), *changed]

    for _ in range(60):
        path = f"/oauth/{dice.choice(PATHS)}?{urlencode(pairs())}"
        headers = {"Content-Type": dice.choice(TYPES), "Origin": PUBLIC_URL}
        if dice.random() < 0.7:
            sent = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            headers["Cookie"] = sent if dice.random() < 0.8 else quote(dice.choice(TEXTS))
        body = dice.choice(
            [urlencode(pairs()).encode(), dice.randbytes(40), dice.choice(TEXTS).encode(), b""]
        )
        method = dice.choice(["GET", "POST", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"])

        answer = world.send(method, path, body, headers)

        told = (method, path, body, answer.body)
        assert answer.status < 500, told
        assert not any(word in answer.body for word in INSIDE), told
        assert "evil.example" not in answer.headers.get("location", "").partition("?")[0], told
        assert "\n" not in answer.headers.get("location", ""), told
