"""Has the emulator deliver again at its start what was in work when it ended.

Imported by `emulator_process`, in the emulator's own virtual environment. A queue hides a message
from others for as long as a worker may take, up to 90 minutes. Whoever worked on it ended with the
stack, which takes nothing up from another: after a power cut nobody has to wait for that time.
"""

# ruff: noqa: SLF001  the emulator has no other way in

# Its imports are in that other environment, and have no types there.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Iterable
from typing import Any

from ministack.services import sqs

Queue = dict[str, Any]


def deliver_what_was_in_work() -> None:
    """Have queues that are read from the disk show what workers had received."""
    restore: Callable[[Any], None] = sqs.load_persisted_state

    def restored(data: object) -> None:
        restore(data)
        show_what_was_received(sqs._queues._data.values())

    sqs.load_persisted_state = restored


def show_what_was_received(queues: Iterable[Queue]) -> None:
    """Make what was received visible; what was sent with a delay waits for its time."""
    for queue in queues:
        for message in queue["messages"]:
            if message.get("receive_count", 0):
                message["visible_at"] = message["sent_at"]
