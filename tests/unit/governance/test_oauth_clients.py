"""Clients that register, and clients whose id is the address of a document."""

from typing import Any

import pytest

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import CLIENT_DOCUMENT_KEPT_SECONDS, MAX_CLIENT_NAME_CHARS
from archivolt.domain.oauth import OAuthError
from tests.oauth import REDIRECT, OAuthWorld

ADDRESS = "https://client.example/oauth/client.json"


@pytest.fixture
def world() -> OAuthWorld:
    return OAuthWorld()


def described(**changed: object) -> dict[str, Any]:
    usual = {"client_id": ADDRESS, "client_name": "Claude", "redirect_uris": [REDIRECT]}
    return usual | changed


def test_a_client_that_registers_is_known_from_then_on(world: OAuthWorld) -> None:
    client = world.clients.register({"redirect_uris": [REDIRECT], "client_name": "Cursor"})

    assert world.clients.find(client.id) == client
    assert client.name == "Cursor"
    assert not client.has_document
    assert client.id != world.registered().id


def test_a_registered_client_that_nobody_lets_in_is_forgotten_after_a_day(
    world: OAuthWorld,
) -> None:
    kept, unused = world.registered(), world.registered()
    world.clients.keep(kept)

    world.clock.advance(days=1)

    assert world.clients.find(kept.id).id == kept.id
    assert world.clients.is_known(kept.id)
    assert not world.clients.is_known(unused.id)
    with pytest.raises(InvalidRequestError, match="oauth_client_unknown"):
        world.clients.find(unused.id)


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ([], "invalid_client_metadata"),
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": REDIRECT}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT, 7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT, "http://c.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT], "client_name": 7}, "invalid_client_metadata"),
        ({"redirect_uris": [REDIRECT], "grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({"redirect_uris": [REDIRECT], "response_types": "code"}, "invalid_client_metadata"),
    ],
)
def test_metadata_that_breaks_a_rule_registers_nobody(
    world: OAuthWorld, metadata: object, error: str
) -> None:
    with pytest.raises(OAuthError) as refused:
        world.clients.register(metadata)

    assert refused.value.error == error


def test_a_name_is_one_line_that_shows_what_it_is(world: OAuthWorld) -> None:
    name = "  Claude\n\tby\u202eAnthropic\x00 " + "x" * 500

    shown = world.registered(name=name).name

    assert shown.startswith("Claude by\ufffdAnthropic\u2400 xxx")
    assert len(shown) == MAX_CLIENT_NAME_CHARS
    assert world.registered(name="half\ud83d").name == "half\ufffd"
    assert world.registered(name="\n").name == "MCP client"


def test_a_client_is_found_by_its_document_which_is_read_again_after_a_while(
    world: OAuthWorld,
) -> None:
    world.documents.documents[ADDRESS] = described()

    first = world.clients.find(ADDRESS)
    world.clients.find(ADDRESS)

    assert (first.name, first.has_document, world.documents.reads) == ("Claude", True, 1)
    world.clock.advance(seconds=CLIENT_DOCUMENT_KEPT_SECONDS)
    world.documents.documents[ADDRESS] = described(client_name="Claude 2")
    assert world.clients.find(ADDRESS).name == "Claude 2"
    assert world.documents.reads == 2


def test_a_document_that_is_gone_is_no_client_any_more(world: OAuthWorld) -> None:
    world.documents.documents[ADDRESS] = described()
    world.clients.find(ADDRESS)
    world.clock.advance(seconds=CLIENT_DOCUMENT_KEPT_SECONDS)
    del world.documents.documents[ADDRESS]

    with pytest.raises(InvalidRequestError, match="oauth_client_unknown"):
        world.clients.find(ADDRESS)


@pytest.mark.parametrize(
    "document",
    [
        [],
        "text",
        described(client_id="https://other.example/client.json"),
        described(client_id=ADDRESS + "/"),
        described(client_secret="a"),
        described(token_endpoint_auth_method="private_key_jwt"),
        described(token_endpoint_auth_method="client_secret_basic"),
        described(redirect_uris=["http://c.example/"]),
        described(redirect_uris=[]),
        described(client_name=["x"]),
        described(grant_types=["client_credentials"]),
    ],
)
def test_a_document_that_breaks_a_rule_is_no_client(world: OAuthWorld, document: object) -> None:
    world.documents.documents[ADDRESS] = document

    with pytest.raises(InvalidRequestError, match="oauth_client_unknown"):
        world.clients.find(ADDRESS)


@pytest.mark.parametrize(
    "client_id",
    [
        "http://client.example/client.json",
        "https://client.example",
        "https://client.example/",
        "https://user:secret@client.example/c",
        "https://client.example/a/../c",
        "https://client.example/./c",
        "https://client.example/%2e%2e/c",
        "https://client.example/c#f",
        "https://client.example\\c/",
        "https://client.example:x/c",
        "https:///c",
        "https://client.example/" + "x" * 1_000,
        "https://client.example/é",
        "ftp://client.example/c",
    ],
)
def test_what_is_no_proper_address_is_never_read(world: OAuthWorld, client_id: str) -> None:
    world.documents.documents[client_id] = described(client_id=client_id)

    with pytest.raises(InvalidRequestError, match="oauth_client_unknown"):
        world.clients.find(client_id)

    assert world.documents.reads == 0
