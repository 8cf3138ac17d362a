"""People of two tenants in front of the tools function, as API Gateway puts them there."""

import base64
import copy
import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote

from mangum import Mangum

from archivolt.adapters.models.table import ModelTable
from archivolt.chat.key_tests import KeyTests
from archivolt.chat.model_choices import ModelChoices
from archivolt.chat.providers import ModelSelector
from archivolt.domain.erasure import Erasure
from archivolt.domain.identity import Role, TokenKind
from archivolt.domain.vault import VaultRef
from archivolt.entrypoints.http.services import RestServices
from archivolt.entrypoints.http.tools_app import create_handler
from archivolt.federation.servers import McpServers
from archivolt.governance.admission import AdmittingVerifier
from archivolt.governance.audit import AuditService
from archivolt.governance.erasure import Erasures, ErasureSupport
from archivolt.governance.erasure_doors import ErasureDoors
from archivolt.governance.metered_models import MeteredModels
from archivolt.governance.oauth.connections import Connections
from archivolt.governance.oauth.tokens import OAuthTokens
from archivolt.governance.own_settings import OwnSettings
from archivolt.governance.personal_tokens import PersonalTokens
from archivolt.governance.settings import SettingsService
from archivolt.governance.tenants import Tenants
from archivolt.governance.token_verifiers import PersonalTokenVerifier, TokenVerifiers
from archivolt.governance.webhook_delivery import WebhookPost
from archivolt.governance.webhooks import Webhooks
from archivolt.ports.governance import TokenVerifier
from archivolt.tools.by_hand import ByHand
from archivolt.tools.catalogue.own_hand import hand_tools
from archivolt.tools.hand_changes import ChangesByHand
from archivolt.vaults.index_state import IndexReports
from archivolt.vaults.uploads import UploadService
from tests.builders import ALICE, BOB, GLOBEX, principal
from tests.entrypoints.rest_api import EVENTS, Answer, LambdaProcess
from tests.fakes.governance import KnownTokens, ReversibleBox
from tests.fakes.ledger import unbounded_meter
from tests.fakes.models import ScriptedModels
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.world import World

GOLDEN: dict[str, Any] = json.loads((EVENTS / "rest_api_get_tools.json").read_text())
PEOPLE = {
    "alice": principal(ALICE),
    "bob": principal(BOB),
    "mallory": principal("mallory", tenant=GLOBEX),
    "alice-of-globex": principal(ALICE, tenant=GLOBEX),
    "operator": principal("operator", role=Role.DEVOPS),
    "admin": principal("admin", role=Role.TENANT_ADMIN),
    "root": principal("root", role=Role.CPI_ADMIN),
    "alices-agent": principal(ALICE, kind=TokenKind.MCP),
    "admins-agent": principal("admin", role=Role.TENANT_ADMIN, kind=TokenKind.MCP),
}


def rest_services(
    world: World,
    tokens: TokenVerifier,
    allowed_origins: str = "",
    personal_tokens: InMemoryPersonalTokens | None = None,
    grants: InMemoryOAuthGrants | None = None,
) -> RestServices:
    """Return what the tools function stands on, over a world."""
    store = personal_tokens or InMemoryPersonalTokens()
    kept_grants = grants or InMemoryOAuthGrants()
    by_hand = ByHand(world.rate_limit, world.audit, world.clock)
    return RestServices(
        token_verifier=tokens,
        pipeline=world.pipeline,
        by_hand=by_hand,
        changes=ChangesByHand(hand_tools(), world, by_hand, world.operations),
        uploads=UploadService(world.store),
        operations=world.operations,
        vaults=world.vaults,
        files=world.files,
        index=IndexReports(world.catalogue, world.runs),
        rebuilds=world.rebuilds,
        tenant_settings=SettingsService(world.tenant_settings, ReversibleBox(), world.tenants),
        tenants=Tenants(
            world.tenants,
            world.admission,
            world.clock,
            tokens=lambda: store,
            grants=lambda: kept_grants,
            vaults=world.directory,
        ),
        own_settings=OwnSettings(world.user_settings, world.human),
        audit=AuditService(world.audit, world.clock),
        tokens=PersonalTokens(lambda: store, world.clock, world.tenants),
        connections=Connections(kept_grants, world.clock, world.tenants),
        approvals=world.approvals,
        erasures=erasures_of(world),
        key_tests=lambda: KeyTests(world.tenant_settings, ReversibleBox, lambda: world.key_check),
        model_choices=lambda: ModelChoices(
            ModelSelector(
                world.tenant_settings,
                ReversibleBox(),
                MeteredModels(ScriptedModels(), unbounded_meter()),
                ModelTable(),
            ),
            ModelTable(),
        ),
        mcp_servers=McpServers(
            world.mcp_servers,
            ReversibleBox,
            world.mcp_accounts.access,
            lambda: world.mcp_accounts.store,
            lambda: world.mcp_client,
            world.clock,
            programs=True,
        ),
        mcp_accounts=lambda: world.mcp_accounts.accounts,
        webhooks=lambda: webhooks_of(world),
        allowed_origins=allowed_origins,
    )


def webhooks_of(world: World) -> Webhooks:
    """Return what an administrator does with webhooks; one host may be called without TLS."""
    post = WebhookPost(world.webhooks, ReversibleBox, lambda: world.receiver, world.clock)
    return Webhooks(
        world.webhooks,
        ReversibleBox,
        post,
        world.clock,
        may_be_plain=lambda host, port: (host, port) == ("127.0.0.1", 8000),
    )


def erasures_of(world: World) -> Erasures:
    """Return where people of a world have something erased; the work is left to the queue."""

    def withdraw(erasure: Erasure) -> None:
        subject = erasure.subject
        for vault in subject.vaults:
            world.directory.forget(VaultRef(tenant=subject.tenant, id=vault))

    return Erasures(
        ErasureSupport(
            records=world.erasures,
            queue=world.erasure_queue,
            doors=ErasureDoors(world.tenants, world.clock),
            people=world.tenants,
            vaults=world.directory,
            withdraw=withdraw,
            clock=world.clock,
        )
    )


# Making the application takes longer than most tests: every world lends it its services.
_SERVING: dict[str, RestServices] = {}


@cache
def _handler() -> Mangum:
    return create_handler(lambda: _SERVING["now"])


class RestWorld(World):
    """The tools function over fakes, in one warm process."""

    def __init__(
        self, *, per_token: int = 600, per_tool: int = 300, per_tenant: int = 6_000
    ) -> None:
        super().__init__(per_token=per_token, per_tool=per_tool, per_tenant=per_tenant)
        self.personal_tokens = InMemoryPersonalTokens()
        self.grants = InMemoryOAuthGrants()
        people = KnownTokens(dict(PEOPLE))
        programs = PersonalTokenVerifier(self.personal_tokens, self.clock)
        tokens = TokenVerifiers(
            lambda: people,
            personal=lambda: programs,
            granted=lambda: OAuthTokens(self.grants, self.clock),
        )
        self._services = rest_services(
            self,
            AdmittingVerifier(tokens, self.admission),
            "https://app.example",
            self.personal_tokens,
            self.grants,
        )
        self._process = LambdaProcess(_handler)

    def get(self, url: str, *, user: str = "alice", **headers: str) -> Answer:
        """Return the answer to a GET."""
        return self.send("GET", url, user=user, **headers)

    def post(self, url: str, body: object, *, user: str = "alice", **headers: str) -> Answer:
        """Return the answer to a POST of JSON."""
        return self.send("POST", url, body, user=user, **headers)

    def send(
        self, method: str, url: str, body: object = None, *, user: str = "alice", **headers: str
    ) -> Answer:
        """Return the answer to a request; `url` is percent-encoded, as a client sends it.

        `user` is somebody of `PEOPLE`, or empty for a request without a token.
        """
        lines = {name.replace("_", "-"): value for name, value in headers.items()}
        if user:
            lines["Authorization"] = f"Bearer {user}"
        if body is not None:
            lines.setdefault("Content-Type", "application/json")
        return self.invoke(event_of(method, url, body, lines))

    def invoke(self, event: Mapping[str, Any]) -> Answer:
        """Return the answer to an event of API Gateway."""
        _SERVING["now"] = self._services
        return self._process.invoke(event)


def event_of(method: str, url: str, body: object, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the golden event with another request in it.

    As a REST API does, the path is left encoded, query parameters are decoded, and, as every media
    type is binary, bodies are in base64.
    """
    event = copy.deepcopy(GOLDEN)
    path, _, query = url.partition("?")
    multiple: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        multiple.setdefault(name, []).append(value)
    lines: dict[str, list[str]] = event["multiValueHeaders"]
    del lines["Authorization"], lines["Accept-Language"]
    lines.update({name: [value] for name, value in headers.items()})
    event["headers"] = {name: values[-1] for name, values in lines.items()}
    event.update(path=path, httpMethod=method)
    event["pathParameters"] = {"proxy": path.removeprefix("/api/v1/")}
    event["requestContext"].update(path=f"/live{path}", httpMethod=method)
    event["multiValueQueryStringParameters"] = multiple or None
    event["queryStringParameters"] = {n: v[-1] for n, v in multiple.items()} or None
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        event.update(body=base64.b64encode(data).decode(), isBase64Encoded=True)
    return event


def part(text: str) -> str:
    """Return text as one part of an address."""
    return quote(text, safe="")
