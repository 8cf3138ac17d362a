"""A world with an MCP endpoint, reached by the events that API Gateway sends."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from archivolt.domain.identity import TokenKind
from archivolt.entrypoints.mcp.app import McpServices, create_handler
from archivolt.governance.admission import AdmittingVerifier
from archivolt.vaults.files import FileService
from tests.builders import ALICE, BOB, GLOBEX, principal
from tests.entrypoints.mcp_messages import Sent, modern
from tests.entrypoints.rest_api import Answer, LambdaProcess, proxy_event
from tests.fakes.governance import KnownTokens
from tests.world import SIGNING_KEY, World

PUBLIC_URL = "https://vault.example.com"
ISSUER = "https://id.example.com/realm"

SECRET = "AKIA" + "Q4TZ7XW2LMN8PVRS"

Send = Callable[..., Sent]


class BrokenStore:
    """A file store whose every method fails in the same way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., None]:
        def fail(*_: object, **__: object) -> None:
            raise self._error

        return fail


class McpWorld(World):
    """Alice has vaults in Acme; Bob of Acme has none; Carol belongs to another tenant.

    Each token is the user's name. There are two processes: every other call goes to the other.
    """

    def __init__(self, *, per_token: int = 100_000, per_tool: int = 100_000) -> None:
        super().__init__(per_token=per_token, per_tool=per_tool)
        self.signs_in = False
        self.tokens = KnownTokens()
        self.tokens.issue("alice", principal(ALICE))
        self.tokens.issue("bob", principal(BOB))
        self.tokens.issue("carol", principal("carol", tenant=GLOBEX))
        self.tokens.issue("agent", principal(ALICE, kind=TokenKind.MCP))
        self.processes = [LambdaProcess(lambda: create_handler(self.services)) for _ in range(2)]

    def services(self) -> McpServices:
        """What the endpoint stands on."""
        return McpServices(
            token_verifier=AdmittingVerifier(self.tokens, self.admission),
            pipeline=self.pipeline,
            state_key=lambda: SIGNING_KEY,
            public_url=PUBLIC_URL,
            allowed_origins="https://app.example.com",
            issuer=ISSUER,
            signs_in=self.signs_in,
        )

    def break_files(self, error: Exception) -> None:
        """Make every access to a file fail."""
        self.files = FileService(cast("Any", BrokenStore(error)))

    def invoke(self, event: Mapping[str, Any]) -> Answer:
        """Let the process whose turn it is answer an event."""
        self.processes.reverse()
        return self.processes[0].invoke(event)

    def send(
        self,
        sent: Sent,
        headers: Mapping[str, str] | None = None,
        *,
        token: str | None = ALICE,
        **event: Any,  # noqa: ANN401  the arguments of `proxy_event`
    ) -> Answer:
        """Post a message as somebody, and return the answer."""
        authorization = {} if token is None else {"authorization": f"Bearer {token}"}
        every = {**authorization, **sent.headers, **(headers or {})}
        return self.invoke(proxy_event(sent.body, every, **event))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        send: Send = modern,
        token: str = ALICE,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the result of `tools/call`."""
        sent = send("tools/call", {"name": name, "arguments": dict(arguments or {})})
        return self.send(sent, headers, token=token).json["result"]

    def read(self, uri: str, *, send: Send = modern, token: str = ALICE) -> dict[str, Any]:
        """Return the whole JSON-RPC answer of `resources/read`."""
        return self.send(send("resources/read", {"uri": uri}), token=token).json
