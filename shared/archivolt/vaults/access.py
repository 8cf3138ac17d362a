"""Vaults and who may do what in them (decision 2).

Every question is asked for one caller: a vault they are no member of does not exist for them,
whatever their role in the tenant. `VaultAccess` is the proof of membership that the other services
of this package ask for.
"""

import unicodedata
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from archivolt.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, UserId, user_id
from archivolt.domain.ingestion import membership_job
from archivolt.domain.limits import MAX_VAULT_NAME_CHARS
from archivolt.domain.paths import name_problem
from archivolt.domain.vault import Vault, VaultAccess, VaultId, VaultRef, VaultRole, vault_name
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.ingestion import EmbeddingQueue
from archivolt.ports.vaults import VaultDirectory
from archivolt.retrieval.reach import ReachableVaults

# A request that changes a membership has ended by then, one way or the other.
_SETTLED: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSummary:
    """A vault in the caller's list; `files` counts what the index knows of."""

    name: str
    role: VaultRole
    files: int
    ai_destructive_tools: bool


class VaultService:
    """Lists, creates and shares vaults.

    Args:
        directory: Where vaults and members are recorded.
        catalogue: What the index knows.
        clock: The time.
        queue: Where the work waits that follows when somebody joins or leaves: their collection of
            vectors is filled or emptied. None: nobody keeps vectors.

    """

    def __init__(
        self,
        directory: VaultDirectory,
        catalogue: Catalogue,
        clock: Clock,
        *,
        queue: Callable[[], EmbeddingQueue] | None = None,
    ) -> None:
        self._directory = directory
        self._reachable = ReachableVaults(directory)
        self._catalogue = catalogue
        self._clock = clock
        self._queue = queue

    def access(self, principal: Principal, name: str) -> VaultAccess:
        """Return the caller's access to a vault.

        Raises:
            NotFoundError: `vault_not_found`: there is none of that name, or it is not theirs.

        """
        normal = unicodedata.normalize("NFC", name)
        if name_problem(normal) or len(normal) > MAX_VAULT_NAME_CHARS:
            raise NotFoundError("vault_not_found", vault=name[:MAX_VAULT_NAME_CHARS])
        return self._reachable.access(principal, normal)

    def accessible(self, principal: Principal) -> list[VaultAccess]:
        """Return the caller's vaults by name."""
        return self._reachable.accessible(principal)

    def summaries(self, principal: Principal) -> list[VaultSummary]:
        """Return the caller's vaults by name, with what is in them."""
        return self._summaries(self.accessible(principal))

    def create(self, principal: Principal, name: str) -> VaultSummary:
        """Create an empty vault that the caller owns.

        Raises:
            InvalidRequestError: `invalid_vault_name`.
            ConflictError: `vault_exists`.

        """
        vault = Vault(
            ref=VaultRef(tenant=principal.tenant, id=VaultId(uuid.uuid4().hex)),
            name=vault_name(name),
            created_at=self._clock.now(),
        )
        self._directory.create(vault, owner=principal.user)
        return self._summary(VaultAccess(vault=vault, user=principal.user, role=VaultRole.OWNER))

    def allow_destructive_tools(
        self, principal: Principal, name: str, *, allowed: bool
    ) -> VaultSummary:
        """Let agents rename, move, replace and delete in a vault, or not; only an owner may.

        Raises:
            NotFoundError: `vault_not_found`.
            ForbiddenError: `owner_required`.

        """
        self._directory.set_destructive_tools(self._owned(principal, name), allowed=allowed)
        return self._summary(self.access(principal, name))

    def members(self, principal: Principal, name: str) -> list[tuple[UserId, VaultRole]]:
        """Return who shares a vault, owners first, each by user id; every member may know.

        Raises:
            NotFoundError: `vault_not_found`.

        """
        found = self._directory.members(self.access(principal, name).vault.ref)
        return sorted(found, key=lambda member: member[1] is not VaultRole.OWNER)

    def set_member(self, principal: Principal, name: str, user: str, role: VaultRole) -> UserId:
        """Add a member or change a member's role; only an owner may.

        Raises:
            NotFoundError: `vault_not_found`.
            ForbiddenError: `owner_required`.
            InvalidRequestError: `invalid_request`: not a user id.
            ConflictError: `last_owner`: the only owner would become less.

        """
        ref = self._owned(principal, name)
        member = _member(user)
        self._tell_the_index_later(ref, member)
        self._directory.set_member(ref, member, role, now=self._clock.now())
        self._tell_the_index(ref, member)
        return member

    def remove_member(self, principal: Principal, name: str, user: str) -> None:
        """Remove a member; only an owner may.

        Raises:
            NotFoundError: `vault_not_found` or `member_not_found`.
            ForbiddenError: `owner_required`.
            InvalidRequestError: `invalid_request`: not a user id.
            ConflictError: `last_owner`.

        """
        ref = self._owned(principal, name)
        member = _member(user)
        self._tell_the_index_later(ref, member)
        try:
            self._directory.remove_member(ref, member)
        except (NotFoundError, UnavailableError):
            # They may be gone, and the index not told of it: now, or when this was asked before.
            self._tell_the_index(ref, member)
            raise
        self._tell_the_index(ref, member)

    def _tell_the_index_later(self, ref: VaultRef, member: UserId) -> None:
        """Have the index look at a membership that is about to change, should we die before."""
        if self._queue is not None:
            self._queue().send_later([membership_job(ref, member)], after=_SETTLED)

    def _tell_the_index(self, ref: VaultRef, member: UserId) -> None:
        if self._queue is not None:
            self._queue().send([membership_job(ref, member)])

    def _owned(self, principal: Principal, name: str) -> VaultRef:
        access = self.access(principal, name)
        if access.role is not VaultRole.OWNER:
            raise ForbiddenError("owner_required", vault=access.vault.name)
        return access.vault.ref

    def _summary(self, access: VaultAccess) -> VaultSummary:
        return self._summaries([access])[0]

    def _summaries(self, accesses: Sequence[VaultAccess]) -> list[VaultSummary]:
        documents = self._catalogue.documents([access.vault.ref for access in accesses])
        return [
            VaultSummary(
                name=access.vault.name,
                role=access.role,
                files=documents[access.vault.ref],
                ai_destructive_tools=access.vault.ai_destructive_tools,
            )
            for access in accesses
        ]


def _member(raw: str) -> UserId:
    try:
        return user_id(raw)
    except UnauthenticatedError as error:
        raise InvalidRequestError("invalid_request", problem="user_unreadable") from error
