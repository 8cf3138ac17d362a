"""OAuth in front of MCP, over fakes: a client that registered, and the steps of its flow."""

import hashlib
from base64 import urlsafe_b64encode
from urllib.parse import parse_qsl, urlsplit

from archivolt.domain.identity import FULL_REACH, Role, TokenReach
from archivolt.domain.oauth import OAuthClient, Person
from archivolt.governance.oauth.clients import OAuthClients
from archivolt.governance.oauth.requests import AuthorizationRequest, Pairs, Resource, read_request
from archivolt.governance.oauth.tokens import CodeExchange, OAuthTokens, TokenPair
from tests.builders import ACME, ALICE
from tests.fakes.clock import FrozenClock
from tests.fakes.oauth import InMemoryOAuthClients, InMemoryOAuthGrants, ScriptedDocuments

PUBLIC_URL = "https://vault.example.com"
RESOURCE = Resource(public_url=PUBLIC_URL)
VERIFIER = "v" * 64
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
REDIRECT = "http://127.0.0.1:7777/callback"
PERSON = Person(tenant=ACME, user=ALICE, role=Role.DEVOPS)


class OAuthWorld:
    """The authorization server without its pages."""

    def __init__(
        self, clock: FrozenClock | None = None, grants: InMemoryOAuthGrants | None = None
    ) -> None:
        self.clock = clock or FrozenClock()
        self.documents = ScriptedDocuments()
        self.client_store = InMemoryOAuthClients()
        self.grants = grants or InMemoryOAuthGrants()
        self.clients = OAuthClients(self.client_store, lambda: self.documents, self.clock)
        self.tokens = OAuthTokens(self.grants, self.clock)
        self.client = self.registered()

    def registered(self, *redirect_uris: str, name: str = "A client") -> OAuthClient:
        """Return a new client."""
        uris = list(redirect_uris) or [REDIRECT]
        return self.clients.register({"client_name": name, "redirect_uris": uris})

    def parameters(self, **changed: str | None) -> Pairs:
        """Return what a client sends with a person; None leaves a parameter out."""
        usual: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client.id,
            "redirect_uri": self.client.redirect_uris[0],
            "state": "s t&te=1",
            "scope": "vaults:read vaults:write",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": f"{PUBLIC_URL}/mcp",
        }
        return [(name, value) for name, value in (usual | changed).items() if value is not None]

    def request(self, **changed: str | None) -> AuthorizationRequest:
        """Return an authorization request that breaks no rule."""
        return read_request(self.parameters(**changed), self.clients, RESOURCE)

    def code(self, reach: TokenReach = FULL_REACH, person: Person = PERSON) -> str:
        """Return the code for what a person agreed to."""
        return answer_in(self.tokens.agree(person, self.request(), reach))["code"]

    def exchange(self, code: str, **changed: str) -> TokenPair:
        """Return the tokens for a code."""
        usual = {"client_id": self.client.id, "redirect_uri": REDIRECT, "verifier": VERIFIER}
        return self.tokens.exchange(CodeExchange(code=code, **(usual | changed)))

    def pair(self, reach: TokenReach = FULL_REACH, person: Person = PERSON) -> TokenPair:
        """Return the tokens for what a person agreed to."""
        return self.exchange(self.code(reach, person))

    def renew(self, token: str) -> TokenPair:
        """Return new tokens."""
        return self.tokens.renew(token, self.client.id)


def answer_in(address: str) -> dict[str, str]:
    """Return the parameters of the address to which a browser is sent."""
    return dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
