"""What the pages and the endpoints of the authorization server stand on."""

from collections.abc import Callable
from dataclasses import dataclass

from archivolt.domain.identity import Principal
from archivolt.federation.accounts import McpAccounts
from archivolt.governance.oauth.clients import OAuthClients
from archivolt.governance.oauth.connections import Connections
from archivolt.governance.oauth.requests import Resource
from archivolt.governance.oauth.tokens import OAuthTokens
from archivolt.governance.sign_in.local import LocalSignIn
from archivolt.governance.sign_in.sessions import BrowserSessions
from archivolt.governance.sign_in.upstream import UpstreamSignIn
from archivolt.governance.throttle import Throttle
from archivolt.ports.governance import TokenVerifier
from archivolt.tools.approvals import ApprovalService
from archivolt.tools.by_hand import ByHand
from archivolt.vaults.access import VaultService


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserServices:
    """The collaborators; `public_url` has no final slash.

    People sign in by `local`, on one machine, or by `upstream`; what they do not is None.
    `admit` turns away whoever may not come in; `greet` is told of who signed in, and never fails.
    """

    public_url: str
    token_verifier: TokenVerifier
    clients: OAuthClients
    tokens: OAuthTokens
    connections: Connections
    sessions: BrowserSessions
    local: LocalSignIn | None
    upstream: UpstreamSignIn | None
    throttle: Throttle
    vaults: VaultService
    by_hand: ByHand
    approvals: ApprovalService
    mcp_accounts: Callable[[], McpAccounts]
    admit: Callable[[Principal], None]
    greet: Callable[[Principal], None]

    @property
    def signs_in(self) -> bool:
        """Whether people can sign in at all."""
        return bool(self.public_url and (self.local or self.upstream))

    @property
    def resource(self) -> Resource:
        """What programs are let in to."""
        return Resource(public_url=self.public_url)

    def address(self, path: str) -> str:
        """Return one of our addresses in full."""
        return f"{self.public_url}{path}"


BrowserServicesOf = Callable[[], BrowserServices]
"""Gives the services when a request needs them."""
