"""How what speaks to MCP servers of others is put together."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from archivolt.bootstrap import Container
from archivolt.composition.federation import FederationContainer
from archivolt.settings import Settings


def test_calls_side_by_side_share_one_client() -> None:
    federation = FederationContainer(Container(Settings()))
    together = Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        return id(federation.client)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
