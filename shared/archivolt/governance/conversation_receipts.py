"""The receipt of a conversation that was erased: that goes at once, and so does its receipt."""

import uuid
from collections.abc import Mapping

from archivolt.domain.conversation import Conversation
from archivolt.domain.erasure import (
    Erasure,
    ErasureScope,
    ErasureState,
    Subject,
    pseudonym,
)
from archivolt.domain.identity import Principal
from archivolt.ports.clock import Clock
from archivolt.ports.erasure import ErasureRecords


class ConversationReceipts:
    """Keeps them."""

    def __init__(self, records: ErasureRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    def keep(
        self, principal: Principal, conversation: Conversation, *, left: Mapping[str, int]
    ) -> Erasure:
        """Keep the receipt of a conversation with so many messages; `left` is what is there still.

        Raises:
            UnavailableError: It cannot be kept.

        """
        now = self._clock.now()
        receipt = Erasure(
            id=uuid.uuid4().hex,
            subject=Subject(
                scope=ErasureScope.CONVERSATION, tenant=principal.tenant, name=conversation.id
            ),
            asked_by=pseudonym(principal.tenant, principal.user),
            asked_role=principal.role,
            asked_at=now,
            state=ErasureState.DONE,
            deleted={"conversations": 1, "messages": conversation.message_count},
            found=left,
            verified_at=(now,),
            done_at=now,
        )
        self._records.add(receipt)
        return receipt
