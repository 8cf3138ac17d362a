"""What a client asks for when it sends a person to us, held to every rule before anybody sees it.

While client and address are in doubt the person is told and sent nowhere. After that whatever is
wrong is the client's to know: it is answered, with its `state` and our `iss` (RFC 9207).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.oauth import ALL_SCOPES, OAuthClient, OAuthError, OAuthScope
from archivolt.governance.oauth.clients import OAuthClients
from archivolt.governance.oauth.redirects import is_registered, with_parameters

Pairs = Sequence[tuple[str, str]]

# RFC 7636 §4.2: 32 bytes in base64url.
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
# RFC 8707 lets this one come several times.
_REPEATABLE: Final = "resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What is protected, and by whom: both addresses as clients have to write them."""

    public_url: str

    @property
    def issuer(self) -> str:
        """The authorization server."""
        return self.public_url

    @property
    def address(self) -> str:
        """The only resource there is."""
        return f"{self.public_url}/mcp"

    def require(self, asked: Sequence[str]) -> None:
        """Check that a client wants no token for something else; older ones do not say.

        Raises:
            OAuthError: `oauth_resource`.

        """
        if any(address != self.address for address in asked):
            raise OAuthError("oauth_resource", resource=self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A request of a known client. `writes`: whether it asks for more than to read."""

    client: OAuthClient
    redirect_uri: str
    challenge: str
    writes: bool
    state: str | None
    issuer: str

    def answered(self, **parameters: str) -> str:
        """Return where the browser goes with the answer."""
        return _answer(self.redirect_uri, self.state, self.issuer, parameters)


class RefusedToClientError(OAuthError):
    """A request that is the client's to mend; `address` is where the browser goes with that."""

    def __init__(self, error: OAuthError, address: str) -> None:
        super().__init__(error.code, **error.details)
        self.address = address


def read_request(
    parameters: Pairs, clients: OAuthClients, resource: Resource
) -> AuthorizationRequest:
    """Return what is asked for.

    Raises:
        InvalidRequestError: `oauth_client_unknown`, `oauth_redirect_unknown`: nobody to answer to.
        RefusedToClientError: Anything else that is wrong.

    """
    fields = _single(parameters)
    client = clients.find(fields.get("client_id", ""))
    redirect_uri = _redirect_uri(client, parameters)
    state = fields.get("state")
    try:
        _require_single(parameters)
        _require_code_with_pkce(fields)
        resource.require([value for name, value in parameters if name == _REPEATABLE])
        scopes = _scopes(fields.get("scope", ""))
    except OAuthError as error:
        told = {"error": error.error, "error_description": described(error)}
        raise RefusedToClientError(
            error, _answer(redirect_uri, state, resource.issuer, told)
        ) from error
    return AuthorizationRequest(
        client=client,
        redirect_uri=redirect_uri,
        challenge=fields["code_challenge"],
        writes=OAuthScope.WRITE in scopes,
        state=state,
        issuer=resource.issuer,
    )


def described(error: OAuthError) -> str:
    """Return `error_description`: English, in the characters that RFC 6749 §5.2 allows."""
    return re.sub(r'[^\x20-\x7e]|["\\]', "?", str(error).partition(": ")[2])


def _redirect_uri(client: OAuthClient, parameters: Pairs) -> str:
    """Return where the client is answered; left out, the only address it has."""
    asked = [value for name, value in parameters if name == "redirect_uri"]
    if not asked and len(client.redirect_uris) == 1:
        return client.redirect_uris[0]
    if len(asked) != 1 or not is_registered(asked[0], client.redirect_uris):
        raise InvalidRequestError("oauth_redirect_unknown")
    return asked[0]


def _single(parameters: Pairs) -> dict[str, str]:
    """Return each parameter's value; of a repeated one none, so that nothing is built on it."""
    names = [name for name, _ in parameters]
    return {name: value for name, value in parameters if value and names.count(name) == 1}


def _require_single(parameters: Pairs) -> None:
    names = [name for name, _ in parameters if name != _REPEATABLE]
    for name in names:
        if names.count(name) > 1:
            raise OAuthError("oauth_repeated", name=name[:40])


def _require_code_with_pkce(fields: Mapping[str, str]) -> None:
    if fields.get("response_type") != "code":
        raise OAuthError("oauth_response_type")
    is_s256 = fields.get("code_challenge_method") == "S256"
    if not is_s256 or not _CHALLENGE.fullmatch(fields.get("code_challenge", "")):
        raise OAuthError("oauth_pkce")


def _scopes(asked: str) -> frozenset[OAuthScope]:
    """Return the scopes asked for that we know, all for none: a person reduces them as they like.

    Raises:
        OAuthError: `oauth_scope`: we know none of them.

    """
    wanted = asked.split()
    known = frozenset(scope for scope in ALL_SCOPES if scope in wanted)
    if wanted and not known:
        raise OAuthError("oauth_scope", scopes=" ".join(ALL_SCOPES))
    return known or frozenset(ALL_SCOPES)


def _answer(
    redirect_uri: str, state: str | None, issuer: str, parameters: Mapping[str, str]
) -> str:
    stated = {} if state is None else {"state": state}
    return with_parameters(redirect_uri, {**parameters, **stated, "iss": issuer})
