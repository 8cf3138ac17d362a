"""The audit log as it is exported and checked."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.dynamodb.audit import DynamoAuditLog
    from archivolt.adapters.dynamodb.audit_seals import DynamoAuditSeals
    from archivolt.bootstrap import Container
    from archivolt.governance.audit_check import AuditCheck
    from archivolt.governance.audit_sealing import AuditSealing


class AuditContainer:
    """Builds and keeps its collaborators."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def log(self) -> "DynamoAuditLog":
        """The log with its chain."""
        from archivolt.adapters.dynamodb.audit import DynamoAuditLog

        return DynamoAuditLog(self._on.table("audit_table"))

    @cached_property
    def seals(self) -> "DynamoAuditSeals":
        """What was exported of it."""
        from archivolt.adapters.dynamodb.audit_seals import DynamoAuditSeals
        from archivolt.adapters.s3.objects import Bucket

        bucket = Bucket(self._on.aws.s3, self._on.settings.required("documents_bucket"))
        return DynamoAuditSeals(self._on.table("audit_table"), bucket)

    @cached_property
    def sealing(self) -> "AuditSealing":
        """Exports and seals the days that are over."""
        from archivolt.governance.audit_sealing import AuditSealing

        return AuditSealing(self.log, self.seals, self._on.clock)

    @cached_property
    def check(self) -> "AuditCheck":
        """Tells whether the log is whole and unchanged."""
        from archivolt.governance.audit_check import AuditCheck

        return AuditCheck(self.log, self.seals, self._on.clock)
