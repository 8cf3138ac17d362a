"""Which addresses are of the public Internet, however a host is written."""

import socket

import pytest

from archivolt.adapters.http.addresses import OutboundRules, is_public, is_public_name
from archivolt.adapters.http.backends import resolve
from archivolt.domain.errors import InvalidRequestError


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "2606:4700::6810:84e5",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ],
)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "localhost",
        "",
    ],
)
def test_any_other_address_is_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "host",
    ["127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "0", "localhost", "::1"],
)
def test_a_disguised_loopback_is_refused_once_resolved(host: str) -> None:
    addresses = [str(entry[4][0]) for entry in resolve(host, 80)]
    assert addresses

    with pytest.raises(InvalidRequestError) as refused:
        OutboundRules().check(host, 80, addresses)

    assert (refused.value.code, refused.value.details) == ("address_not_allowed", {"host": host})


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(InvalidRequestError):
        OutboundRules().check("both.example", 443, ["8.8.8.8", "10.0.0.1"])


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 80), ("LOCALHOST", 9), ("::1", 80), ("[::1]", 8080), ("m", 81)]
)
def test_a_host_the_deployment_allows_is_allowed(host: str, port: int) -> None:
    rules = OutboundRules.from_setting("127.0.0.1, Localhost,::1, m:81,")

    rules.check(host, port, ["127.0.0.1"])


@pytest.mark.parametrize(("host", "port"), [("m", 80), ("127.0.0.2", 80), ("m.example", 81)])
def test_other_hosts_and_ports_stay_refused(host: str, port: int) -> None:
    rules = OutboundRules.from_setting("127.0.0.1,localhost,m:81")

    with pytest.raises(InvalidRequestError):
        rules.check(host, port, ["127.0.0.1"])


def test_an_empty_setting_allows_no_private_host() -> None:
    assert OutboundRules.from_setting(" , ").allowed == frozenset()


def test_resolving_gives_addresses_of_streams() -> None:
    assert all(entry[1] == socket.SOCK_STREAM for entry in resolve("127.0.0.1", 80))


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("login.test", True),
        ("login.test.", True),
        ("xn--bcher-kva.example", True),
        ("8.8.8.8", True),
        ("8.8.8.8.", True),
        ("2606:4700::6810:84e5", True),
        ("10.0.0.1", False),
        ("127.0.0.1.", False),
        ("127.1", False),
        ("2130706433", False),
        ("0x7f000001", False),
        ("0x7F.1", False),
        ("0177.0.0.1", False),
        ("a.0x", False),
        ("::1", False),
        ("::ffff:10.0.0.1", False),
        ("LOCALHOST", False),
        ("me.localhost", False),
        ("printer.local", False),
        ("intranet", False),
        ("", False),
        (".", False),
    ],
)
def test_a_host_is_public_as_far_as_it_can_be_read(host: str, public: bool) -> None:
    assert is_public_name(host) is public
