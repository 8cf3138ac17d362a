"""Who may read, rename and delete a conversation (S26 to S32)."""

import pytest

from archivolt.chat.conversations import ConversationService
from archivolt.chat.waiting import WaitingTurns
from archivolt.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from archivolt.domain.identity import Principal, Role
from archivolt.governance.conversation_receipts import ConversationReceipts
from tests.builders import ALICE, BOB, GLOBEX, a_conversation, a_message, principal
from tests.fakes.clock import FrozenClock
from tests.fakes.conversations import InMemoryConversations
from tests.fakes.erasures import InMemoryErasures
from tests.fakes.governance import ReversibleBox

OWNER = principal(ALICE)
ADMINS = [principal(BOB, role=Role.TENANT_ADMIN), principal(BOB, role=Role.CPI_ADMIN)]
STRANGERS = [
    principal(BOB),
    principal(BOB, role=Role.DEVOPS),
    principal(ALICE, tenant=GLOBEX),
    principal(BOB, tenant=GLOBEX, role=Role.CPI_ADMIN),
]


@pytest.fixture
def service() -> ConversationService:
    store = InMemoryConversations()
    conversation = a_conversation("c1")
    store.create(conversation)
    store.append(conversation, [a_message()])
    clock = FrozenClock()
    receipts = ConversationReceipts(InMemoryErasures(), clock)
    return ConversationService(
        store,
        WaitingTurns(ReversibleBox, clock),
        clock,
        receipts,
        current=lambda _, conversation: conversation,
    )


@pytest.mark.parametrize("caller", [OWNER, *ADMINS])
def test_the_owner_and_an_administrator_read(
    service: ConversationService, caller: Principal
) -> None:
    assert [message.text for message in service.read(caller, "c1").messages] == ["Hello"]


@pytest.mark.parametrize("caller", STRANGERS)
def test_for_others_it_does_not_exist(service: ConversationService, caller: Principal) -> None:
    with pytest.raises(NotFoundError, match="conversation_not_found"):
        service.read(caller, "c1")
    with pytest.raises(NotFoundError, match="conversation_not_found"):
        service.rename(caller, "c1", "Mine")
    with pytest.raises(NotFoundError, match="conversation_not_found"):
        service.delete(caller, "c1")
    assert service.read(OWNER, "c1").title == "Untitled"


def test_only_the_owner_renames(service: ConversationService) -> None:
    assert service.rename(OWNER, "c1", "  New\n title ").title == "New title"
    for admin in ADMINS:
        with pytest.raises(ForbiddenError, match="forbidden"):
            service.rename(admin, "c1", "Mine")


@pytest.mark.parametrize("title", ["", "  ", "x" * 121])
def test_a_title_has_words_and_an_end(service: ConversationService, title: str) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_request"):
        service.rename(OWNER, "c1", title)


@pytest.mark.parametrize("caller", [OWNER, *ADMINS])
def test_the_owner_and_an_administrator_delete(
    service: ConversationService, caller: Principal
) -> None:
    service.delete(caller, "c1")

    with pytest.raises(NotFoundError, match="conversation_not_found"):
        service.read(OWNER, "c1")


def test_a_list_holds_the_callers_own_only(service: ConversationService) -> None:
    for caller in (*ADMINS, *STRANGERS):
        assert service.page(caller, limit=9) == ([], None)
    page, more = service.page(OWNER, limit=9)
    assert [conversation.id for conversation in page] == ["c1"]
    assert more is None


def test_a_deletion_leaves_a_receipt_that_counts_what_was_there_and_read_back(
    service: ConversationService,
) -> None:
    receipt = service.delete(OWNER, "c1")

    assert receipt.is_complete
    assert receipt.deleted == {"conversations": 1, "messages": 1}
    assert receipt.subject.name == "c1"
    assert OWNER.user not in (receipt.asked_by, receipt.id)
    with pytest.raises(NotFoundError):
        service.read(OWNER, "c1")
