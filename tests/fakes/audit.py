"""An audit log without entries, and one that was never sealed."""

from collections.abc import Iterator, Sequence
from datetime import date

from archivolt.domain.audit import ChainHead, DaySeal, KeptEntry
from archivolt.domain.identity import TenantId


class EmptyAuditChain:
    """An `AuditChain` without entries."""

    def tenants(self) -> Sequence[TenantId]:
        return []

    def heads(self, tenant: TenantId) -> Sequence[ChainHead]:
        return []

    def entries(self, tenant: TenantId, day: date) -> Iterator[KeptEntry]:
        return iter([])


class NoAuditSeals:
    """An `AuditSeals` of a log that was never sealed."""

    def seals(self, tenant: TenantId) -> Sequence[DaySeal]:
        return []

    def keep(self, tenant: TenantId, seal: DaySeal, content: bytes) -> None:
        raise NotImplementedError

    def tenants(self) -> Sequence[TenantId]:
        return []

    def exported_days(self, tenant: TenantId) -> Sequence[date]:
        return []

    def content(self, tenant: TenantId, day: date) -> bytes | None:
        raise NotImplementedError

    def exported_seal(self, tenant: TenantId, day: date) -> DaySeal | None:
        raise NotImplementedError
