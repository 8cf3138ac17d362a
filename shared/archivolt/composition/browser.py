"""What the pages for people and the authorization server stand on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.dynamodb.browser_sessions import DynamoBrowserSessions
    from archivolt.bootstrap import Container
    from archivolt.entrypoints.browser.services import BrowserServices
    from archivolt.governance.oauth.clients import OAuthClients
    from archivolt.governance.sign_in.local import LocalSignIn
    from archivolt.governance.sign_in.upstream import UpstreamSignIn
    from archivolt.governance.throttle import Throttle
    from archivolt.ports.governance import TokenVerifier


def browser_services(on: "Container") -> "BrowserServices":
    """Return the collaborators."""
    from archivolt.adapters.dynamodb.browser_sessions import DynamoBrowserSessions
    from archivolt.composition.identity import connections, greeting_verifier, oauth_tokens
    from archivolt.entrypoints.browser.services import BrowserServices
    from archivolt.governance.sign_in.sessions import BrowserSessions
    from archivolt.governance.throttle import Throttle

    store = DynamoBrowserSessions(on.table("control_table"))
    throttle = Throttle(on.rate_counter, on.clock)
    return BrowserServices(
        public_url=on.settings.public_url,
        token_verifier=on.token_verifier,
        clients=_clients(on),
        tokens=oauth_tokens(on),
        connections=connections(on),
        sessions=BrowserSessions(store, on.clock),
        local=_local(on, store, throttle) if on.settings.is_local else None,
        upstream=_upstream(on) if on.settings.auth_client_id and not on.settings.is_local else None,
        throttle=throttle,
        vaults=on.vaults,
        by_hand=on.tools.by_hand,
        approvals=on.tools.approvals,
        mcp_accounts=lambda: on.tools.federation.accounts,
        admit=on.admission.admit,
        greet=greeting_verifier(on, at_once=True).meet,
    )


def _clients(on: "Container") -> "OAuthClients":
    from functools import cache

    from archivolt.adapters.dynamodb.oauth_clients import DynamoOAuthClients
    from archivolt.governance.oauth.clients import OAuthClients
    from archivolt.ports.oauth import ClientDocuments

    @cache
    def documents() -> ClientDocuments:
        from archivolt.adapters.http.client_documents import HttpClientDocuments

        return HttpClientDocuments()

    return OAuthClients(DynamoOAuthClients(on.table("control_table")), documents, on.clock)


def _local(on: "Container", marks: "DynamoBrowserSessions", throttle: "Throttle") -> "LocalSignIn":
    from archivolt.adapters.dynamodb.local_users import DynamoLocalUsers
    from archivolt.governance.sign_in.local import LocalSignIn

    return LocalSignIn(
        DynamoLocalUsers(on.table("control_table")), marks, _links(on), throttle, on.clock
    )


def _upstream(on: "Container") -> "UpstreamSignIn":
    from archivolt.adapters.oidc.provider import OidcClient, OidcProvider
    from archivolt.composition.identity import verifier_for
    from archivolt.governance.sign_in.upstream import UpstreamSignIn

    client = OidcClient(
        issuer=on.settings.required("auth_issuer"),
        client_id=on.settings.required("auth_client_id"),
        secret=on.settings.auth_client_secret,
        scopes=on.settings.auth_scopes,
    )
    id_tokens = verifier_for(on, client.client_id, client.client_id)
    provider = OidcProvider(client, lambda: on.outbound_client, id_tokens, on.clock)
    return UpstreamSignIn(provider, f"{on.settings.public_url}/oauth/callback")


def _links(on: "Container") -> "TokenVerifier":
    from archivolt.composition.identity import verifier_for
    from archivolt.governance.sign_in.local import LINK_AUDIENCE

    return verifier_for(on, LINK_AUDIENCE, LINK_AUDIENCE)
