"""A small HTTP server on the loopback that remembers what it was asked."""

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Answer:
    """What the server answers at a path."""

    body: bytes = b"ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    announce_length: bool = True


@dataclass
class LoopbackServer:
    """The server's port, what it answers, and the requests it saw."""

    port: int
    answers: dict[str, Answer]
    hosts: list[str] = field(default_factory=list[str])
    paths: list[str] = field(default_factory=list[str])
    request_headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@contextmanager
def loopback_server(
    answers: dict[str, Answer], *, tls: ssl.SSLContext | None = None
) -> Generator[LoopbackServer]:
    """Serve the answers until the block ends."""
    seen = LoopbackServer(port=0, answers=answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.hosts.append(self.headers.get("Host", ""))
            seen.paths.append(self.path)
            seen.request_headers.append({k.lower(): v for k, v in self.headers.items()})
            answer = seen.answers.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.announce_length:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    seen.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
