"""Who is calling: tenant, user, role, and how far the token reaches (decision 2, S34)."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NewType

from archivolt.domain.errors import UnauthenticatedError

TenantId = NewType("TenantId", str)
UserId = NewType("UserId", str)

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# No half of a surrogate pair: such text cannot be written anywhere.
_USER = re.compile(r"[^\s/#\x00-\x1f\x7f\ud800-\udfff]{1,128}")


class Role(StrEnum):
    """A user's role in the tenant, weakest first (S34)."""

    VIEWER = "viewer"
    DEVOPS = "devops"
    TENANT_ADMIN = "tenant-admin"
    CPI_ADMIN = "cpi-admin"

    def includes(self, other: "Role") -> bool:
        """Tell whether this role may do what `other` may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class TokenKind(StrEnum):
    """What a token was made for."""

    INTERACTIVE = "interactive"
    MCP = "mcp"
    PERSONAL = "personal"
    """A personal access token: for programs, made and revoked by its owner."""
    SCHEDULED = "scheduled"
    """No token: a run by a timetable, as its owner, with nobody looking on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReach:
    """How much of what its user may do a token may do.

    `vaults` are ids of vaults; None stands for every vault of the user, also those to come.
    """

    read_only: bool = False
    vaults: frozenset[str] | None = None


FULL_REACH: Final = TokenReach()


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The verified caller. Built from a verified token and from nothing else (R6).

    `token_id` names the token in rate limits without revealing it. `reach` narrows what it may do.
    `program` is what its owner, or the program itself, calls who holds it: a name and no proof.
    """

    tenant: TenantId
    user: UserId
    role: Role
    token_id: str
    kind: TokenKind = TokenKind.INTERACTIVE
    reach: TokenReach = FULL_REACH
    program: str = ""


def tenant_id(raw: object) -> TenantId:
    """Return `raw` as a tenant id (it becomes part of object keys).

    Raises:
        UnauthenticatedError: It is not one.

    """
    if not isinstance(raw, str) or not _TENANT.fullmatch(raw):
        raise UnauthenticatedError("invalid_token")
    return TenantId(raw)


def user_id(raw: object) -> UserId:
    """Return `raw` as a user id, as an identity provider's `sub` gives it.

    Raises:
        UnauthenticatedError: It is not one.

    """
    if not isinstance(raw, str) or not _USER.fullmatch(raw):
        raise UnauthenticatedError("invalid_token")
    return UserId(raw)
