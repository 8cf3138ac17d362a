"""Connections on which an answer has to end in time, however little of it comes at a time."""

import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import httpcore2
import httpx2
from httpcore2 import SOCKET_OPTION, NetworkBackend, NetworkStream, ReadTimeout, SyncBackend

# As the library's own transport has it; a server lets idle connections go about then.
_CONNECTIONS: Final = 100
_IDLE_CONNECTIONS: Final = 20
_IDLE_SECONDS: Final = 5.0


class TimedStream(NetworkStream):
    """A connection on which an answer has its time from the last word of its request.

    Args:
        stream: The connection itself.
        seconds: The time of an answer; None for the time that a reader gives each of its pieces,
            which is then for all of them together.
        clock: Tells the time in seconds.

    """

    def __init__(
        self,
        stream: NetworkStream,
        seconds: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._seconds = seconds
        self._clock = clock
        self._asked = clock()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next piece.

        Raises:
            ReadTimeout: The time of the answer is over, or this piece does not come.

        """
        whole = timeout if self._seconds is None else self._seconds
        if whole is None:
            return self._stream.read(max_bytes)
        left = self._asked + whole - self._clock()
        if left <= 0:
            raise ReadTimeout("the answer takes too long")
        return self._stream.read(max_bytes, min(left, timeout or left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a piece of a request."""
        self._stream.write(buffer, timeout)
        self._asked = self._clock()

    def close(self) -> None:
        """End the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> NetworkStream:
        """Return the connection, secured."""
        secured = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return TimedStream(secured, self._seconds, clock=self._clock)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401  the backend's protocol
        """Return what the connection says of itself."""
        return self._stream.get_extra_info(info)


class TimedTransport(httpx2.HTTPTransport):
    """Sends requests to servers of the deployment; their read timeout is for an answer as a whole.

    A timeout of the usual kind is for each piece: a server that says a letter a second is never
    late by it.
    """

    def __init__(self) -> None:
        tls = httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=tls, trust_env=False)
        # The only way to give a pool its network: the class makes one without asking.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_TimedBackend(),
        )


class _TimedBackend(NetworkBackend):
    def __init__(self) -> None:
        self._backend = SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        return TimedStream(
            self._backend.connect_tcp(host, port, timeout, local_address, socket_options or [])
        )
