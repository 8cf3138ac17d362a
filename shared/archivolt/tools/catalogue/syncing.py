"""Bringing the index up to date on request (R23)."""

from pydantic import Field

from archivolt.domain.sync import SyncStart
from archivolt.tools.catalogue.parameters import AnyVault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut


class SyncDocuments(ToolInput):
    """Arguments of `sync_documents`."""

    vault: AnyVault = None


class SyncAnswer(ToolOutput):
    """Result of `sync_documents`."""

    status: SyncStart = Field(
        description="started: it runs in the background; already_running: yours runs, wait for it."
    )


@tool(
    description="""Have the index compared with the documents and brought up to date, in the
    background; it answers at once. No document is changed. It is seldom needed: changes are indexed
    by themselves. Use it when a document that exists is not found.""",
    cut=Cut(field="status"),
)
def sync_documents(context: ToolContext, arguments: SyncDocuments) -> SyncAnswer:
    """Start a synchronisation of the caller's vaults, or of one."""
    del arguments
    caller = context.principal
    vault = context.vault.vault.ref.id if context.vault else None
    sync, reach = context.services.sync, caller.reach.vaults
    return SyncAnswer(status=sync.request(caller.tenant, caller.user, vault, reach=reach))
