"""What a person takes along to who lets them in, and what they bring back (RFC 6749, 7636)."""

import hmac
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from archivolt.domain.errors import ConflictError
from archivolt.domain.federation import McpServer
from archivolt.domain.mcp_accounts import (
    AuthorizationServer,
    McpAccountState,
    McpOAuthClient,
    OAuthRefusedError,
    OAuthWay,
    SignInSecrets,
    joined_scopes,
)
from archivolt.federation.standings import Standing
from archivolt.governance.oauth.tokens import challenge_of

_OFFLINE = "offline_access"
# What would have a request mean something else than its parameters say (RFC 9101), or its answer
# come in another way (OAuth 2.0 Multiple Response Type Encoding Practices).
_OVERRULING = frozenset({"request", "request_uri", "response_mode"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAnswer:
    """What a browser brings back (RFC 6749 §4.1.2, RFC 9207); "" for what it does not."""

    state: str = ""
    code: str = ""
    issuer: str = ""
    error: str = ""


def way_of(server: McpServer, letting: AuthorizationServer, client: McpOAuthClient) -> OAuthWay:
    """Return where tokens for a server come from, and as whom we ask."""
    return OAuthWay(
        server=server.id,
        resource=letting.resource,
        token_endpoint=letting.token_endpoint,
        revocation_endpoint=letting.revocation_endpoint,
        client=client,
    )


def scope_for(server: McpServer, letting: AuthorizationServer, standing: Standing) -> str:
    """Return the scope to ask for: what is had stays, what is lacking comes to it."""
    asked, account = server.oauth.scope or letting.scope, standing.account
    is_elsewhere = standing.state is McpAccountState.MOVED
    if account is None or is_elsewhere or not account.wanted:
        return asked
    return joined_scopes(account.scope, asked, account.wanted)


def address_for(endpoint: str, secrets: SignInSecrets, state: str) -> str:
    """Return the address at which a person signs in.

    Raises:
        ConflictError: `mcp_sign_in_unusable`: it says already what is ours to say.

    """
    parameters = {
        "response_type": "code",
        "client_id": secrets.way.client.id,
        "redirect_uri": secrets.redirect_uri,
        "state": state,
        "code_challenge": challenge_of(secrets.verifier),
        "code_challenge_method": "S256",
        "resource": secrets.way.resource,
    }
    if secrets.scope:
        parameters["scope"] = secrets.scope
    if _OFFLINE in secrets.scope.split():
        # OpenID Connect Core §11: else none is given.
        parameters["prompt"] = "consent"
    named = {name for name, _ in parse_qsl(urlsplit(endpoint).query, keep_blank_values=True)}
    if named & {*parameters, "scope", "prompt", *_OVERRULING}:
        raise ConflictError(
            "mcp_sign_in_unusable", server=secrets.way.server, reason="oauth_address"
        )
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def require_answer_of(secrets: SignInSecrets, server: McpServer, answer: SignInAnswer) -> None:
    """Check that an answer is of whom the person was sent to, and says yes (RFC 9207 §2.4).

    Raises:
        ConflictError: `mcp_sign_in_unusable`, `mcp_sign_in_refused`.

    """
    given = answer.issuer.encode("utf-8", "replace")
    if (answer.issuer or secrets.says_issuer) and not hmac.compare_digest(
        given, secrets.issuer.encode()
    ):
        raise ConflictError("mcp_sign_in_unusable", server=server.id, reason="oauth_issuer")
    if answer.error or not answer.code:
        known = answer.error == "access_denied"
        raise OAuthRefusedError(server.id, "oauth_declined" if known else "oauth_unsaid")
