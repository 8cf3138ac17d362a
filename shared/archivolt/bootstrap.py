"""The composition root: the only place that pairs a port with an adapter.

Each collaborator is built the first time it is asked for, and its module imported then, so that a
function pays for what it uses.
"""

from functools import cache, cached_property
from typing import TYPE_CHECKING

from archivolt.settings import Settings, load_settings

if TYPE_CHECKING:
    from archivolt.ports.clock import Clock


class Container:
    """Builds and keeps the collaborators of one execution environment."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def clock(self) -> "Clock":
        """The real time."""
        from archivolt.adapters.system.clock import SystemClock

        return SystemClock()


@cache
def container() -> Container:
    """Return the container of this execution environment."""
    return Container(load_settings())
