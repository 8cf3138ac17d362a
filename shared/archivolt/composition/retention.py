"""What removes data: by age, and by request."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.dynamodb.erasures import DynamoErasures
    from archivolt.adapters.erasure.all_stores import ErasedPlaces
    from archivolt.bootstrap import Container
    from archivolt.composition.audit import AuditContainer
    from archivolt.governance.conversation_receipts import ConversationReceipts
    from archivolt.governance.erasing import ErasureWorker
    from archivolt.governance.erasure import Erasures
    from archivolt.governance.erasure_doors import ErasureDoors
    from archivolt.governance.lost_calls import LostCalls
    from archivolt.governance.retention import RetentionSweep
    from archivolt.ports.erasure import AgedExports, ErasureQueue


class RetentionContainer:
    """Builds and keeps its collaborators."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def sweep(self) -> "RetentionSweep":
        """Purges the conversations that are over age."""
        from archivolt.adapters.dynamodb.conversation_ages import (
            DynamoConversationAges,
            DynamoSweepPlace,
        )
        from archivolt.governance.retention import RetentionSweep

        return RetentionSweep(
            DynamoConversationAges(self._on.table("conversations_table"), self._on.clock),
            self._on.tenant_settings,
            DynamoSweepPlace(self._on.table("control_table")),
            self._on.clock,
        )

    @cached_property
    def lost_calls(self) -> "LostCalls":
        """Ends the reservations that nobody ended in time."""
        from archivolt.composition.metering import meter_of
        from archivolt.composition.tenancy import tenant_directory
        from archivolt.governance.lost_calls import LostCalls

        return LostCalls(meter_of(self._on), tenant_directory(self._on))

    @cached_property
    def audit(self) -> "AuditContainer":
        """The audit log as it is exported and checked."""
        from archivolt.composition.audit import AuditContainer

        return AuditContainer(self._on)

    @cached_property
    def aged_exports(self) -> "AgedExports":
        """What was exported of the audit log, by its age."""
        from archivolt.adapters.erasure.old_exports import OldExports
        from archivolt.adapters.s3.objects import Bucket

        bucket = Bucket(self._on.aws.s3, self._on.settings.required("documents_bucket"))
        return OldExports(bucket)

    @cached_property
    def erasures(self) -> "Erasures":
        """Where people have something erased."""
        from archivolt.adapters.erasure.all_stores import withdrawal
        from archivolt.composition.tenancy import tenant_directory
        from archivolt.governance.erasure import Erasures, ErasureSupport

        return Erasures(
            ErasureSupport(
                records=self.erasure_records,
                queue=self._erasure_queue,
                doors=self._doors,
                people=tenant_directory(self._on),
                vaults=self._on.vault_directory,
                withdraw=withdrawal(self._erased_places, self.erasure_records),
                clock=self._on.clock,
            )
        )

    @cached_property
    def erasing(self) -> "ErasureWorker":
        """What carries erasures out."""
        from datetime import timedelta

        from archivolt.adapters.erasure.all_stores import erasers_of
        from archivolt.governance.erased_vaults import ErasedVaults
        from archivolt.governance.erasing import ErasureWorker

        return ErasureWorker(
            self.erasure_records,
            erasers_of(self._erased_places, self.erasure_records, self._on.clock),
            self._erasure_queue,
            doors=self._doors,
            vaults=ErasedVaults(self.erasure_records, self._on.vault_directory),
            clock=self._on.clock,
            settle=timedelta(seconds=self._on.settings.erasure_settle_seconds),
        )

    @cached_property
    def conversation_receipts(self) -> "ConversationReceipts":
        """Receipts of conversations, which go at once."""
        from archivolt.governance.conversation_receipts import ConversationReceipts

        return ConversationReceipts(self.erasure_records, self._on.clock)

    @cached_property
    def erasure_records(self) -> "DynamoErasures":
        """Where erasures are noted."""
        from archivolt.adapters.dynamodb.erasures import DynamoErasures

        return DynamoErasures(self._on.table("control_table"))

    @cached_property
    def _erasure_queue(self) -> "ErasureQueue":
        from archivolt.adapters.sqs.erasure_queue import SqsErasureQueue

        return SqsErasureQueue(self._on.aws.sqs, self._on.settings.required("erasure_queue_url"))

    @cached_property
    def _doors(self) -> "ErasureDoors":
        from archivolt.composition.tenancy import tenant_directory
        from archivolt.governance.erasure_doors import ErasureDoors

        return ErasureDoors(tenant_directory(self._on), self._on.clock)

    @cached_property
    def _erased_places(self) -> "ErasedPlaces":
        from archivolt.adapters.erasure.all_stores import ErasedPlaces
        from archivolt.adapters.s3.objects import Bucket

        names = ("control", "conversations", "confirmations", "ledger", "catalogue", "audit")
        group = self._on.settings.agent_schedule_group
        return ErasedPlaces(
            tables={name: self._on.table(f"{name}_table") for name in names},
            bucket=Bucket(self._on.aws.s3, self._on.settings.required("documents_bucket")),
            vectors=lambda: self._on.index.vector_server,
            timers=(self._on.aws.scheduler, group) if group else None,
        )
