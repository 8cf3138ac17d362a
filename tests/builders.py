"""Small valid values for tests: name what matters, the rest is filled in."""

from archivolt.domain.conversation import Author, Conversation, ConversationId, Message
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId
from archivolt.domain.language import Language
from archivolt.domain.schedule import Schedule, Timetable
from archivolt.domain.vault import Vault, VaultId, VaultRef
from tests.fakes.clock import START

ACME = TenantId("acme")
GLOBEX = TenantId("globex")
ALICE = UserId("alice")
BOB = UserId("bob")
CAROL = UserId("carol")


def principal(
    user: str = ALICE,
    *,
    tenant: str = ACME,
    role: Role = Role.VIEWER,
    kind: TokenKind = TokenKind.INTERACTIVE,
    token_id: str = "",
) -> Principal:
    """Return a caller; its token id is made of tenant and user unless given."""
    return Principal(
        tenant=TenantId(tenant),
        user=UserId(user),
        role=role,
        token_id=token_id or f"token-of-{tenant}-{user}",
        kind=kind,
    )


def vault_ref(vault_id: str = "v1", *, tenant: str = ACME) -> VaultRef:
    """Return where a vault would be."""
    return VaultRef(tenant=TenantId(tenant), id=VaultId(vault_id))


def a_vault(name: str = "notes", *, vault_id: str = "", tenant: str = ACME) -> Vault:
    """Return a vault; its id is made of its name unless given."""
    ref = vault_ref(vault_id or f"id-of-{name}".replace(" ", "-"), tenant=tenant)
    return Vault(ref=ref, name=name, created_at=START)


def a_conversation(
    conversation_id: str = "c1", *, owner: str = ALICE, tenant: str = ACME, title: str = "Untitled"
) -> Conversation:
    """Return a new conversation without messages."""
    return Conversation(
        id=ConversationId(conversation_id),
        tenant=TenantId(tenant),
        owner=UserId(owner),
        title=title,
        created_at=START,
        updated_at=START,
    )


def a_message(number: int = 1, text: str = "Hello", *, author: Author = Author.USER) -> Message:
    """Return a message."""
    return Message(number=number, author=author, text=text, written_at=START)


def a_schedule(
    goal: str = "Do it.", *, owner: str = ALICE, tenant: str = ACME, schedule_id: str = "s1"
) -> Schedule:
    """Return a schedule of every day."""
    return Schedule(
        id=schedule_id,
        tenant=TenantId(tenant),
        owner=UserId(owner),
        name="",
        asked={"goal": goal},
        timetable=Timetable(expression="rate(1 day)", zone="UTC"),
        language=Language.EN,
        created_at=START,
        changed_at=START,
    )
