"""Which addresses a call that a tenant can steer may go to (decision 25).

The rule is about the address a connection is made to, never about how its name is written: a
decimal, octal or mapped form is what the resolver makes of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from archivolt.domain.errors import InvalidRequestError

# RFC 4291 §2.4: what is assigned as global unicast. It leaves out ::, ::1, IPv4-compatible,
# unique local, link-local and multicast addresses.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
# RFC 6052 §2.1: an IPv4 address as an IPv6-only network reaches it.
_NAT64: Final = IPv6Network("64:ff9b::/96")
# RFC 6761 §6.3, RFC 6762 §3.
_OF_THE_MACHINE: Final = frozenset({"localhost", "local"})


@dataclass(frozen=True, slots=True)
class OutboundRules:
    """Public addresses, and hosts that the deployment allows whatever their addresses.

    `allowed` holds host names or addresses, with `:port` where only that port is meant.
    """

    allowed: frozenset[str] = field(default_factory=frozenset[str])

    @classmethod
    def from_setting(cls, hosts: str) -> "OutboundRules":
        """Return the rules with the hosts of a comma-separated list."""
        entries = (entry.strip().lower() for entry in hosts.split(","))
        return cls(frozenset(entry for entry in entries if entry))

    def check(self, host: str, port: int, addresses: Iterable[str]) -> None:
        """Hold what a host name resolved to to the rules.

        Raises:
            InvalidRequestError: `address_not_allowed`: one of the addresses is not public.

        """
        if not self.allows(host, port) and not all(is_public(each) for each in addresses):
            raise InvalidRequestError("address_not_allowed", host=_name(host))

    def allows(self, host: str, port: int) -> bool:
        """Tell whether the deployment names this host, whatever its addresses."""
        name = _name(host)
        return name in self.allowed or f"{name}:{port}" in self.allowed


def _name(host: str) -> str:
    return host.lower().strip("[]")


def is_public_name(host: str) -> bool:
    """Tell whether a host, as it is written, may be one of the public Internet.

    It is for what a browser will resolve and not we: any form of a number is an address to it.
    """
    name = _name(host).removesuffix(".")
    last = name.rpartition(".")[2]
    if ":" in name or last.isdecimal() or last.startswith("0x"):
        return is_public(name)
    return "." in name and last not in _OF_THE_MACHINE


def is_public(address: str) -> bool:
    """Tell whether an address, as the resolver gives it, is one of the public Internet."""
    try:
        parsed = ip_address(address)
    except ValueError:
        # With a zone (`fe80::1%eth0`) it is of this machine's links.
        return False
    if isinstance(parsed, IPv4Address):
        return _is_public_v4(parsed)
    return _is_public_v6(parsed)


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not address.is_multicast


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return _is_public_v4(address.ipv4_mapped)
    if address in _NAT64:
        return _is_public_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
    # A 6to4 address leads to the IPv4 address inside it.
    if address.sixtofour is not None:
        return _is_public_v4(address.sixtofour)
    return address in _GLOBAL_UNICAST and address.is_global
