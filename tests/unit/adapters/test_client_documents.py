"""Documents at addresses that strangers choose: public ones only, small, and without redirects."""

import json

import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.client_documents import HttpClientDocuments
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.limits import MAX_CLIENT_DOCUMENT_BYTES
from tests.unit.adapters.loopback_server import Answer, loopback_server

DOCUMENT = {"client_id": "https://client.example/c.json"}
LOOPBACK = OutboundRules(frozenset({"127.0.0.1"}))


def read(answer: Answer) -> object:
    client = guarded_client(LOOPBACK, Caps(max_bytes=MAX_CLIENT_DOCUMENT_BYTES, seconds=5))
    with loopback_server({"/c.json": answer, "/other": Answer(b"{}")}) as server:
        return HttpClientDocuments(client).read(f"http://127.0.0.1:{server.port}/c.json")


def test_a_document_is_read() -> None:
    assert read(Answer(json.dumps(DOCUMENT).encode())) == DOCUMENT


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b'{"a": "' + b"x" * MAX_CLIENT_DOCUMENT_BYTES + b'"}'),
        Answer(b'{"a": "' + b"x" * MAX_CLIENT_DOCUMENT_BYTES + b'"}', announce_length=False),
        Answer(b"", status=302, headers={"Location": "/other"}),
        Answer(b"{}", status=404),
        Answer(b"{}", status=201),
        Answer(b"not JSON"),
        Answer(b"\xff\xfe"),
        Answer(b"[" * (MAX_CLIENT_DOCUMENT_BYTES - 1)),
    ],
)
def test_what_is_no_small_document_is_unavailable(answer: Answer) -> None:
    with pytest.raises(UnavailableError):
        read(answer)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"])
def test_private_addresses_are_not_read_whatever_the_deployment_allows(host: str) -> None:
    with pytest.raises(InvalidRequestError, match="address_not_allowed"):
        HttpClientDocuments().read(f"https://{host}/c.json")
