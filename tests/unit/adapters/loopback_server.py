"""A small HTTP server on the loopback that remembers what it was asked."""

import ssl
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Event, Thread


@dataclass
class Answer:
    """What the server answers at a path."""

    body: bytes = b"ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    announce_length: bool = True


@dataclass
class LoopbackServer:
    """The server's port, what it answers, and the requests it saw.

    `any_path` is answered where `answers` has nothing. With `dribble` it answers no request, and
    sends a head without end, a letter every so many seconds.
    """

    port: int
    answers: dict[str, Answer]
    any_path: Answer = field(default_factory=lambda: Answer(status=404))
    dribble: float = 0
    hosts: list[str] = field(default_factory=list[str])
    paths: list[str] = field(default_factory=list[str])
    request_headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    bodies: list[bytes] = field(default_factory=list[bytes])


def _dribble(client: BufferedIOBase, seconds: float, stopped: Event) -> None:
    client.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    with suppress(OSError):
        while not stopped.wait(seconds):
            client.write(b"x")


def _handler(seen: LoopbackServer, stopped: Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.hosts.append(self.headers.get("Host", ""))
            seen.paths.append(self.path)
            seen.request_headers.append({k.lower(): v for k, v in self.headers.items()})
            if seen.dribble:
                _dribble(self.wfile, seen.dribble, stopped)
            else:
                self._answer(seen.answers.get(self.path, seen.any_path))

        def do_POST(self) -> None:
            seen.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.do_GET()

        def _answer(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.announce_length:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler


@contextmanager
def loopback_server(
    answers: dict[str, Answer], *, tls: ssl.SSLContext | None = None
) -> Generator[LoopbackServer]:
    """Serve the answers until the block ends."""
    seen = LoopbackServer(port=0, answers=answers)
    stopped = Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(seen, stopped))
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    seen.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
