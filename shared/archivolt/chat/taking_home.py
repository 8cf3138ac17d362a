"""All that is held of a person, as one archive that is made while it is sent.

Nothing secret is in it: tokens and connections by their names, keys not at all. What they wrote in
vaults that others use is the vault's; their own vaults come whole, up to a size.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final

from archivolt.chat.archive import as_markdown
from archivolt.chat.current_places import CurrentPlaces
from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import Conversation, Message
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.language import Language
from archivolt.domain.limits import MAX_CONVERSATIONS
from archivolt.domain.mcp_accounts import McpAccount
from archivolt.domain.oauth import OAuthGrant
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.personal_tokens import PersonalToken
from archivolt.domain.personal_vaults import personal_vault
from archivolt.domain.retention_limits import MAX_EXPORTED_BYTES, MAX_EXPORTED_MONTHS
from archivolt.domain.usage import month_of
from archivolt.domain.vault import VaultAccess
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore
from archivolt.ports.files import FileStore
from archivolt.ports.governance import UserSettingsStore
from archivolt.ports.ledger import Ledger
from archivolt.ports.mcp_accounts import McpAccountStore
from archivolt.ports.oauth import OAuthGrantStore
from archivolt.ports.personal_tokens import PersonalTokenStore
from archivolt.ports.runs import RunStore
from archivolt.ports.schedules import ScheduleStore
from archivolt.ports.skills import SkillStore
from archivolt.ports.vaults import VaultDirectory
from archivolt.vaults.trees import pages

_PIECE: Final = 4_000_000
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOfPerson:
    """The stores that hold something of a person; those seldom needed are made when they are."""

    conversations: ConversationStore
    runs: Callable[[], RunStore]
    schedules: Callable[[], ScheduleStore]
    skills: Callable[[], SkillStore]
    settings: UserSettingsStore
    ledger: Callable[[], Ledger]
    tokens: Callable[[], PersonalTokenStore]
    grants: Callable[[], OAuthGrantStore]
    accounts: Callable[[], McpAccountStore]
    vaults: VaultDirectory
    files: FileStore
    clock: Clock
    places: CurrentPlaces


class _Pipe(io.RawIOBase):
    """Takes what an archive writes, until it is sent on."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401  any buffer
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class TakingHome:
    """Makes the archive."""

    def __init__(self, held: HeldOfPerson, *, most: int = MAX_EXPORTED_BYTES) -> None:
        self._held = held
        self._most = most

    def archive(self, principal: Principal, language: Language) -> Iterator[bytes]:
        """Yield the archive (ZIP) of all that is held of the caller, piece by piece.

        Documents that are too much together are named in `left-out.json`.
        """
        pipe = _Pipe()
        with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in self._records(principal, language):
                archive.writestr(name, text)
                yield pipe.taken()
            left, left_out = self._most, list[str]()
            for access in self._own_vaults(principal):
                for path, size in self._documents(access):
                    if size > left:
                        left_out.append(f"{access.vault.name}/{path}")
                        continue
                    left -= size
                    yield from self._document(archive, pipe, access, path)
            archive.writestr("left-out.json", _json(left_out))
        yield pipe.taken()

    def _records(self, principal: Principal, language: Language) -> Iterator[tuple[str, str]]:
        held, who = self._held, (principal.tenant, principal.user)
        about = {"tenant": who[0], "user": who[1], "exported_at": held.clock.now()}
        yield "about.json", _json(about)
        for kept in self._conversations(*who):
            conversation = held.places.in_conversation(principal, kept)
            yield f"conversations/{conversation.id}.json", _json(_said(conversation))
            yield f"conversations/{conversation.id}.md", as_markdown(conversation, language)
        yield from self._runs(principal)
        schedules = held.schedules().of_user(*who)
        yield "schedules.json", _json([asdict(each) for each in schedules])
        yield "skills.json", _json([asdict(skill) for skill in held.skills().of_user(*who)])
        yield "settings.json", _json(asdict(held.settings.load(*who)))
        yield "usage.json", _json(self._usage(*who))
        yield "tokens.json", _json([_token(each) for each in held.tokens().of_user(*who)])
        yield "connections.json", _json([_grant(each) for each in held.grants().of_user(*who)])
        accounts = held.accounts().of_user(*who)
        yield "mcp-accounts.json", _json([_mcp_account(each) for each in accounts])
        memberships = held.vaults.accessible(*who)
        yield (
            "vaults.json",
            _json([{"vault": each.vault.name, "role": each.role} for each in memberships]),
        )

    def _conversations(self, tenant: TenantId, user: UserId) -> Iterator[Conversation]:
        after: str | None = None
        while True:
            page, after = self._held.conversations.of_user(
                tenant, user, limit=MAX_CONVERSATIONS, after=after
            )
            for listed in page:
                try:
                    yield self._held.conversations.get(tenant, listed.id)
                except NotFoundError:
                    continue  # deleted since it was listed
            if after is None:
                return

    def _runs(self, principal: Principal) -> Iterator[tuple[str, str]]:
        runs, who = self._held.runs(), (principal.tenant, principal.user)
        after: str | None = None
        while True:
            page, after = runs.of_user(*who, limit=MAX_CONVERSATIONS, after=after)
            for run in page:
                brought = list(filter(None, [runs.result(run)]))
                opened = self._held.places.in_messages(principal, brought)
                told = {
                    "goal": run.goal,
                    "status": run.status,
                    "reason": run.reason,
                    "created_at": run.created_at,
                    "updated_at": run.updated_at,
                    "result": _message(opened[0]) if opened else None,
                }
                yield f"runs/{run.id}.json", _json(told)
            if after is None:
                return

    def _usage(self, tenant: TenantId, user: UserId) -> Mapping[str, Any]:
        ledger, moment = self._held.ledger(), self._held.clock.now()
        found: dict[str, Any] = {}
        for _ in range(MAX_EXPORTED_MONTHS):
            month = month_of(moment)
            used = ledger.usage_of_user(tenant, user, month)
            if used.total.calls:
                found[month] = {day: asdict(usage) for day, usage in used.by_day.items()}
            moment = moment.replace(day=1) - _DAY
        return found

    def _own_vaults(self, principal: Principal) -> Iterator[VaultAccess]:
        mine = personal_vault(principal.tenant, principal.user)
        for access in self._held.vaults.accessible(principal.tenant, principal.user):
            members = self._held.vaults.members(access.vault.ref)
            if access.vault.ref == mine or len(members) == 1:
                yield access

    def _documents(self, access: VaultAccess) -> Iterator[tuple[VaultPath, int]]:
        for page in pages(self._held.files, access.vault.ref, ROOT, recursive=True):
            yield from ((file.path, file.size) for file in page.files)

    def _document(
        self, archive: zipfile.ZipFile, pipe: _Pipe, access: VaultAccess, path: VaultPath
    ) -> Iterator[bytes]:
        """Yield a document in pieces, so that none has to be in memory as a whole."""
        offset = 0
        with archive.open(f"documents/{access.vault.name}/{path}", "w", force_zip64=True) as entry:
            while True:
                try:
                    content = self._held.files.read(
                        access.vault.ref, path, offset=offset, max_bytes=_PIECE
                    )
                except NotFoundError:
                    return  # deleted since it was listed
                entry.write(content.data)
                yield pipe.taken()
                offset += len(content.data)
                if not content.data or offset >= content.info.size:
                    return


def _said(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation without what waits in it, which is sealed and ends by itself."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "messages": [_message(message) for message in conversation.messages],
    }


def _message(message: Message) -> dict[str, Any]:
    calls = [{**asdict(call), "uris": touched_uris(call)} for call in message.tool_calls]
    return {**asdict(message), "tool_calls": calls}


def _token(token: PersonalToken) -> dict[str, Any]:
    return {
        "name": token.name,
        "fingerprint": token.fingerprint,
        "read_only": token.reach.read_only,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used": token.last_used,
    }


def _grant(grant: OAuthGrant) -> dict[str, Any]:
    return {
        "program": grant.client_name,
        "read_only": grant.reach.read_only,
        "created_at": grant.created_at,
        "expires_at": grant.expires_at,
    }


def _mcp_account(account: McpAccount) -> dict[str, Any]:
    return {
        "server": account.server,
        "state": account.state,
        "issuer": account.issuer,
        "scope": account.scope,
        "connected_at": account.connected_at,
    }


def _json(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False, indent=2)
    # Half of a surrogate pair, in what somebody pasted, cannot be written.
    return text.encode("utf-8", "replace").decode()
