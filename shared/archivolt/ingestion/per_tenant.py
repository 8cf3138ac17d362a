"""A batch worked off tenant by tenant, each part by what is bound to that tenant alone (R4).

What a worker of one tenant may touch is its tenant's, whatever a message says: one that cannot be
made, or that is refused, fails its own tenant's part and no other.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from archivolt.domain.identity import TenantId
from archivolt.domain.ingestion import BatchOutcome
from archivolt.observability import failure, logger

TimeLeft = Callable[[], timedelta]
M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)


class BatchWorker(Protocol[M_contra]):
    """Works off messages by their ids."""

    def run(self, messages: Mapping[str, M_contra], /, *, time_left: TimeLeft) -> BatchOutcome:
        """Work off the messages and name those that have to come again."""
        ...


class TenantBatches(Generic[M]):
    """A `BatchWorker` that gives each tenant's messages to a worker of that tenant.

    Args:
        parts: Returns what of a message is for which tenant.
        worker_of: Returns the worker of a tenant.

    """

    def __init__(
        self,
        parts: Callable[[M], Iterable[tuple[TenantId, M]]],
        worker_of: Callable[[TenantId], BatchWorker[M]],
    ) -> None:
        self._parts = parts
        self._worker_of = worker_of

    def run(self, messages: Mapping[str, M], /, *, time_left: TimeLeft) -> BatchOutcome:
        """Work off the messages and name those that have to come again."""
        by_tenant: dict[TenantId, dict[str, M]] = {}
        for message_id, message in messages.items():
            for tenant, part in self._parts(message):
                by_tenant.setdefault(tenant, {})[message_id] = part
        failed: list[str] = []
        for tenant, part in by_tenant.items():
            try:
                failed += self._worker_of(tenant).run(part, time_left=time_left).failed
            except Exception as error:  # noqa: BLE001  one tenant's trouble is not another's
                told = {"tenant": tenant, "messages": len(part)}
                logger.error("a tenant's part of a batch failed", extra=told | failure(error))
                failed += part
        return BatchOutcome(failed=list(dict.fromkeys(failed)))
