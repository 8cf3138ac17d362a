"""An MCP server over HTTP on the loopback: a script, or one that is broken in one way."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.mcp_program import Script

JSON = "application/json"


@dataclass
class McpHttpServer:
    """What it answers and what it was asked; `status` and `body` take the place of answers.

    `takes`: tokens that it knows; of any other it says `challenge`, with `refusal` as its status,
    and from the second request on with `refuses_again_with`, unless that is 0.

    `instead`: status, content type and body of what it answers to calls of tools, and `news` what
    whoever opens its stream is sent.

    `hangs`: it answers nothing, `hangs_in`: nothing to a call of this tool, until the test is over.
    """

    script: Script = field(default_factory=Script)
    status: int = 200
    body: bytes | None = None
    beside: Mapping[str, str] = field(default_factory=dict[str, str])
    takes: set[str] | None = None
    challenge: str = "Bearer"
    refusal: int = 401
    refuses_again_with: int = 0
    instead: Mapping[str, tuple[int, str, bytes]] = field(
        default_factory=dict[str, tuple[int, str, bytes]]
    )
    news: bytes = b""
    streams: int = 0
    hangs: bool = False
    hangs_in: str = ""
    is_hanging: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    test_is_over: threading.Event = field(default_factory=threading.Event)

    def reply(self, raw: bytes) -> tuple[int, str, bytes]:
        """Return status, content type and body of the answer to a request."""
        if self.hangs:
            self.test_is_over.wait(60)
        if self.body is not None:
            return self.status, "text/html", self.body
        if self.status != 200:
            return self.status, JSON, b"{}"
        message: dict[str, Any] = json.loads(raw)
        if "id" not in message:
            return 202, JSON, b""
        params: dict[str, Any] = message.get("params") or {}
        if params.get("name") in self.instead:
            return self.instead[params["name"]]
        if self.hangs_in and params.get("name") == self.hangs_in:
            self.is_hanging.set()
            self.test_is_over.wait(60)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = self.script.answer(message["method"], params)
        except LookupError:
            answer["error"] = {"code": -32601, "message": "no such method"}
        return 200, JSON, json.dumps(answer).encode()


@contextmanager
def mcp_http_server(**given: Any) -> Generator[McpHttpServer]:  # noqa: ANN401  its fields
    """Serve until the end of the block."""
    served = McpHttpServer(**given)

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            raw = self.rfile.read(int(self.headers["content-length"]))
            given = self.headers.get("authorization", "").removeprefix("Bearer ")
            known = served.takes is None or given in served.takes
            again = served.refuses_again_with if len(served.headers) > 1 else 0
            refused = (again or served.refusal, JSON, b"{}")
            status, kind, body = served.reply(raw) if known else refused
            self.send_response(status)
            if not known:
                self.send_header("www-authenticate", served.challenge)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            for name, value in served.beside.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # a client hears no more than it likes
                self.wfile.write(body)

        def do_GET(self) -> None:
            served.streams += 1
            self.send_response(200 if served.news else 405)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(served.news)))
            self.end_headers()
            self.wfile.write(served.news)

        def do_DELETE(self) -> None:
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its own name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}/mcp"
    try:
        yield served
    finally:
        served.test_is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()
