"""A process that dies at a chosen moment, and collaborators that are down."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from archivolt.domain.errors import UnavailableError

T = TypeVar("T")


class Death(BaseException):
    """The process is gone; no `except Exception` sees it."""


class FaultLine:
    """Counts the moments before and after every call, and strikes at one of them."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._down: set[str] = set()
        self._watch: Callable[[], None] | None = None

    def strike_after(self, moments: int) -> None:
        """Die at the moment of this number, counted from here."""
        self._left = moments

    def calm(self) -> None:
        """Let everything work again."""
        self._left = None
        self._down.clear()

    def watch(self, look: Callable[[], None] | None) -> None:
        """Let somebody look at every moment; what they do themselves is not watched."""
        self._watch = look

    def take_down(self, *methods: str) -> None:
        """Make calls of these methods fail as if their service were down."""
        self._down.update(methods)

    def across(self, collaborator: T) -> T:
        """Return the collaborator with this line through every call of it."""
        return cast("T", _Fragile(collaborator, self))

    def moment(self) -> None:
        """Pass one moment."""
        look, self._watch = self._watch, None
        if look is not None:
            look()
            self._watch = look
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Death

    def check(self, method: str) -> None:
        """Fail if a method is down."""
        if method in self._down:
            raise UnavailableError("unavailable")


class _Fragile:
    def __init__(self, inner: object, line: FaultLine) -> None:
        self._inner = inner
        self._line = line

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the collaborator has
        attribute = getattr(self._inner, name)
        return self._fragile(name, attribute) if callable(attribute) else attribute

    def _fragile(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: object, **kwargs: object) -> object:
            self._line.check(name)
            self._line.moment()
            result = method(*args, **kwargs)
            self._line.moment()
            return result

        return call
