"""A person's yes or no to a change of an agent, where the tenant asks for one."""

from datetime import datetime
from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from archivolt.domain.limits import MAX_AWAITED_CHANGES
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.ports.confirmations import ProposalState
from archivolt.tools.approvals import AwaitedChange
from archivolt.tools.previews import ShownPreview


class AwaitedChangeBody(BaseModel):
    """A change that an agent proposed."""

    id: str
    program: str = Field(
        description="What the program that proposed it is called: by you, or by itself."
    )
    tool: str
    state: ProposalState
    approved: bool = Field(description="Whether the agent may make it.")
    created_at: datetime
    expires_at: datetime
    preview: ShownPreview

    @classmethod
    def of(cls, awaited: AwaitedChange) -> Self:
        """Return a change as it is shown."""
        return cls(
            id=awaited.id,
            program=awaited.program,
            tool=awaited.tool,
            state=awaited.state,
            approved=awaited.approved,
            created_at=awaited.created_at,
            expires_at=awaited.expires_at,
            preview=ShownPreview.model_validate(awaited.preview),
        )


class AwaitedChanges(BaseModel):
    """Changes that wait for a person's yes."""

    confirmations: list[AwaitedChangeBody] = Field(
        description=f"The newest first, at most {MAX_AWAITED_CHANGES}."
    )


def confirmation_router(services: ServicesOf) -> APIRouter:
    """Return the routes of confirmations."""
    router = APIRouter(tags=["confirmations"])
    _add_seeing(router, services)
    _add_answering(router, services)
    return router


def _add_seeing(router: APIRouter, services: ServicesOf) -> None:
    @router.get(
        "/confirmations",
        summary="List the changes that wait for your yes",
        operation_id="list_confirmations",
    )
    def list_waiting(principal: InteractivePrincipal) -> AwaitedChanges:  # pyright: ignore[reportUnusedFunction]
        """Your own agents' only, with a person's own token."""
        with services().by_hand.doing(principal, "list_confirmations"):
            waiting = services().approvals.waiting(principal)
        return AwaitedChanges(confirmations=[AwaitedChangeBody.of(each) for each in waiting])

    @router.get(
        "/confirmations/{confirmation}",
        summary="See a change that waits for your yes",
        operation_id="show_confirmation",
    )
    def show(principal: InteractivePrincipal, confirmation: str) -> AwaitedChangeBody:  # pyright: ignore[reportUnusedFunction]
        """Your own agents' only, with a person's own token."""
        with services().by_hand.doing(principal, "show_confirmation", confirmation=confirmation):
            return AwaitedChangeBody.of(services().approvals.show(principal, confirmation))


def _add_answering(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/confirmations/{confirmation}/approve",
        summary="Let an agent make a change",
        operation_id="approve_confirmation",
    )
    def approve(principal: InteractivePrincipal, confirmation: str) -> AwaitedChangeBody:  # pyright: ignore[reportUnusedFunction]
        """The agent makes it with its token, once."""
        with services().by_hand.doing(principal, "approve_confirmation", confirmation=confirmation):
            return AwaitedChangeBody.of(services().approvals.approve(principal, confirmation))

    @router.post(
        "/confirmations/{confirmation}/decline",
        summary="Decline a change of an agent",
        operation_id="decline_confirmation",
    )
    def decline(principal: InteractivePrincipal, confirmation: str) -> AwaitedChangeBody:  # pyright: ignore[reportUnusedFunction]
        """It can never be made then."""
        with services().by_hand.doing(principal, "decline_confirmation", confirmation=confirmation):
            return AwaitedChangeBody.of(services().approvals.decline(principal, confirmation))
