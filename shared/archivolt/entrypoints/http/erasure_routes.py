"""Erasing a vault, a user, a tenant; and the receipts (S21, S22)."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from archivolt.domain.erasure import Erasure, ErasureScope, ErasureState
from archivolt.domain.identity import Role
from archivolt.domain.retention_limits import MAX_RECEIPTS
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf

Confirm = Annotated[
    str,
    Query(
        max_length=128,
        description="The name of what goes, once more: this cannot be undone.",
    ),
]

After = Annotated[str, Query(max_length=128, description="`next_after` of a page.")]
Conversations = Annotated[
    bool, Query(description="Those of conversations, in the place of all others.")
]


class StoreBody(BaseModel):
    """What was removed of one store."""

    store: str
    deleted: int = Field(
        description="Things removed: items, versions, points; of the audit log, entries whose names"
        " were taken out."
    )
    found: int = Field(description="Of these, by the latest walk; a last one that finds nothing"
                       " has read back that nothing is left.")  # fmt: skip


class ReceiptBody(BaseModel):
    """The receipt of an erasure; it names nobody."""

    id: str
    scope: ErasureScope
    subject: str = Field(
        description="The id of what was erased, of a user a digest once it is done."
    )
    state: ErasureState
    complete: bool = Field(description="Whether a last walk through every store found nothing.")
    asked_by: str = Field(description="A digest: who asked can tell that it is theirs.")
    asked_role: Role
    asked_at: datetime
    due: datetime | None = Field(description="When it is read back for the last time.")
    stores: list[StoreBody]
    verified_at: list[datetime] = Field(description="When every store was read back, and empty.")
    done_at: datetime | None

    @classmethod
    def of(cls, erasure: Erasure) -> Self:
        """Return an erasure as it is shown."""
        return cls(
            id=erasure.id,
            scope=erasure.subject.scope,
            subject=erasure.subject.name,
            state=erasure.state,
            complete=erasure.is_complete,
            asked_by=erasure.asked_by,
            asked_role=erasure.asked_role,
            asked_at=erasure.asked_at,
            due=erasure.due,
            stores=[
                StoreBody(store=store, deleted=deleted, found=erasure.found.get(store, 0))
                for store, deleted in erasure.deleted.items()
            ],
            verified_at=list(erasure.verified_at),
            done_at=erasure.done_at,
        )


class Receipts(BaseModel):
    """One page of erasures, the newest first."""

    erasures: list[ReceiptBody] = Field(
        description="Those of the page that you may see: fewer than its limit, or none."
    )
    next_after: str | None = Field(description="Give it back as `after`; null on the last page.")


def erasure_router(services: ServicesOf) -> APIRouter:
    """Return the routes of erasures."""
    router = APIRouter(tags=["erasure"])
    _add_vaults(router, services)
    _add_people(router, services)
    _add_receipts(router, services)
    return router


def _add_vaults(router: APIRouter, services: ServicesOf) -> None:
    @router.delete(
        "/vaults/{vault}",
        status_code=202,
        summary="Delete a vault for good",
        operation_id="delete_vault",
    )
    def delete_vault(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, vault: str, confirm: Confirm, response: Response
    ) -> ReceiptBody:
        """Its documents, all their versions, its index and its vectors; only an owner may.

        It is out of everybody's reach at once, and the rest follows in the background.
        """
        with services().by_hand.doing(principal, "delete_vault", vault=vault):
            access = services().vaults.access(principal, vault)
            begun = services().erasures.erase_vault(principal, access, confirm=confirm)
        return _begun(response, begun)

    @router.delete(
        "/tenants/{tenant}",
        status_code=202,
        summary="Delete a tenant for good",
        operation_id="delete_tenant",
    )
    def delete_tenant(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, tenant: str, confirm: Confirm, response: Response
    ) -> ReceiptBody:
        """Everything that is held of it. Nobody of it comes in; its id is taken for ever."""
        with services().by_hand.administering(principal, "delete_tenant", tenant=tenant):
            begun = services().erasures.erase_tenant(principal, tenant, confirm=confirm)
        return _begun(response, begun)


def _add_people(router: APIRouter, services: ServicesOf) -> None:
    @router.delete(
        "/me", status_code=202, summary="Delete yourself for good", operation_id="delete_me"
    )
    def delete_me(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, confirm: Confirm, response: Response
    ) -> ReceiptBody:
        """Your conversations, runs, skills, settings, tokens, usage, vectors and own vaults.

        `confirm` is your user id. Documents that you wrote in vaults of others stay. Take what is
        held of you home first: `GET /chat/export`.
        """
        with services().by_hand.doing(principal, "delete_me"):
            begun = services().erasures.erase_user(principal, principal.user, confirm=confirm)
        return _begun(response, begun)

    @router.delete(
        "/users/{user}",
        status_code=202,
        summary="Delete a user of your tenant for good",
        operation_id="delete_user",
    )
    def delete_user(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, user: str, confirm: Confirm, response: Response
    ) -> ReceiptBody:
        """As they could themselves. Nobody owns a vault of others alone and is deleted."""
        with services().by_hand.administering(principal, "delete_user", user=user):
            begun = services().erasures.erase_user(principal, user, confirm=confirm)
        return _begun(response, begun)


def _add_receipts(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/erasures", summary="List receipts of erasures", operation_id="list_erasures")
    def list_erasures(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal,
        limit: Annotated[int, Query(ge=1, le=MAX_RECEIPTS)] = MAX_RECEIPTS,
        after: After = "",
        conversations: Conversations = False,
    ) -> Receipts:
        """Of what you asked for yourself, or for an administrator of the whole tenant."""
        with services().by_hand.doing(principal, "list_erasures"):
            found, next_after = services().erasures.receipts(
                principal, limit=limit, after=after, conversations=conversations
            )
        return Receipts(erasures=[ReceiptBody.of(each) for each in found], next_after=next_after)

    @router.get(
        "/erasures/{erasure}", summary="See the receipt of an erasure", operation_id="show_erasure"
    )
    def show_erasure(principal: InteractivePrincipal, erasure: str) -> ReceiptBody:  # pyright: ignore[reportUnusedFunction]
        """How far it is, what was removed of each store, and whether reading back found nothing."""
        with services().by_hand.doing(principal, "show_erasure"):
            return ReceiptBody.of(services().erasures.receipt(principal, erasure))


def _begun(response: Response, erasure: Erasure) -> ReceiptBody:
    response.headers["Location"] = f"/api/v1/erasures/{erasure.id}"
    return ReceiptBody.of(erasure)
