"""Who a token speaks for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.jwt.keys import KeySource
    from archivolt.bootstrap import Container
    from archivolt.governance.admission import EarlyVerifier
    from archivolt.governance.first_requests import FirstRequests
    from archivolt.governance.oauth.connections import Connections
    from archivolt.governance.oauth.tokens import OAuthTokens
    from archivolt.governance.program_tokens import ProgramTokens
    from archivolt.governance.token_verifiers import TokenVerifiers
    from archivolt.ports.governance import TokenVerifier
    from archivolt.ports.oauth import OAuthGrantStore
    from archivolt.ports.personal_tokens import PersonalTokenStore


def token_verifier(on: "Container", *, notes_use: bool) -> "TokenVerifiers":
    """Return the verifier of every token; `notes_use`: whether the use of one may be written."""
    from functools import cache

    from archivolt.governance.token_verifiers import TokenVerifiers

    provider = _identity_provider(on)

    @cache
    def personal() -> "TokenVerifier":
        from archivolt.governance.token_verifiers import PersonalTokenVerifier

        return PersonalTokenVerifier(personal_tokens(on), on.clock, notes_use=notes_use)

    @cache
    def granted() -> "TokenVerifier":
        return oauth_tokens(on)

    return TokenVerifiers(lambda: provider, personal=personal, granted=granted)


def greeting_verifier(on: "Container", *, at_once: bool) -> "FirstRequests":
    """Return the verifier of a function that people reach; `at_once` as in `Welcome`."""
    from archivolt.governance.admission import AdmittingVerifier
    from archivolt.governance.first_requests import FirstRequests

    return FirstRequests(
        AdmittingVerifier(token_verifier(on, notes_use=True), on.admission),
        lambda principal: on.index.sync.welcome(at_once=at_once).greet(principal),
    )


def early_verifier(on: "Container") -> "EarlyVerifier":
    """Return the verifier of messages, whose turns let their callers in."""
    from archivolt.governance.admission import EarlyVerifier

    whole = on.token_verifier
    return EarlyVerifier(
        whole,
        token_verifier(on, notes_use=True),
        lambda principal: whole.has_met(principal) and on.admission.was_welcome(principal),
    )


def personal_tokens(on: "Container") -> "PersonalTokenStore":
    """Return where personal access tokens are kept."""
    from archivolt.adapters.dynamodb.personal_tokens import DynamoPersonalTokens

    return DynamoPersonalTokens(on.table("control_table"))


def oauth_tokens(on: "Container") -> "OAuthTokens":
    """Return what gives, renews, ends and verifies the tokens of our authorization server."""
    from archivolt.governance.oauth.tokens import OAuthTokens

    return OAuthTokens(oauth_grants(on), on.clock, on.admission.require)


def program_tokens(on: "Container") -> "ProgramTokens":
    """Return what tells whether the token of a program is still good."""
    from archivolt.governance.program_tokens import ProgramTokens

    return ProgramTokens(lambda: personal_tokens(on), lambda: oauth_grants(on), on.clock)


def connections(on: "Container") -> "Connections":
    """Return what people let in."""
    from archivolt.composition.tenancy import tenant_directory
    from archivolt.governance.oauth.connections import Connections

    return Connections(oauth_grants(on), on.clock, tenant_directory(on))


def oauth_grants(on: "Container") -> "OAuthGrantStore":
    """Return where what people let in is kept."""
    from archivolt.adapters.dynamodb.oauth_grants import DynamoOAuthGrants

    return DynamoOAuthGrants(on.table("control_table"))


def _identity_provider(on: "Container") -> "TokenVerifier":
    return verifier_for(on, on.settings.required("auth_audience"), f"{on.settings.public_url}/mcp")


def verifier_for(on: "Container", audience: str, mcp_audience: str) -> "TokenVerifier":
    """Return the verifier of the identity provider's tokens for these audiences."""
    from archivolt.adapters.jwt.verifier import JwtVerifier, TokenRules

    rules = TokenRules(
        issuer=on.settings.required("auth_issuer"),
        audience=audience,
        mcp_audience=mcp_audience,
        tenant_claim=on.settings.auth_tenant_claim,
        role_claim=on.settings.auth_role_claim,
    )
    return JwtVerifier(_token_keys(on), rules, on.clock)


def _token_keys(on: "Container") -> "KeySource":
    if on.settings.auth_jwks_url:
        from archivolt.adapters.http.documents import read_json
        from archivolt.adapters.jwt.jwks import JwksKeys

        url = on.settings.auth_jwks_url
        return JwksKeys(lambda: read_json(on.outbound_client, url), on.clock)
    from archivolt.adapters.jwt.keys import LocalKey

    return LocalKey(on.settings.required("auth_local_key"))
