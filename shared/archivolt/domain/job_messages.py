"""How an embedding job is written into a message of its queue, and read from it."""

import json
from typing import Any, Final, cast

from archivolt.domain.errors import ArchivoltError, InvalidRequestError
from archivolt.domain.identity import tenant_id, user_id
from archivolt.domain.ingestion import EmbeddingJob, Generation
from archivolt.domain.paths import resolve_directory
from archivolt.domain.vault import VaultId, VaultRef

_VERSION: Final = 1


def job_message(job: EmbeddingJob) -> str:
    """Return the message that stands for a job."""
    message = {
        "version": _VERSION,
        "tenant": job.vault.tenant,
        "vault": job.vault.id,
        "path": job.path,
        "generation": job.generation,
        "bulk": job.bulk,
        "users": job.users,
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def parse_job(body: str) -> EmbeddingJob:
    """Return the job that a message stands for.

    Raises:
        InvalidRequestError: `invalid_request`: it is no such message.

    """
    try:
        return _job(cast("dict[str, Any]", json.loads(body)))
    except (ArchivoltError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidRequestError("invalid_request", problem="job_unreadable") from error


def _job(message: dict[str, Any]) -> EmbeddingJob:
    if message["version"] != _VERSION:
        raise ValueError
    return EmbeddingJob(
        vault=VaultRef(tenant=tenant_id(message["tenant"]), id=VaultId(str(message["vault"]))),
        path=resolve_directory(str(message["path"])),
        generation=Generation(str(message["generation"])),
        bulk=bool(message["bulk"]),
        users=tuple(user_id(user) for user in message["users"]),
    )
