"""Which authorization requests are taken, which are told to the client, and which to nobody."""

import pytest

from archivolt.domain.errors import InvalidRequestError
from archivolt.governance.oauth.redirects import is_acceptable, place_of, with_parameters
from archivolt.governance.oauth.requests import RefusedToClientError, read_request
from tests.oauth import PUBLIC_URL, RESOURCE, OAuthWorld, answer_in


@pytest.fixture
def world() -> OAuthWorld:
    return OAuthWorld()


def test_a_request_that_breaks_no_rule_is_taken(world: OAuthWorld) -> None:
    request = world.request()

    assert request.client == world.client
    assert request.writes
    assert answer_in(request.answered(code="c")) == {
        "code": "c",
        "state": "s t&te=1",
        "iss": PUBLIC_URL,
    }


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("https://c.example/cb", "https://c.example/cb/"),
        ("https://c.example/cb", "https://c.example/cb?x=1"),
        ("https://c.example/cb", "https://c.example/cb#x"),
        ("https://c.example/cb", "https://c.example:444/cb"),
        ("https://c.example/cb", "https://C.example/cb"),
        ("https://c.example/cb", "https://c.example@evil.example/cb"),
        ("https://c.example/cb", "https://c.example/../cb"),
        ("https://c.example/cb", "https://evil.example/cb"),
        ("https://c.example/cb", "http://c.example/cb"),
        ("https://c.example/cb", ""),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/other"),
        ("http://127.0.0.1/cb", "http://localhost/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
        ("http://127.0.0.1/cb", "http://evil.example@127.0.0.1/cb"),
        ("http://127.0.0.1/cb", "https://127.0.0.1/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:x/cb"),
        ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:9/cb?a=2"),
        ("cursor://x/cb", "cursor://y/cb"),
    ],
)
def test_a_wrong_redirect_is_told_to_the_person_and_nobody_is_sent_there(
    world: OAuthWorld, registered: str, asked: str
) -> None:
    world.client = world.registered(registered, "https://c.example/second")

    with pytest.raises(InvalidRequestError, match="oauth_redirect_unknown") as refused:
        world.request(redirect_uri=asked)

    assert not isinstance(refused.value, RefusedToClientError)


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:54321/cb"),
        ("http://127.0.0.1:1/cb?a=1", "http://127.0.0.1:2/cb?a=1"),
        ("http://localhost:8787/cb", "http://localhost/cb"),
        ("http://[::1]/cb", "http://[::1]:9/cb"),
        ("cursor://anysphere.cursor-mcp/oauth/callback",) * 2,
    ],
)
def test_a_program_on_this_machine_takes_any_port(
    world: OAuthWorld, registered: str, asked: str
) -> None:
    world.client = world.registered(registered)

    assert world.request(redirect_uri=asked).redirect_uri == asked


def test_the_only_redirect_may_be_left_out_and_one_of_two_may_not(world: OAuthWorld) -> None:
    assert world.request(redirect_uri=None).redirect_uri == world.client.redirect_uris[0]

    world.client = world.registered("https://c.example/a", "https://c.example/b")
    with pytest.raises(InvalidRequestError, match="oauth_redirect_unknown"):
        world.request(redirect_uri=None)


@pytest.mark.parametrize("client_id", [None, "", "avc_unknown", "x" * 5_000, "http://c.example/c"])
def test_an_unknown_client_is_told_to_the_person(world: OAuthWorld, client_id: str | None) -> None:
    with pytest.raises(InvalidRequestError, match="oauth_client_unknown") as refused:
        world.request(client_id=client_id, redirect_uri="https://evil.example/")

    assert not isinstance(refused.value, RefusedToClientError)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "c" * 42 + "!"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"resource": PUBLIC_URL}, "invalid_target"),
        ({"resource": f"{PUBLIC_URL}/mcp/"}, "invalid_target"),
        ({"resource": f"{PUBLIC_URL}/MCP"}, "invalid_target"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": ""}, "invalid_target"),
        ({"scope": "openid admin"}, "invalid_scope"),
    ],
)
def test_what_is_the_clients_to_mend_is_answered_with_state_and_issuer(
    world: OAuthWorld, changed: dict[str, str | None], error: str
) -> None:
    with pytest.raises(RefusedToClientError) as refused:
        world.request(**changed)

    address = refused.value.address
    assert address.startswith(f"{world.client.redirect_uris[0]}?")
    answer = answer_in(address)
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "s t&te=1", PUBLIC_URL)
    assert answer["error_description"].isascii()


def test_a_second_resource_is_no_way_around_the_first(world: OAuthWorld) -> None:
    parameters = [*world.parameters(), ("resource", "https://other.example/mcp")]

    with pytest.raises(RefusedToClientError, match="oauth_resource"):
        read_request(parameters, world.clients, RESOURCE)


@pytest.mark.parametrize("name", ["state", "scope", "code_challenge", "response_type"])
def test_a_parameter_sent_twice_is_refused(world: OAuthWorld, name: str) -> None:
    parameters = [*world.parameters(), (name, "again")]

    with pytest.raises(RefusedToClientError) as refused:
        read_request(parameters, world.clients, RESOURCE)

    answer = answer_in(refused.value.address)
    assert answer["error"] in {"invalid_request"}
    assert ("state" in answer) == (name != "state")


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_two_clients_or_two_addresses_are_nobodys(world: OAuthWorld, name: str) -> None:
    parameters = [*world.parameters(), (name, "https://evil.example/")]

    with pytest.raises(InvalidRequestError) as refused:
        read_request(parameters, world.clients, RESOURCE)

    assert not isinstance(refused.value, RefusedToClientError)


@pytest.mark.parametrize(
    ("scope", "writes"),
    [
        (None, True),
        ("", True),
        ("vaults:read", False),
        ("vaults:write", True),
        ("offline_access vaults:read", False),
    ],
)
def test_scopes_say_whether_a_client_wants_to_write(
    world: OAuthWorld, scope: str | None, writes: bool
) -> None:
    assert world.request(scope=scope).writes is writes


def test_older_clients_name_no_resource_and_send_no_state(world: OAuthWorld) -> None:
    request = world.request(resource=None, state=None)

    assert answer_in(request.answered(code="c")) == {"code": "c", "iss": PUBLIC_URL}


@pytest.mark.parametrize(
    "uri",
    [
        "https://c.example/cb",
        "https://c.example/cb?a=1",
        "http://localhost:1/cb",
        "http://[::1]/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/oauth",
        "vscode://vscode.git/cb",
    ],
)
def test_addresses_that_clients_may_register(uri: str) -> None:
    assert is_acceptable(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/cb",
        "c.example/cb",
        "http://c.example/cb",
        "https:///cb",
        "https://user@c.example/cb",
        "https://c.example/cb#fragment",
        "https://c.example/cb#",
        "https://c.example/c b",
        "https://c.example/\r\nSet-Cookie: a=b",
        "https://c.example\\@evil.example/",
        "https://c.example:port/",
        "https://é.example/",
        "javascript:alert(1)",
        "JavaScript://x/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "view-source:https://c.example/",
        "mailto:a@c.example",
        "https://c.example/" + "x" * 1_000,
    ],
)
def test_addresses_that_no_client_may_register(uri: str) -> None:
    assert not is_acceptable(uri)


def test_an_answer_is_added_to_the_query_that_is_there() -> None:
    assert with_parameters("https://c.example/cb?a=1", {"b": "2&3"}) == (
        "https://c.example/cb?a=1&b=2%263"
    )
    assert with_parameters("app:/cb", {"b": "2"}) == "app:/cb?b=2"


def test_a_person_is_told_the_host_or_the_application() -> None:
    assert place_of("https://c.example/cb") == "c.example"
    assert place_of("http://127.0.0.1:7/cb") == "127.0.0.1:7"
    assert place_of("cursor://anysphere.cursor-mcp/cb") == "cursor:"
