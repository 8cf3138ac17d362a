"""Erasing what is held of a conversation, a user, a vault or a tenant, and the receipt of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.queue_messages import read_message, write_message
from archivolt.domain.vault import VaultId


class ErasureScope(StrEnum):
    """What is erased."""

    CONVERSATION = "conversation"
    USER = "user"
    VAULT = "vault"
    TENANT = "tenant"


class ErasureState(StrEnum):
    """How far an erasure has come."""

    ERASING = "erasing"
    SETTLING = "settling"
    """Everything was removed and read back; what was under way then is looked for once more."""
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is erased; `name` is its id, that of a user until the receipt is closed.

    `vaults` are those that go with it: their documents, index and vectors; `vault_names` are what
    the audit log calls them, until the receipt is closed. Calls that began after `named_until`
    name other vaults, which took the names that were free again.
    """

    scope: ErasureScope
    tenant: TenantId
    name: str
    vaults: tuple[VaultId, ...] = ()
    vault_names: tuple[str, ...] = ()
    named_until: datetime | None = None

    @property
    def user(self) -> UserId | None:
        """The user, where one is erased."""
        return UserId(self.name) if self.scope is ErasureScope.USER else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure and its receipt, without anything that names a person once it is done.

    `asked_by` is a pseudonym. `run` counts the walks through all stores: in the first, things are
    removed, each later one reads back, and removes what it finds still. `step` is the store that it
    is at, `cursor` the place in that. `deleted` counts what was removed of each store, `found` what
    the walk that goes on found. `due` is when it goes on.
    """

    id: str
    subject: Subject
    asked_by: str
    asked_role: Role
    asked_at: datetime
    state: ErasureState = ErasureState.ERASING
    run: int = 0
    step: int = 0
    cursor: str = ""
    due: datetime | None = None
    deleted: Mapping[str, int] = field(default_factory=dict[str, int])
    found: Mapping[str, int] = field(default_factory=dict[str, int])
    verified_at: tuple[datetime, ...] = ()
    done_at: datetime | None = None

    @property
    def begins_walk(self) -> bool:
        """Whether it is at the beginning of a walk."""
        return not self.step and not self.cursor

    @property
    def is_complete(self) -> bool:
        """Whether the last walk found nothing."""
        return self.state is ErasureState.DONE and not any(self.found.values())


def pseudonym(tenant: TenantId, user: UserId) -> str:
    """Return what a receipt says instead of a user: who knows the id, can tell whose it is."""
    return hashlib.sha256(f"erasure/{tenant}/{user}".encode()).hexdigest()[:24]


def erasure_message(erasure_id: str) -> str:
    """Return the message of a queue that stands for the work on an erasure."""
    return write_message({"erasure": erasure_id})


def parse_erasure(body: str) -> str:
    """Return the id of the erasure that a message stands for.

    Raises:
        InvalidRequestError: `invalid_request`: it is no such message.

    """
    return read_message(body, lambda message: str(message["erasure"]))
