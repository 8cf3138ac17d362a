"""What strangers say of who lets people in: read, and not believed further than it can be."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx2
import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.challenges import challenge_value, scopes_in
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.adapters.oauth_client.calls import Led, OAuthCalls
from archivolt.adapters.oauth_client.servers import HttpAuthorizationServers
from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ArchivoltError, ConflictError
from archivolt.domain.mcp_accounts import McpOAuthClient, OAuthRefusedError, OAuthWay
from tests.fakes.authorization_server import ISSUER, SERVER, AuthorizationScript
from tests.fakes.clock import FrozenClock

RESOURCE = "https://mcp.test/.well-known/oauth-protected-resource"
METADATA = "https://login.test/.well-known/oauth-authorization-server/acme"
TOKEN = "https://login.test/token"
IN_TIME = Deadline(FrozenClock().now, 20)
WAY = OAuthWay(
    server="ours",
    resource=SERVER,
    token_endpoint=TOKEN,
    revocation_endpoint="",
    client=McpOAuthClient(id="us"),
)


def reason_of(login: AuthorizationScript, url: str = SERVER) -> tuple[str, object]:
    with pytest.raises(ArchivoltError) as failed:
        login.servers().discover("ours", url, IN_TIME)
    return failed.value.code, failed.value.details.get("reason")


def test_a_server_is_asked_and_then_whom_it_names() -> None:
    login = AuthorizationScript()
    found = login.servers().discover("ours", SERVER, IN_TIME)

    assert login.asked == [SERVER, f"{RESOURCE}/mcp", METADATA]
    assert (found.issuer, found.resource, found.scope) == (ISSUER, SERVER, "read")
    assert found.token_endpoint == TOKEN


def test_the_challenge_says_where_to_look_and_what_to_ask_for() -> None:
    place = "https://mcp.test/elsewhere"
    login = AuthorizationScript(
        challenge=f'Basic realm="a", Bearer resource_metadata="{place}", scope="a b"'
    )
    login.answers[place] = httpx2.Response(200, json=login.document(SERVER))

    assert login.servers().discover("ours", SERVER, IN_TIME).scope == "a b"
    assert login.asked[1] == place


def test_a_server_of_before_is_its_own_authorization_server() -> None:
    login = AuthorizationScript(resource=None)
    own = {
        "issuer": "https://mcp.test/",
        "authorization_endpoint": "https://mcp.test/authorize",
        "token_endpoint": "https://mcp.test/token",
        "code_challenge_methods_supported": ["plain", "S256"],
    }
    place = "https://mcp.test/.well-known/oauth-authorization-server"
    login.answers[place] = httpx2.Response(200, json=own)

    found = login.servers().discover("ours", SERVER, IN_TIME)

    assert (found.issuer, found.resource) == ("https://mcp.test/", SERVER)
    assert (found.registration_endpoint, found.says_issuer, found.scope) == ("", False, "")


def test_the_metadata_may_be_that_of_openid_connect() -> None:
    login = AuthorizationScript()
    login.answers[METADATA] = httpx2.Response(404)
    place = f"{ISSUER}/.well-known/openid-configuration"
    body = {
        "issuer": ISSUER,
        "authorization_endpoint": "https://login.test/a?b=c",
        "token_endpoint": TOKEN,
        "code_challenge_methods_supported": ["S256"],
    }
    login.answers[place] = httpx2.Response(200, json=body)

    assert login.servers().discover("ours", SERVER, IN_TIME).authorization_endpoint.endswith("?b=c")


@pytest.mark.parametrize(
    ("resource", "metadata", "reason"),
    [
        ({"resource": "https://other.test/mcp"}, {}, "oauth_resource"),
        ({"resource": "https://mcp.test/mcp/more"}, {}, "oauth_resource"),
        ({"resource": "https://mcp.test/mc"}, {}, "oauth_resource"),
        ({"resource": "http://mcp.test/mcp"}, {}, "oauth_resource"),
        ({"resource": "https://mcp.test:x/mcp"}, {}, "oauth_resource"),
        ({"resource": None}, {}, "oauth_resource"),
        ({"authorization_servers": []}, {}, "oauth_absent"),
        ({"authorization_servers": ["http://169.254.169.254/"]}, {}, "oauth_address"),
        ({"authorization_servers": ["file:///etc/passwd"]}, {}, "oauth_address"),
        ({"authorization_servers": [7, "https://login.test/x#y"]}, {}, "oauth_address"),
        ({"authorization_servers": ["https://nobody.test"]}, {}, "oauth_absent"),
        ({}, {"issuer": "https://login.test"}, "oauth_issuer"),
        ({}, {"issuer": None}, "oauth_issuer"),
        ({}, {"code_challenge_methods_supported": None}, "oauth_pkce"),
        ({}, {"code_challenge_methods_supported": ["plain"]}, "oauth_pkce"),
        ({}, {"authorization_endpoint": "javascript:alert(1)"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://login.test/\n"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://me:pw@login.test/"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://10.0.0.1/authorize"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://0x7f.1:8443/"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://[::ffff:127.0.0.1]/"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://%6cocalhost/"}, "oauth_address"),
        ({}, {"authorization_endpoint": "https://intranet/"}, "oauth_address"),
        ({}, {"token_endpoint": "http://login.test/token"}, "oauth_address"),
        ({}, {"token_endpoint": None}, "oauth_address"),
        ({}, {"registration_endpoint": "https://[::1"}, "oauth_address"),
        ({}, {"revocation_endpoint": ["https://login.test"]}, "oauth_address"),
    ],
)
def test_what_is_not_about_the_server_or_not_safe_is_refused(
    resource: dict[str, Any], metadata: dict[str, Any], reason: str
) -> None:
    login = AuthorizationScript(resource=resource, metadata=metadata)

    assert reason_of(login) == ("mcp_sign_in_unusable", reason)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"[" * 100_000, b'{"resource":'])
def test_a_document_that_is_none_is_none(body: bytes) -> None:
    login = AuthorizationScript(challenge='Bearer resource_metadata="https://mcp.test/here"')
    login.answers["https://mcp.test/here"] = httpx2.Response(200, content=body)

    assert reason_of(login) == ("mcp_sign_in_unusable", "oauth_garbled")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (httpx2.ConnectError("x"), "mcp_unreachable"),
        (httpx2.ReadTimeout("x"), "mcp_slow"),
        (httpx2.Response(503), "mcp_http_status"),
    ],
)
def test_who_does_not_answer_may_do_so_later(
    answer: httpx2.Response | Exception, reason: str
) -> None:
    login = AuthorizationScript(answers={METADATA: answer})

    assert reason_of(login) == ("mcp_server_unavailable", reason)


def test_a_redirect_of_a_document_is_not_followed() -> None:
    login = AuthorizationScript()
    moved = httpx2.Response(302, headers={"location": "https://evil.test"})
    login.answers[METADATA] = moved

    assert reason_of(login) == ("mcp_sign_in_unusable", "oauth_absent")
    assert not any(address.startswith("https://evil") for address in login.asked)


@pytest.mark.parametrize(
    ("place", "is_led"),
    [
        ("http://127.0.0.1:9/authorize", True),
        ("https://login.test/authorize", True),
        ("http://127.0.0.1:8/authorize", False),
        ("https://10.0.0.1/authorize", False),
    ],
)
def test_a_server_that_the_deployment_names_leads_to_what_it_names_and_outside(
    place: str, is_led: bool
) -> None:
    calls = OAuthCalls(OutboundRules(frozenset({"mcp.test", "127.0.0.1:9"})))
    led = Led(server="ours", url=SERVER, deadline=IN_TIME)

    try:
        found = calls.address(led, place)
    except ConflictError as error:
        found = str(error.details["reason"])
    assert found == (place if is_led else "oauth_address")


def test_nobody_outside_leads_us_to_what_is_private_here() -> None:
    # Though the deployment allows some of it by name, for servers of that name.
    rules = OutboundRules(frozenset({"localhost", "127.0.0.1"}))
    servers = HttpAuthorizationServers(OAuthCalls(rules))
    for host in (
        *("169.254.169.254", "127.0.0.1", "[::1]", "10.0.0.1", "2130706433", "localhost"),
        *("0x7f000001", "[::ffff:127.0.0.1]", "[fd00::1]"),
    ):
        address = f"https://{host}/login"
        way = replace(WAY, token_endpoint=address, revocation_endpoint=address)
        for attempt in (
            partial(servers.renew, way, "r", IN_TIME),
            partial(servers.revoke, way, "r", IN_TIME),
            partial(servers.register, way, address, "https://us.test", IN_TIME),
        ):
            with pytest.raises(ArchivoltError) as failed:
                attempt()
            assert failed.value.details["reason"] == "mcp_address_private"


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"expires_in": 60}, 60),
        ({"expires_in": "60"}, 60),
        ({"expires_in": 60.9}, 60),
        ({"expires_in": -5}, 0),
        ({"expires_in": 10**30}, 31_622_400),
        ({"expires_in": 10**400}, 31_622_400),
        ({"expires_in": -(10**400)}, 0),
        ({"expires_in": float("inf")}, 31_622_400),
        ({"expires_in": float("nan")}, None),
        ({"expires_in": True}, None),
        ({"expires_in": "soon"}, None),
        ({"expires_in": "9" * 5_000}, None),
        ({}, None),
    ],
)
def test_how_long_a_token_lasts_is_read_as_far_as_it_is_said(
    body: dict[str, Any], seconds: int | None
) -> None:
    content = json.dumps({"access_token": "a", "token_type": "bEaReR", **body}).encode()
    login = AuthorizationScript(answers={TOKEN: httpx2.Response(200, content=content)})

    assert login.servers().renew(WAY, "r", IN_TIME).seconds == seconds


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, {"access_token": "a b", "token_type": "Bearer"}, "oauth_garbled"),
        (200, {"access_token": "a\r\nX: y", "token_type": "Bearer"}, "oauth_garbled"),
        (200, {"access_token": "é", "token_type": "Bearer"}, "oauth_garbled"),
        (200, {"access_token": "a" * 20_000, "token_type": "Bearer"}, "oauth_garbled"),
        (200, {"access_token": 7, "token_type": "Bearer"}, "oauth_garbled"),
        (200, {"access_token": "a", "token_type": "DPoP"}, "oauth_garbled"),
        (200, {"access_token": "a", "refresh_token": "é"}, "oauth_garbled"),
        (200, ["a"], "oauth_garbled"),
        (200, {"error": "invalid_grant"}, "refused invalid_grant"),
        (400, {"error": "invalid_grant"}, "refused invalid_grant"),
        (401, {"error": "INVALID <b>"}, "refused oauth_unsaid"),
        (400, {"oops": 1}, "mcp_http_status"),
        (302, {}, "mcp_http_status"),
        (500, {"error": "invalid_grant"}, "mcp_http_status"),
        (429, {"error": "slow_down"}, "mcp_http_status"),
    ],
)
def test_what_is_no_token_is_none(status: int, body: object, expected: str) -> None:
    login = AuthorizationScript(answers={TOKEN: httpx2.Response(status, json=body)})
    with pytest.raises(ArchivoltError) as failed:
        login.servers().renew(WAY, "r", IN_TIME)

    refused = isinstance(failed.value, OAuthRefusedError)
    assert f"{'refused ' if refused else ''}{failed.value.details['reason']}" == expected


@pytest.mark.parametrize(
    "client",
    [
        {"client_id": None},
        {"client_id": "a\nb"},
        {"client_id": "a" * 3_000},
        {"client_secret": "é"},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
)
def test_a_registration_that_cannot_be_used_is_none(client: dict[str, Any]) -> None:
    login = AuthorizationScript(client=client)
    with pytest.raises(ArchivoltError) as failed:
        login.servers().register(WAY, "https://login.test/register", "https://us.test", IN_TIME)

    assert failed.value.details["reason"] == "oauth_garbled"


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        (1_800_000_000, 1_800_000_000),
        (0, None),
        (-1, None),
        (10**30, None),
        (True, None),
        ("soon", None),
        (float("inf"), None),
        (None, None),
    ],
)
def test_when_a_secret_ends_is_read_as_far_as_it_is_said(said: object, ends: int | None) -> None:
    content = json.dumps(
        {"client_id": "us", "client_secret": "s", "client_secret_expires_at": said}
    ).encode()
    place = "https://login.test/register"
    login = AuthorizationScript(answers={place: httpx2.Response(201, content=content)})

    found = login.servers().register(WAY, place, "https://us.test", IN_TIME)

    assert (found.ends_at and found.ends_at.timestamp()) == ends


def test_an_endless_answer_is_cut_off() -> None:
    with endless() as url:
        rules = OutboundRules(frozenset({"127.0.0.1"}))
        caps = Caps(max_bytes=100_000, seconds=5)
        servers = HttpAuthorizationServers(
            OAuthCalls(rules, lambda given: guarded_client(given, caps))
        )
        with pytest.raises(ArchivoltError) as failed:
            servers.discover("ours", url, IN_TIME)

    assert failed.value.details["reason"] == "mcp_unreachable"


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ('Bearer scope="a b", error=x', "scope", "a b"),
        ('Bearer scope="a b", error=x', "error", "x"),
        (
            'bearer realm="r",resource_metadata=https://a.test/b',
            "resource_metadata",
            "https://a.test/b",
        ),
        ('Bearer realm="scope=b, error=no", Scope=a', "scope", "a"),
        ('Basic scope="a"', "scope", ""),
        ("Bearer", "scope", ""),
        ("", "scope", ""),
    ],
)
def test_a_challenge_is_read(header: str, name: str, value: str) -> None:
    assert challenge_value(header, name) == value


def test_a_challenge_made_to_take_long_does_not() -> None:
    assert challenge_value("Bearer " * 1_100 + "scope", "scope") == ""
    assert scopes_in('a "b" c\\d é a ') == "a"
    assert scopes_in("a" * 3_000) == ""


@contextmanager
def endless() -> Generator[str]:
    """Serve a document that never ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 10_000)
            except OSError:
                return

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its own name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
