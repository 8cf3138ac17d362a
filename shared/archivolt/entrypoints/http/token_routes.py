"""A person's own tokens for programs."""

from datetime import date, datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from archivolt.domain.display import on_one_line
from archivolt.domain.identity import Principal, TokenReach
from archivolt.domain.limits import (
    DEFAULT_TOKEN_DAYS,
    MAX_TOKEN_DAYS,
    MAX_TOKEN_NAME_CHARS,
    MAX_TOKEN_VAULTS,
)
from archivolt.domain.personal_tokens import PersonalToken
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import RestServices, ServicesOf
from archivolt.governance.personal_tokens import WantedToken


def _readable(name: object) -> object:
    return on_one_line(name) if isinstance(name, str) else name


Name = Annotated[
    str, BeforeValidator(_readable), Field(min_length=1, max_length=MAX_TOKEN_NAME_CHARS)
]


class NewToken(BaseModel):
    """A token to make."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    read_only: bool = Field(description="Whether it refuses every change.")
    vaults: list[str] | None = Field(
        default=None,
        max_length=MAX_TOKEN_VAULTS,
        description="The only vaults it reaches; left out, all of yours, also those to come.",
    )
    expires_in_days: int = Field(default=DEFAULT_TOKEN_DAYS, ge=1, le=MAX_TOKEN_DAYS)


class TokenInList(BaseModel):
    """A token as it is shown: never the token itself."""

    id: str
    name: str
    user: str
    fingerprint: str = Field(description="The end of the token, to tell it from others.")
    read_only: bool
    vaults: list[str] | None = Field(
        description="Names of those that you reach too; null for all vaults of its owner."
    )
    created_at: datetime
    expires_at: datetime
    last_used: date | None = Field(description="The day of the last use; null before the first.")

    @classmethod
    def of(cls, token: PersonalToken, names: dict[str, str]) -> Self:
        """Return what may be shown; `names` are those of vaults, by id."""
        vaults = token.reach.vaults
        known = None if vaults is None else sorted(names[each] for each in vaults & names.keys())
        return cls(
            id=token.id,
            name=token.name,
            user=token.user,
            fingerprint=token.fingerprint,
            read_only=token.reach.read_only,
            vaults=known,
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used=token.last_used,
        )


class MadeToken(TokenInList):
    """A new token; keep it now, it is not shown again."""

    token: str


class TokenList(BaseModel):
    """Tokens, by user, the newest first."""

    tokens: list[TokenInList]


def token_router(services: ServicesOf) -> APIRouter:
    """Return the routes of personal access tokens."""
    router = APIRouter(tags=["tokens"])
    _add_making(router, services)
    _add_the_rest(router, services)
    return router


def _add_making(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/tokens", status_code=201, summary="Make a token for a program", operation_id="make_token"
    )
    def make_token(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, body: NewToken, response: Response
    ) -> MadeToken:
        """It acts for you, as far as you let it. The answer is the only one that shows it."""
        with services().by_hand.doing(principal, "make_token", name=body.name):
            wanted = WantedToken(
                name=body.name, reach=_reach(services(), principal, body), days=body.expires_in_days
            )
            token, text = services().tokens.create(principal, wanted)
        response.headers["Cache-Control"] = "no-store"
        shown = TokenInList.of(token, _names(services(), principal))
        return MadeToken(**shown.model_dump(), token=text)


def _add_the_rest(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/tokens", summary="List tokens of programs", operation_id="list_tokens")
    def list_tokens(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal,
        everybody: Annotated[
            bool, Query(description="Those of the whole tenant, for its administrators.")
        ] = False,
    ) -> TokenList:
        """Your own, the newest first."""
        with services().by_hand.doing(principal, "list_tokens", everybody=everybody):
            tokens = services().tokens
            found = tokens.of_tenant(principal) if everybody else tokens.own(principal)
            names = _names(services(), principal)
        return TokenList(tokens=[TokenInList.of(token, names) for token in found])

    @router.delete(
        "/tokens/{token_id}", status_code=204, summary="Revoke a token", operation_id="revoke_token"
    )
    def revoke_token(principal: InteractivePrincipal, token_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """It ends at once; an administrator may end those of the tenant's users."""
        with services().by_hand.doing(principal, "revoke_token", token=token_id):
            services().tokens.revoke(principal, token_id)
        return Response(status_code=204)


def _reach(services: RestServices, principal: Principal, body: NewToken) -> TokenReach:
    if body.vaults is None:
        return TokenReach(read_only=body.read_only)
    ids = [services.vaults.access(principal, name).vault.ref.id for name in body.vaults]
    return TokenReach(read_only=body.read_only, vaults=frozenset(ids))


def _names(services: RestServices, principal: Principal) -> dict[str, str]:
    found = services.vaults.accessible(principal)
    return {access.vault.ref.id: access.vault.name for access in found}
