"""Workers that take turns: each goes on to a moment of its own, and waits there for the others."""

import threading
from collections.abc import Callable

from tests.fakes.faults import Death, FaultLine


class Worker:
    """Does something in a thread of its own, which runs only while it has its turn."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._turn = threading.Semaphore(0)
        self._waits = threading.Semaphore(0)
        self._left: int | None = None
        self._dies = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done = False
        self.trouble: BaseException | None = None

    def go_on(self, moments: int | None = None) -> None:
        """Let it go on for so many moments, or to its end."""
        self._left = moments
        self._take_turn()

    def die(self) -> None:
        """Let it go no further."""
        self._dies = True
        self._take_turn()

    def is_at_work(self) -> bool:
        """Tell whether it is who asks."""
        return threading.current_thread() is self._thread

    def moment(self) -> None:
        """Pass one moment."""
        if self._left == 0:
            self._waits.release()
            self._turn.acquire()
            if self._dies:
                raise Death
        elif self._left is not None:
            self._left -= 1

    def _take_turn(self) -> None:
        if self.done:
            return
        if self._thread.ident is None:
            self._thread.start()
        self._turn.release()
        self._waits.acquire()

    def _run(self) -> None:
        self._turn.acquire()
        try:
            if not self._dies:
                self._work()
        except BaseException as error:  # noqa: BLE001  who let it work looks
            self.trouble = error
        self.done = True
        self._waits.release()


class SharedLine(FaultLine):
    """A line that stops each of several workers at a moment of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[Worker] = []

    def moment(self) -> None:
        for worker in self.workers:
            if worker.is_at_work():
                worker.moment()
