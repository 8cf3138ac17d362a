"""The guarded proxy for programs of others: checked addresses only, whatever is asked for."""

import asyncio
import http.client
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.loopback_proxy import loopback_proxy
from tests.fakes.mcp_http_server import mcp_http_server

LOOPBACK = OutboundRules(frozenset({"127.0.0.1"}))


def through(
    rules: OutboundRules, ask: Callable[[str, int], tuple[int, bytes]]
) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        async with loopback_proxy(rules) as address:
            proxy = urlsplit(address)
            return await asyncio.to_thread(ask, str(proxy.hostname), proxy.port or 0)

    return asyncio.run(run())


def plainly(url: str) -> Callable[[str, int], tuple[int, bytes]]:
    def ask(host: str, port: int) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(host, port, timeout=20)
        headers = {"Proxy-Authorization": "secret"}
        connection.request("POST", url, b'{"id": 1, "method": "tools/list"}', headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    return ask


def by_tunnel(url: str) -> Callable[[str, int], tuple[int, bytes]]:
    def ask(host: str, port: int) -> tuple[int, bytes]:
        far = urlsplit(url)
        connection = http.client.HTTPConnection(host, port, timeout=20)
        connection.set_tunnel(str(far.hostname), far.port)
        try:
            connection.request("POST", far.path, b'{"id": 1, "method": "tools/list"}')
        except OSError as error:
            return int(str(error).split(": ")[1][:3]), b""
        answer = connection.getresponse()
        return answer.status, answer.read()

    return ask


@pytest.mark.parametrize("way", [plainly, by_tunnel])
def test_an_address_that_is_allowed_is_reached(
    way: Callable[[str], Callable[[str, int], tuple[int, bytes]]],
) -> None:
    with mcp_http_server() as server:
        status, body = through(LOOPBACK, way(server.url))

    assert status == 200
    assert b'"tools"' in body
    assert "proxy-authorization" not in server.headers[0]
    assert server.headers[0]["host"].startswith("127.0.0.1:")


@pytest.mark.parametrize("way", [plainly, by_tunnel])
@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "localhost", "169.254.169.254"])
def test_an_address_of_this_network_is_refused(
    host: str, way: Callable[[str], Callable[[str, int], tuple[int, bytes]]]
) -> None:
    with mcp_http_server() as server:
        url = server.url.replace("127.0.0.1", host)

        assert through(OutboundRules(), way(url)) == (403, b"")
        assert server.headers == []


def test_where_nobody_is_it_says_so() -> None:
    with mcp_http_server() as server:
        url = server.url

    assert through(LOOPBACK, plainly(url))[0] == 502


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"\xff\r\n\r\n"])
def test_what_is_no_request_of_a_proxy_is_refused(head: bytes) -> None:
    async def run() -> bytes:
        async with loopback_proxy(LOOPBACK) as address:
            proxy = urlsplit(address)
            reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port)
            writer.write(head)
            answer = await reader.read()
            writer.close()
            return answer

    assert asyncio.run(run()).startswith(b"HTTP/1.1 403 ")
