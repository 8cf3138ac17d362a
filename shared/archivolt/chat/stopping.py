"""A person's wish that an answer end: how it reaches the turn, and what it does not cut.

Whoever asks is seldom at the process that answers. The wish is noted on the conversation, for the
turn that holds it at that moment; the turn looks there about each second, beside its work.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from archivolt.domain.conversation import Conversation
from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError
from archivolt.domain.limits import STOP_LOOK_SECONDS
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore

Pause = Callable[[float], Awaitable[None]]

# Whoever stops an answer often says at once what they want instead.
_LOOKS_FOR_AN_END: Final = 12
_BETWEEN_LOOKS_SECONDS: Final = 0.25


class Stop:
    """Ends a loop at a person's word, but not amid what they decided before.

    `pause` waits for a number of seconds between two looks for it.
    """

    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self.asked = False
        self.cut = False
        """Something was not done whole: nobody can tell what came of it."""

        self._deadline: asyncio.Timeout | None = None
        self._put_off = False

    def ask(self) -> None:
        """End the loop now, or once what may not be cut is done."""
        self.asked = True
        self._end()

    @contextmanager
    def ends(self, deadline: asyncio.Timeout) -> Generator[None, None, None]:
        """Let the wish end what runs under a deadline that was entered: it is moved to now."""
        self._deadline = deadline
        self._end()
        try:
            yield
        finally:
            self._deadline = None

    @asynccontextmanager
    async def put_off(self) -> AsyncGenerator[None, None]:
        """Do something whole; a wish that comes meanwhile counts after it."""
        await self._heeded()
        self._put_off = True
        try:
            yield
        except asyncio.CancelledError:
            self.cut = True
            raise
        finally:
            self._put_off = False
        self._end()
        await self._heeded()

    async def watch(self, conversations: ConversationStore, held: Conversation) -> None:
        """Look for the wish until it is there; `held` is the conversation as the turn claimed it.

        A conversation that is gone, or that another turn holds, ends this one too.
        """
        while not self.asked:
            await self._pause(STOP_LOOK_SECONDS)
            try:
                if await asyncio.to_thread(_is_over, conversations, held):
                    self.ask()
            except ArchivoltError:
                pass  # the next look tells
            except Exception as error:  # noqa: BLE001  a look that fails must not be the last
                logger.warning("a wish to stop could not be looked for", extra=failure(error))

    def _end(self) -> None:
        if self.asked and not self._put_off and self._deadline is not None:
            self._deadline.reschedule(asyncio.get_running_loop().time())

    async def _heeded(self) -> None:
        """Give a deadline that is over the turn to end what runs."""
        if self.asked:
            await asyncio.sleep(0)


async def once_free(read: Callable[[], Conversation], clock: Clock, pause: Pause) -> Conversation:
    """Return a conversation in which no answer is being written; one that is stopped is awaited.

    Raises:
        ConflictError: `conversation_busy`.

    """
    found = await asyncio.to_thread(read)
    looks = iter(range(_LOOKS_FOR_AN_END))
    while found.is_busy(clock.now()):
        if found.stop_asked_at is None or next(looks, None) is None:
            raise ConflictError("conversation_busy")
        await pause(_BETWEEN_LOOKS_SECONDS)
        found = await asyncio.to_thread(read)
    return found


def _is_over(conversations: ConversationStore, held: Conversation) -> bool:
    try:
        now = conversations.head(held.tenant, held.id)
    except NotFoundError:
        return True
    return now.stop_asked_at is not None or now.busy_until != held.busy_until
