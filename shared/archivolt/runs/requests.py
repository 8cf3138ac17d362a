"""What a person asks of a run."""

import hashlib
import json
from dataclasses import asdict, dataclass, field

from archivolt.chat.requests import ContextKind, Place, TurnRequest
from archivolt.domain.run import RunCaps


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is to do and within what.

    `vaults` are the names of those it may reach, none: all of the caller's. `places` are what the
    goal is about, as in the chat; so are `provider`, `model` and `skill`. A request with an
    `idempotency_key` that was taken before starts nothing: the run it started is told again.
    """

    goal: str
    vaults: tuple[str, ...] = ()
    context: ContextKind = ContextKind.GENERAL
    places: tuple[Place, ...] = ()
    provider: str = ""
    model: str = ""
    skill: str = ""
    caps: RunCaps = field(default_factory=RunCaps)
    idempotency_key: str = ""

    @property
    def turn(self) -> TurnRequest:
        """The same, as the chat is asked."""
        return TurnRequest(
            text=self.goal,
            context=self.context,
            places=self.places,
            provider=self.provider,
            model=self.model,
            skill=self.skill,
        )

    @property
    def digest(self) -> str:
        """What tells this request from another, but the key itself."""
        asked = asdict(self) | {"idempotency_key": ""}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
