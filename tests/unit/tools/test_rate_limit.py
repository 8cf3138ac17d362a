"""How often a token, a tool of it, and a tenant may call."""

import threading
from collections.abc import Mapping, Sequence

import pytest

from archivolt.domain.errors import RateLimitedError, UnavailableError
from archivolt.domain.identity import Principal, TenantId
from archivolt.tools.rate_limit import RateLimit
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import InMemoryRates


def allowed(limit: RateLimit, who: Principal, tool: str = "read_file", *, of: int = 10) -> int:
    """Return how many of so many calls at one moment are let through."""
    through = 0
    for _ in range(of):
        try:
            limit.count(who, tool, START)
        except RateLimitedError:
            continue
        through += 1
    return through


def test_a_token_has_so_many_calls_whatever_it_calls() -> None:
    limit = RateLimit(counter=InMemoryRates(), per_token=4, per_tool=9)

    assert allowed(limit, principal(ALICE), "read_file", of=3) == 3
    assert allowed(limit, principal(ALICE), "list_vaults") == 1
    assert allowed(limit, principal(ALICE, token_id="another")) == 4
    assert allowed(limit, principal(BOB)) == 4


def test_a_tool_of_a_token_has_so_many_calls() -> None:
    limit = RateLimit(counter=InMemoryRates(), per_token=9, per_tool=2)

    assert allowed(limit, principal(ALICE), "read_file", of=3) == 2
    assert allowed(limit, principal(ALICE), "list_vaults", of=3) == 2


def test_a_tenant_has_so_many_calls_whoever_makes_them() -> None:
    limit = RateLimit(counter=InMemoryRates(), per_tenant=5)

    assert allowed(limit, principal(ALICE), of=3) == 3
    assert allowed(limit, principal(BOB)) == 2
    assert allowed(limit, principal(ALICE, tenant=GLOBEX)) == 5


def test_a_tenant_may_have_a_limit_of_its_own() -> None:
    def own(tenant: TenantId) -> int:
        return 7 if tenant == ACME else 0

    limit = RateLimit(counter=InMemoryRates(), per_tenant=2, of_tenant=own)

    assert allowed(limit, principal(ALICE)) == 7
    assert allowed(limit, principal(ALICE, tenant=GLOBEX)) == 2


def test_who_is_refused_is_told_when_the_next_window_begins() -> None:
    limit, clock = RateLimit(counter=InMemoryRates(), per_token=1), FrozenClock()
    clock.advance(seconds=22)
    limit.count(principal(ALICE), "read_file", clock.now())

    with pytest.raises(RateLimitedError) as refused:
        limit.count(principal(ALICE), "read_file", clock.now())

    wait = refused.value.details["retry_after"]
    assert wait == 60 - int(clock.now().timestamp()) % 60
    assert isinstance(wait, int)
    clock.advance(seconds=wait)
    limit.count(principal(ALICE), "read_file", clock.now())


class SideBySide(InMemoryRates):
    """Counts, once both counts of a call are under way."""

    def __init__(self) -> None:
        super().__init__()
        self._both = threading.Barrier(2)
        self.writes = 0

    def add(
        self, key: str, names: Sequence[str], *, window: int, expires_at: int
    ) -> Mapping[str, int]:
        self._both.wait(timeout=10)
        self.writes += 1
        return super().add(key, names, window=window, expires_at=expires_at)


def test_all_limits_cost_one_wait() -> None:
    counter = SideBySide()

    RateLimit(counter=counter).count(principal(ALICE), "read_file", START)

    assert counter.writes == 2


@pytest.mark.parametrize("broken", ["tenant#", f"{ACME}#"])
def test_what_cannot_be_counted_is_not_let_through(broken: str) -> None:
    class Broken(InMemoryRates):
        def add(
            self, key: str, names: Sequence[str], *, window: int, expires_at: int
        ) -> Mapping[str, int]:
            if key.startswith(broken):
                raise UnavailableError("unavailable")
            return super().add(key, names, window=window, expires_at=expires_at)

    with pytest.raises(UnavailableError):
        RateLimit(counter=Broken()).count(principal(ALICE), "read_file", START)
