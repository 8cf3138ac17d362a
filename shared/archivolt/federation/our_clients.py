"""As whom we ask to let people in: registered by an administrator, described, or by ourselves.

In the order of MCP: what is registered beforehand, then the address of a document about us, then a
registration of our own, which is made once and kept (RFC 7591). A secret that an administrator gave
goes to whom it went first: who else is named later gets it when it is given again.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ConflictError
from archivolt.domain.federation import McpServer
from archivolt.domain.federation_limits import (
    MCP_CLIENT_SECONDS,
    MCP_NEW_CLIENT_SECONDS,
    MCP_SIGN_IN_SECONDS,
)
from archivolt.domain.identity import TenantId
from archivolt.domain.mcp_accounts import (
    AuthorizationServer,
    KeptClient,
    McpOAuthClient,
    OAuthRefusedError,
    OAuthWay,
    Registration,
    client_field,
)
from archivolt.federation.access import SignInPages
from archivolt.federation.targets import place_of
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox
from archivolt.ports.mcp_accounts import AuthorizationServers, McpAccountStore

_BASIC = "client_secret_basic"
_POST = "client_secret_post"
_PUBLIC = "none"


class OurClients:
    """Finds who we are to an authorization server.

    Args:
        store: Keeps what we registered.
        secrets: Seals what they gave us.
        servers: Register us.
        pages: Where we are described, and where people come back to.
        clock: The time.

    """

    def __init__(
        self,
        store: McpAccountStore,
        secrets: Callable[[], SecretBox],
        servers: Callable[[], AuthorizationServers],
        pages: SignInPages,
        clock: Clock,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._servers = servers
        self._pages = pages
        self._clock = clock

    def of(
        self,
        tenant: TenantId,
        server: McpServer,
        letting: AuthorizationServer,
        redirect_uri: str,
        deadline: Deadline,
    ) -> McpOAuthClient:
        """Return the client as which somebody is let in.

        Raises:
            ConflictError: `mcp_client_needed`: an administrator has to register one;
                `mcp_sign_in_refused`: we are not registered; `mcp_sign_in_unusable`: the secret
                was given for another.
            UnavailableError: `mcp_server_unavailable`, `secret_unreadable`.

        """
        field = client_field(server.id)
        if server.oauth.id:
            secret = server.oauth.sealed
            if secret:
                self._require_first(tenant, server, letting)
            opened = self._secrets().open(secret, tenant=tenant, field=field) if secret else ""
            return McpOAuthClient(
                id=server.oauth.id, secret=opened, method=_method(letting, secret=bool(opened))
            )
        document = self._pages.document(server)
        if letting.reads_documents and document:
            return McpOAuthClient(id=document)
        kept = self._store.client(tenant, server.id)
        if kept is not None and self._is_good(kept, server, letting):
            self._lend(tenant, kept)
            secret = kept.sealed
            opened = self._secrets().open(secret, tenant=tenant, field=field) if secret else ""
            return McpOAuthClient(id=kept.id, secret=opened, method=kept.method)
        if not letting.registration_endpoint:
            raise ConflictError("mcp_client_needed", server=server.id, address=redirect_uri)
        registration = self._registered(server, letting, redirect_uri, deadline)
        self._keep(tenant, server, letting, registration)
        return registration.client

    def _require_first(
        self, tenant: TenantId, server: McpServer, letting: AuthorizationServer
    ) -> None:
        """Hold the secret that an administrator gave to whom it is sent to first.

        What is kept of that names the sealed secret: another one is another gift.
        """
        first = KeptClient(
            server=server.id,
            place=place_of(server),
            issuer=" ".join(_takers(letting)),
            id=server.oauth.id,
            sealed=server.oauth.sealed,
            method="",
            good_until=self._clock.now(),
        )
        kept = self._store.client(tenant, server.id)
        if kept is None or (kept.id, kept.sealed) != (first.id, first.sealed):
            self._store.keep_client(tenant, first)
            return
        issuer, *hosts = kept.issuer.split(" ")
        taker, *ends = _takers(letting)
        if (issuer, hosts) == (taker, ends[:1]):
            # Kept before endpoints for revocation counted.
            self._store.keep_client(tenant, first)
        elif issuer != taker or not set(ends) <= set(hosts):
            raise ConflictError("mcp_sign_in_unusable", server=server.id, reason="oauth_issuer")

    def _lend(self, tenant: TenantId, kept: KeptClient) -> None:
        """Use a client for a while: if nobody comes back, it may not be known there any more."""
        good_until = self._until(MCP_NEW_CLIENT_SECONDS, kept.ends_at)
        if kept.good_until > good_until:
            self._store.keep_client(tenant, replace(kept, good_until=good_until))

    def proved(self, tenant: TenantId, server: McpServer, client: McpOAuthClient) -> None:
        """Take note that somebody was let in as a client: it is known there, and stays so."""
        kept = self._store.client(tenant, server.id)
        if kept is not None and kept.id == client.id:
            good_until = self._until(MCP_CLIENT_SECONDS, kept.ends_at)
            self._store.keep_client(tenant, replace(kept, good_until=good_until))

    def refused(
        self, tenant: TenantId, server: McpServer, client: McpOAuthClient, error: OAuthRefusedError
    ) -> None:
        """Take note of a refusal: a client that is not known there is registered anew."""
        kept = self._store.client(tenant, server.id)
        unknown = error.error in {"invalid_client", "unauthorized_client"}
        if kept is not None and kept.id == client.id and unknown:
            self._store.keep_client(tenant, replace(kept, good_until=self._clock.now()))

    def _is_good(self, kept: KeptClient, server: McpServer, letting: AuthorizationServer) -> bool:
        same = (kept.place, kept.issuer) == (place_of(server), letting.issuer)
        return same and kept.good_until > self._clock.now()

    def _registered(
        self,
        server: McpServer,
        letting: AuthorizationServer,
        redirect_uri: str,
        deadline: Deadline,
    ) -> Registration:
        wished = McpOAuthClient(id="", method=_method(letting, secret=False))
        way = OAuthWay(
            server=server.id,
            resource=letting.resource,
            token_endpoint=letting.token_endpoint,
            revocation_endpoint=letting.revocation_endpoint,
            client=wished,
        )
        endpoint = letting.registration_endpoint
        return self._servers().register(way, endpoint, redirect_uri, deadline)

    def _keep(
        self,
        tenant: TenantId,
        server: McpServer,
        letting: AuthorizationServer,
        registration: Registration,
    ) -> None:
        client = registration.client
        field, secret = client_field(server.id), client.secret
        sealed = self._secrets().seal(secret, tenant=tenant, field=field) if secret else ""
        self._store.keep_client(
            tenant,
            KeptClient(
                server=server.id,
                place=place_of(server),
                issuer=letting.issuer,
                id=client.id,
                sealed=sealed,
                method=client.method,
                good_until=self._until(MCP_NEW_CLIENT_SECONDS, registration.ends_at),
                ends_at=registration.ends_at,
            ),
        )

    def _until(self, seconds: int, ends_at: datetime | None) -> datetime:
        # Who goes to sign in has to be back before it ends.
        until = self._clock.now() + timedelta(seconds=seconds)
        return min(until, ends_at - timedelta(seconds=MCP_SIGN_IN_SECONDS)) if ends_at else until


def _takers(letting: AuthorizationServer) -> list[str]:
    """Return who is shown the secret of a client: an issuer, and the hosts of its two endpoints.

    Where nothing can be revoked, the host for tokens stands for both.
    """
    token = letting.token_endpoint
    ends = map(urlsplit, (token, letting.revocation_endpoint or token))
    return [letting.issuer, *(f"{end.scheme}://{end.netloc}" for end in ends)]


def _method(letting: AuthorizationServer, *, secret: bool) -> str:
    """Return how a client is shown to be one; Basic is what is meant where nothing is said."""
    if not secret and (not letting.auth_methods or _PUBLIC in letting.auth_methods):
        return _PUBLIC
    return _POST if letting.auth_methods and _BASIC not in letting.auth_methods else _BASIC
