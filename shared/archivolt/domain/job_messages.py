"""How an embedding job is written into a message of its queue, and read from it."""

from typing import Any

from archivolt.domain.identity import tenant_id, user_id
from archivolt.domain.ingestion import EmbeddingJob, Generation
from archivolt.domain.paths import resolve_directory
from archivolt.domain.queue_messages import read_message, write_message
from archivolt.domain.vault import VaultId, VaultRef


def job_message(job: EmbeddingJob) -> str:
    """Return the message that stands for a job."""
    return write_message(
        {
            "tenant": job.vault.tenant,
            "vault": job.vault.id,
            "path": job.path,
            "generation": job.generation,
            "bulk": job.bulk,
            "users": job.users,
        }
    )


def parse_job(body: str) -> EmbeddingJob:
    """Return the job that a message stands for.

    Raises:
        InvalidRequestError: `invalid_request`: it is no such message.

    """
    return read_message(body, _job)


def _job(message: dict[str, Any]) -> EmbeddingJob:
    return EmbeddingJob(
        vault=VaultRef(tenant=tenant_id(message["tenant"]), id=VaultId(str(message["vault"]))),
        path=resolve_directory(str(message["path"])),
        generation=Generation(str(message["generation"])),
        bulk=bool(message["bulk"]),
        users=tuple(user_id(user) for user in message["users"]),
    )
