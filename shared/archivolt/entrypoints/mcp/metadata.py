"""What a client without a token looks for: the protected resource, and who gives tokens for it.

Served to everybody, with the addresses that the deployment's setting says, whatever a request says.
"""

from collections.abc import Iterator
from typing import Any, Final

from archivolt.domain.oauth import ALL_SCOPES

WELL_KNOWN: Final = "/.well-known"
_RESOURCE: Final = f"{WELL_KNOWN}/oauth-protected-resource"
RESOURCE_PATH: Final = f"{_RESOURCE}/mcp"
# RFC 8414 §3 and OpenID Connect Discovery §4: clients try one or the other, with our path or not.
_SERVER_PATHS: Final = tuple(
    f"{WELL_KNOWN}/{name}{path}"
    for name in ("oauth-authorization-server", "openid-configuration")
    for path in ("", "/mcp")
)

Document = dict[str, Any]


def documents(public_url: str, issuer: str, *, signs_in: bool) -> Iterator[tuple[str, Document]]:
    """Yield each document and its path.

    `signs_in`: whether our own authorization server gives tokens; else `issuer` may.
    """
    if not public_url:
        return
    resource = protected_resource(public_url, issuer, signs_in=signs_in)
    yield _RESOURCE, resource
    yield RESOURCE_PATH, resource
    if signs_in:
        server = authorization_server(public_url)
        for path in _SERVER_PATHS:
            yield path, server


def protected_resource(public_url: str, issuer: str, *, signs_in: bool) -> Document:
    """Return the protected-resource metadata (RFC 9728 §2).

    An issuer that is no web address (the local stack's) is not announced: no client could ask it.
    """
    document: Document = {
        "resource": f"{public_url}/mcp",
        "resource_name": "Archivolt",
        "bearer_methods_supported": ["header"],
    }
    if signs_in:
        document["authorization_servers"] = [public_url]
        document["scopes_supported"] = list(ALL_SCOPES)
    elif issuer.startswith("https://"):
        document["authorization_servers"] = [issuer]
    return document


def authorization_server(public_url: str) -> Document:
    """Return the authorization-server metadata (RFC 8414 §2)."""
    return {
        "issuer": public_url,
        "authorization_endpoint": f"{public_url}/oauth/authorize",
        "token_endpoint": f"{public_url}/oauth/token",
        "registration_endpoint": f"{public_url}/oauth/register",
        "revocation_endpoint": f"{public_url}/oauth/revoke",
        "scopes_supported": list(ALL_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
