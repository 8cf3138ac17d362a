"""Bringing the index of one user's vaults, or of one vault, up to date in the background."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from archivolt.domain.identity import TenantId, UserId, tenant_id, user_id
from archivolt.domain.queue_messages import read_message, write_message
from archivolt.domain.vault import VaultId


class SyncStart(StrEnum):
    """What a request for a synchronisation led to."""

    STARTED = "started"
    ALREADY_RUNNING = "already_running"


class SyncKind(StrEnum):
    """What a synchronisation is for."""

    ASKED = "asked"
    """A user's vaults, once at a time for each user (R23)."""
    FIRST = "first"
    """A new user's personal vault, which it makes if need be (R24)."""
    REBUILD = "rebuild"
    """One vault, whose index is to be made anew."""
    TENANT = "tenant"
    """Every vault of a tenant: what kept documents from their vectors was mended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncJob:
    """A synchronisation, or what is left of it.

    `lease` names the right to run one that was asked for; the other kinds need none. `vault`
    narrows it to one vault, `reach` to those that the asking token reaches. It goes on with the
    vault `at`, in the order of ids; "" means the first. `runs` counts how often it ran out of time.
    """

    tenant: TenantId
    user: UserId
    kind: SyncKind = SyncKind.ASKED
    lease: str = ""
    vault: VaultId | None = None
    reach: frozenset[str] | None = None
    at: str = ""
    runs: int = 0


def sync_message(job: SyncJob) -> str:
    """Return the message of a queue that stands for a job."""
    return write_message(
        {
            "tenant": job.tenant,
            "user": job.user,
            "kind": job.kind.value,
            "lease": job.lease,
            "vault": job.vault,
            "reach": None if job.reach is None else sorted(job.reach),
            "at": job.at,
            "runs": job.runs,
        }
    )


def parse_sync(body: str) -> SyncJob:
    """Return the job that a message stands for.

    Raises:
        InvalidRequestError: `invalid_request`: it is no such message.

    """
    return read_message(body, _job)


def _job(message: dict[str, Any]) -> SyncJob:
    vault, reach = message["vault"], message["reach"]
    return SyncJob(
        tenant=tenant_id(message["tenant"]),
        user=user_id(message["user"]),
        # Messages of the release before say nothing of it.
        kind=SyncKind(message.get("kind", SyncKind.ASKED)),
        lease=str(message["lease"]),
        vault=None if vault is None else VaultId(str(vault)),
        reach=None if reach is None else frozenset(map(str, reach)),
        at=str(message["at"]),
        runs=int(message["runs"]),
    )
