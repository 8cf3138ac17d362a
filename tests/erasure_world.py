"""Two tenants with something in every store, and the erasure of what is theirs."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from archivolt.adapters.dynamodb.audit import DynamoAuditLog
from archivolt.adapters.dynamodb.browser_sessions import DynamoBrowserSessions
from archivolt.adapters.dynamodb.catalogue import DynamoCatalogue
from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.erasures import DynamoErasures
from archivolt.adapters.dynamodb.index_runs import DynamoIndexRuns
from archivolt.adapters.dynamodb.ledger import DynamoLedger
from archivolt.adapters.dynamodb.local_users import DynamoLocalUsers
from archivolt.adapters.dynamodb.mcp_accounts import DynamoMcpAccounts
from archivolt.adapters.dynamodb.mcp_servers import DynamoMcpServers
from archivolt.adapters.dynamodb.oauth_grants import DynamoOAuthGrants
from archivolt.adapters.dynamodb.operations import DynamoOperations
from archivolt.adapters.dynamodb.personal_tokens import DynamoPersonalTokens
from archivolt.adapters.dynamodb.rates import DynamoRateCounter
from archivolt.adapters.dynamodb.runs import DynamoRuns
from archivolt.adapters.dynamodb.schedules import DynamoSchedules
from archivolt.adapters.dynamodb.skills import DynamoSkills
from archivolt.adapters.dynamodb.sync_leases import DynamoSyncLeases
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.tenant_settings import DynamoTenantSettings
from archivolt.adapters.dynamodb.tenants import DynamoTenants
from archivolt.adapters.dynamodb.user_settings import DynamoUserSettings
from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory
from archivolt.adapters.dynamodb.vector_places import DynamoVectorPlaces
from archivolt.adapters.dynamodb.webhooks import DynamoWebhooks
from archivolt.adapters.erasure.all_stores import ErasedPlaces, erasers_of, withdrawal
from archivolt.adapters.erasure.inventory import FOLDERS
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.adapters.s3.files import S3Files
from archivolt.adapters.s3.objects import Bucket
from archivolt.adapters.s3.shards import S3Shards
from archivolt.adapters.s3.vector_cache import S3VectorCache
from archivolt.adapters.scheduler.timer import EventBridgeTimer, TimerPlaces
from archivolt.domain.audit import AuditEntry
from archivolt.domain.conversation import Author, ToolCallRecord, WaitingTurn
from archivolt.domain.federation import McpServer
from archivolt.domain.identity import FULL_REACH, Principal, Role, TenantId, UserId
from archivolt.domain.ingestion import (
    CatalogueEntry,
    Generation,
    IndexState,
    Passage,
    sequencer,
)
from archivolt.domain.oauth import (
    AccessDigest,
    AuthorizationCode,
    BrowserSession,
    LocalUser,
    OAuthGrant,
    Person,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.personal_tokens import PersonalToken
from archivolt.domain.run import Run, RunEvent, RunId
from archivolt.domain.settings import TenantSettings
from archivolt.domain.skill import Skill
from archivolt.domain.tenancy import Standing, TenantUser
from archivolt.domain.usage import Budgets, Reservation, Tokens
from archivolt.domain.vault import Vault, VaultRef, VaultRole
from archivolt.domain.webhook import Webhook
from archivolt.governance.erased_vaults import ErasedVaults
from archivolt.governance.erasing import ErasureWorker
from archivolt.governance.erasure import Erasures, ErasureSupport
from archivolt.governance.erasure_doors import ErasureDoors
from archivolt.ports.confirmations import Proposal, ProposalState
from archivolt.ports.operations import Operation, OperationKind
from archivolt.ports.retrieval import EmbeddedDocument
from tests.account_world import a_kept_client, a_pending_sign_in, an_account, connected
from tests.builders import a_conversation, a_message, a_schedule, principal
from tests.fakes.clock import START, FrozenClock
from tests.fakes.erasures import InMemoryErasureQueue
from tests.fakes.schedules import TimersInMemory

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

NewTable = Callable[[str], DynamoTable]
TABLES = ("Control", "Conversations", "Confirmations", "Ledger", "Catalogue", "Audit")
NOTE = VaultPath("Été/note.md")
PLENTY = timedelta(hours=1)
# The longest that a queue holds a message back is less than it takes to settle.
_MESSAGES = 5


class ErasureWorld:
    """Every store that holds something of somebody, under the adapters of the product."""

    def __init__(
        self,
        new_table: NewTable,
        bucket: "tuple[S3Client, str]",
        vectors: QdrantRest,
        *,
        settle: timedelta = timedelta(minutes=20),
    ) -> None:
        self.clock = FrozenClock()
        self.tables = {name.lower(): new_table(f"{name}Table") for name in TABLES}
        self.bucket = Bucket(*bucket)
        self.server = vectors
        control, catalogue = self.tables["control"], self.tables["catalogue"]
        self.directory = DynamoVaultDirectory(control)
        self.people = DynamoTenants(control)
        self.files = S3Files(*self.bucket, self.clock)
        self.catalogue = DynamoCatalogue(catalogue, self.clock)
        self.conversations = DynamoConversations(self.tables["conversations"])
        self.audit = DynamoAuditLog(self.tables["audit"])
        self.skills = DynamoSkills(control)
        self.records = DynamoErasures(control)
        self.queue = InMemoryErasureQueue()
        self.vectors = QdrantVectors(vectors, model="toy/1", dimension=2)
        self.timers = TimersInMemory()
        self.timer = EventBridgeTimer(self.timers, TimerPlaces(group="runs"))
        places = ErasedPlaces(
            tables=self.tables,
            bucket=self.bucket,
            vectors=lambda: vectors,
            timers=(self.timers, "runs"),
            audit_days=3,
        )
        doors = ErasureDoors(self.people, self.clock)
        self.worker = ErasureWorker(
            self.records,
            erasers_of(places, self.records, self.clock),
            self.queue,
            doors=doors,
            vaults=ErasedVaults(self.records, self.directory),
            clock=self.clock,
            settle=settle,
        )
        self.erasures = Erasures(
            ErasureSupport(
                records=self.records,
                queue=self.queue,
                doors=doors,
                people=self.people,
                vaults=self.directory,
                withdraw=withdrawal(places, self.records),
                clock=self.clock,
            )
        )

    def work(self) -> None:
        """Do what waits in the queue, each at its time: at once, and when all has settled."""
        for _ in range(_MESSAGES):
            if not self.queue.sent:
                return
            erasure_id, delay = self.queue.sent.pop(0)
            self.clock.advance(seconds=delay.total_seconds())
            self.worker.run(erasure_id, time_left=lambda: PLENTY)

    def vault(self, name: str, *members: str, tenant: str) -> VaultRef:
        """Make a vault; the first member owns it."""
        vault_id = hashlib.sha256(f"{tenant}/{name}".encode()).hexdigest()[:32]
        ref = VaultRef(tenant=TenantId(tenant), id=_vault_id(vault_id))
        owner, *others = members
        vault = Vault(ref=ref, name=name, created_at=START)
        self.directory.create(vault, owner=UserId(owner))
        for other in others:
            self.directory.set_member(ref, UserId(other), VaultRole.WRITER)
        return ref

    def fill_vault(self, ref: VaultRef, canary: str, *, readers: list[str]) -> None:
        """Put something of a vault into every store that has such a thing."""
        written = self.files.create(ref, NOTE, f"# {canary}\n".encode())
        self.files.replace(ref, NOTE, f"{canary} again".encode(), expected=written.etag)
        gone = self.files.create(ref, VaultPath(f"{canary}.md"), b"soon gone")
        self.files.delete(ref, gone.path, expected=gone.etag)
        generation = Generation("1790000000000001-aa")
        entry = CatalogueEntry(
            vault=ref,
            path=NOTE,
            state=IndexState.INDEXED,
            updated_at=START,
            sequencer=sequencer("10"),
            generation=generation,
            sha256="ab" * 32,
            passages=1,
            title=canary,
        )
        self.catalogue.advance(entry, previous=None)
        DynamoIndexRuns(self.tables["catalogue"]).finish(ref, now=START)
        S3Shards(*self.bucket).put(ref, "all", canary.encode(), replacing=None)
        places = DynamoVectorPlaces(self.tables["catalogue"])
        digest = hashlib.sha256(canary.encode()).hexdigest()[:40]
        cache = S3VectorCache(*self.bucket, places)
        cache.store(ref, "cd" * 32, "toy/1", {digest: [1.0, 0.0]})
        operation = Operation(
            id="op",
            vault=ref,
            user=UserId(readers[0]),
            kind=OperationKind.MOVE,
            started_at=START,
            updated_at=START,
            total=1,
            parameters={"from": canary, "to": "elsewhere"},
        )
        operations = DynamoOperations(self.tables["control"], *self.bucket)
        operations.start(operation, [(canary, "e")])
        passage = Passage(number=0, text=canary, headings=(), page=None, line=1)
        document = EmbeddedDocument(
            path=NOTE, generation=generation, passages=[passage], vectors=[[1.0, 0.0]]
        )
        self.vectors.upsert([UserId(reader) for reader in readers], ref, document)

    def fill_user(self, tenant: str, user: str, canary: str) -> None:
        """Put something of a user into every store that has such a thing."""
        caller = principal(user, tenant=tenant)
        who = (caller.tenant, caller.user)
        control = self.tables["control"]
        known = TenantUser(tenant=caller.tenant, id=caller.user, first_seen=START)
        self.people.note(known, known=self.people.standing(*who) or Standing())
        self._talk(caller, canary)
        skill = Skill(
            id="own", title=canary, icon="", description=canary, prompt=canary, keywords=(canary,)
        )
        self.skills.save(*who, skill)
        DynamoUserSettings(control).change(*who, {"human_confirmation": True})
        DynamoSyncLeases(control, self.clock).take(*who, "lease")
        accounts = DynamoMcpAccounts(control)
        connected(accounts, an_account(*who, scope=canary))
        accounts.begin(a_pending_sign_in(*who, sealed=canary))
        planned = a_schedule(canary, owner=user, tenant=tenant)
        DynamoSchedules(control).create(planned)
        self.timer.put(planned)
        self._let_in(caller, canary)
        self._spend(caller)
        self.note(caller, canary, vault="")

    def fill_tenant(self, tenant: str, canary: str) -> None:
        """Put something of a tenant into the stores that hold what is of nobody in it."""
        control = self.tables["control"]
        settings = TenantSettings(chat_base_url=f"https://{canary}.example")
        DynamoTenantSettings(control).save(TenantId(tenant), settings)
        DynamoMcpServers(control).save(TenantId(tenant), McpServer(id="one", title=canary))
        DynamoMcpAccounts(control).keep_client(TenantId(tenant), a_kept_client(id=canary))
        address = f"https://{canary}.example/hook"
        DynamoWebhooks(control).save(TenantId(tenant), Webhook(id="one", url=address), over=None)
        self.bucket.client.put_object(
            Bucket=self.bucket.name, Key=f"audit/{tenant}/2026-08-31.seal.json", Body=b"{}"
        )

    def note(self, caller: Principal, canary: str, *, vault: str, whom: str = "") -> None:
        """Have the audit log tell of a call, which `whom` was the object of."""
        entry = AuditEntry(
            principal=caller,
            action="read_file",
            at=self.clock.now(),
            outcome="ok",
            surface="in_app",
            milliseconds=1,
            arguments_digest=hashlib.sha256(canary.encode()).hexdigest(),
            vault=vault,
            path=canary,
            details={"step": canary, "user": whom},
        )
        self.audit.append(entry)

    def _talk(self, caller: Principal, canary: str) -> None:
        name = f"c-{caller.tenant}-{caller.user}"
        conversation = a_conversation(name, owner=caller.user, tenant=caller.tenant, title=canary)
        self.conversations.create(conversation)
        call = ToolCallRecord(
            tool_id="t", tool_name="read_file", arguments={"q": canary}, status="ok", size=1
        )
        answer = replace(a_message(2, canary, author=Author.ASSISTANT), tool_calls=(call,))
        waiting = WaitingTurn(sealed=canary, expires_at=START + timedelta(hours=1))
        self.conversations.append(conversation, [a_message(1, canary), answer], waiting=waiting)
        run = Run(
            id=RunId(f"r-{caller.tenant}-{caller.user}"),
            principal=caller,
            goal=canary,
            created_at=START,
            updated_at=START,
        )
        event = RunEvent(name="message", data={"text": canary}, at=START)
        DynamoRuns(self.tables["conversations"]).create(run, canary, [event])
        proposal = Proposal(
            id=f"p-{caller.tenant}-{caller.user}",
            tenant=caller.tenant,
            user=caller.user,
            tool="edit_file",
            state=ProposalState.PENDING,
            created_at=START,
            expires_at=START + timedelta(minutes=10),
            sealed_call=canary,
            sealed_preview=canary,
        )
        DynamoConfirmations(self.tables["confirmations"]).add(proposal)

    def _let_in(self, caller: Principal, canary: str) -> None:
        control = self.tables["control"]
        end = START + timedelta(days=90)
        mark = f"{caller.tenant}-{caller.user}"
        token = PersonalToken(
            id=f"pat-{mark}",
            tenant=caller.tenant,
            user=caller.user,
            name=canary,
            reach=FULL_REACH,
            digest="d" * 64,
            fingerprint="f",
            created_at=START,
            expires_at=end,
        )
        DynamoPersonalTokens(control).add(token, limit=9)
        person = Person(tenant=caller.tenant, user=caller.user, role=Role.VIEWER)
        code = AuthorizationCode(
            digest=f"code-{mark}",
            client_id="c",
            client_name=canary,
            redirect_uri="http://127.0.0.1/back",
            challenge="c" * 43,
            person=person,
            reach=FULL_REACH,
            expires_at=end,
        )
        grant = OAuthGrant(
            id=f"grant-{mark}",
            client_id="c",
            client_name=canary,
            person=person,
            reach=FULL_REACH,
            family="f" * 64,
            refresh="r",
            access=(AccessDigest(digest="a", expires_at=end),),
            created_at=START,
            expires_at=end,
        )
        grants = DynamoOAuthGrants(control)
        grants.add_code(code)
        grants.exchange(code, grant)
        session = BrowserSession(digest=f"session-{mark}", person=person, expires_at=end)
        DynamoBrowserSessions(control).add(session)
        DynamoLocalUsers(control).put(LocalUser(person=person, password="hash"))

    def _spend(self, caller: Principal) -> None:
        ledger = DynamoLedger(self.tables["ledger"])
        reservation = Reservation(
            id="reserved",
            tenant=caller.tenant,
            user=caller.user,
            conversation="c",
            provider="openai",
            model="m",
            worst=Tokens(input=1, output=1),
            micros=2,
            made_at=START,
            expires_at=START + timedelta(minutes=6),
        )
        ledger.reserve(reservation, Budgets())
        ledger.settle(reservation, Tokens(input=1, output=1), 2)
        # Of two calls whose process died, one had left.
        for left in (False, True):
            lost = replace(reservation, id=f"lost-{caller.user}-{left}", micros=5, sent=left)
            ledger.reserve(lost, Budgets())
        rate = f"{caller.tenant}#{caller.user}#{caller.token_id}"
        DynamoRateCounter(self.tables["ledger"]).add(rate, ["calls"], window=0, expires_at=60)

    def everything(self) -> Mapping[str, Mapping[str, str]]:
        """Return all that is in every store, by its place, as text that shows what it holds."""
        found: dict[str, dict[str, str]] = {}
        for name, table in self.tables.items():
            items = _scanned(table)
            found[name] = {
                f"{item['pk']} / {item['sk']}": json.dumps(item, default=str, ensure_ascii=False)
                for item in items
            }
        for key, version, body in self._versions():
            store = next(each.store for each in FOLDERS if key.startswith(f"{each.prefix}/"))
            found.setdefault(store, {})[f"{key} {version}"] = f"{key} {body}"
        found["vectors"] = dict(self._points())
        found["timers"] = {
            name: json.dumps(kept, default=str) for name, kept in self.timers.kept.items()
        }
        return found

    def mentions(self, canary: str) -> list[str]:
        """Return where a text is, in a value or in a key."""
        return [
            f"{store}: {place}"
            for store, things in self.everything().items()
            for place, text in things.items()
            if canary in text or canary in place
        ]

    def counts(self) -> Counter[str]:
        """Return how many things each store holds, but for receipts."""
        return Counter(
            {
                store: sum(not place.startswith("ERASURE") for place in things)
                for store, things in self.everything().items()
            }
        )

    def _versions(self) -> list[tuple[str, str, str]]:
        client, name = self.bucket
        page = client.list_object_versions(Bucket=name)
        found = [
            (
                version.get("Key", ""),
                version.get("VersionId", ""),
                client.get_object(
                    Bucket=name,
                    Key=version.get("Key", ""),
                    VersionId=version.get("VersionId", ""),
                )["Body"]
                .read()
                .decode("utf-8", "replace"),
            )
            for version in page.get("Versions", [])
        ]
        marks = page.get("DeleteMarkers", [])
        return found + [(mark.get("Key", ""), mark.get("VersionId", ""), "") for mark in marks]

    def _points(self) -> list[tuple[str, str]]:
        names = self.server.call("GET", "/collections")["collections"]
        found: list[tuple[str, str]] = []
        for each in names:
            path = f"/collections/{each['name']}/points/scroll"
            asked = {"limit": 1_000, "with_payload": True}
            for point in self.server.call("POST", path, asked)["points"]:
                place = f"{each['name']} {point['id']}"
                found.append((place, json.dumps(point["payload"], ensure_ascii=False)))
        return found


def _scanned(table: DynamoTable) -> list[dict[str, Any]]:
    from boto3.dynamodb.conditions import Attr  # noqa: PLC0415  beside the tables it is for

    return list(table.scan(Attr("pk").exists()))


def _vault_id(text: str) -> Any:  # noqa: ANN401  a new type of text
    return text
