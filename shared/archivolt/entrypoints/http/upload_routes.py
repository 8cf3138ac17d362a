"""Uploads that go straight to the store, and how far changes of many files are."""

from collections.abc import Mapping
from datetime import datetime
from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.paths import resolve_path
from archivolt.entrypoints.http.authentication import CurrentPrincipal, InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.ports.operations import Operation, OperationKind
from archivolt.tools.redaction import redacted


class NewUpload(BaseModel):
    """The body of `POST /vault/{vault}/uploads`."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description="Path of the new file inside the vault.")
    size: int = Field(ge=0, description="Its exact size in bytes.")
    content_type: str = Field(default="", description="Its media type; left out, by its name.")


class Upload(BaseModel):
    """How to upload a file: send it as the body of one request, with exactly these headers."""

    path: str
    url: str = Field(description="Whoever has it can upload this one file; keep it to yourself.")
    method: str
    headers: dict[str, str]
    expires_at: datetime


class OperationState(BaseModel):
    """A change of many files."""

    id: str
    kind: OperationKind
    user: str
    started_at: datetime
    updated_at: datetime
    done: int
    total: int
    finished: bool
    parameters: Mapping[str, str] = Field(description="What it is about, such as the paths.")

    @classmethod
    def of(cls, operation: Operation) -> Self:
        """Return an operation as members of its vault see it."""
        return cls(
            id=operation.id,
            kind=operation.kind,
            user=operation.user,
            started_at=operation.started_at,
            updated_at=operation.updated_at,
            done=operation.done,
            total=operation.total,
            finished=operation.finished,
            parameters=redacted(dict(operation.parameters)),
        )


class Operations(BaseModel):
    """The changes of many files in a vault, the newest first."""

    vault: str
    operations: list[OperationState]


def upload_router(services: ServicesOf) -> APIRouter:
    """Return the routes of uploads and of changes of many files."""
    router = APIRouter(tags=["files"])
    _add_uploads(router, services)
    _add_operations(router, services)
    return router


def _add_uploads(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/vault/{vault}/uploads",
        status_code=201,
        summary="Upload a large or binary file",
        operation_id="begin_upload",
    )
    def begin_upload(principal: InteractivePrincipal, vault: str, body: NewUpload) -> Upload:  # pyright: ignore[reportUnusedFunction]
        """Gives the request that sends the file; one that exists is never overwritten."""
        with services().by_hand.doing(
            principal, "begin_upload", vault=vault, path=body.path, size=body.size
        ):
            access = services().vaults.access(principal, vault)
            path = resolve_path(body.path)
            form = services().uploads.begin(
                access, path, size=body.size, content_type=body.content_type
            )
        return Upload(
            path=path,
            url=form.url,
            method=form.method,
            headers=form.headers,
            expires_at=form.expires_at,
        )


def _add_operations(router: APIRouter, services: ServicesOf) -> None:
    @router.get(
        "/vault/{vault}/operations",
        summary="See how far changes of many files are",
        operation_id="list_operations",
    )
    def list_operations(principal: CurrentPrincipal, vault: str) -> Operations:  # pyright: ignore[reportUnusedFunction]
        """Unfinished ones go on with the next call of the same change, or by themselves."""
        with services().by_hand.doing(
            principal, "list_operations", vault=vault, surface=surface_of(principal)
        ):
            access = services().vaults.access(principal, vault)
            found = services().operations.operations(access.vault.ref)
        shown = [OperationState.of(operation) for operation in found]
        return Operations(vault=access.vault.name, operations=shown)
