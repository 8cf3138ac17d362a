"""A provider on loopback that answers what a test scripted: in OpenAI's format, or any other."""

import json
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One scripted answer.

    `pieces` are sent one by one. With `hangs` the server then stays silent until the test ends;
    with `cut` it drops the connection in the middle of the transfer. With `stays` the connection
    may serve the next request too.
    """

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    content_type: str = "text/event-stream"
    hangs: bool = False
    cut: bool = False
    stays: bool = False


def chunks(*deltas: dict[str, Any], finish: str = "stop", usage: tuple[int, int] = (7, 3)) -> Reply:
    """Return a streamed completion made of these deltas."""
    events: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    events.append({"choices": [], "usage": counted})
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return Reply(pieces=[*lines, b"data: [DONE]\n\n"])


def says(*pieces: str, finish: str = "stop") -> Reply:
    """Return a completion of plain text."""
    return chunks(*({"content": piece} for piece in pieces), finish=finish)


def calls(*named: tuple[str, dict[str, Any]]) -> Reply:
    """Return a completion that calls tools."""
    entries = [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(named)
    ]
    return chunks({"content": None, "tool_calls": entries}, finish="tool_calls")


def calls_cut(name: str, arguments: str) -> Reply:
    """Return a completion that calls a tool with arguments as they are written here."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": 0, "id": "call_0", "type": "function", "function": function}
    return chunks({"content": None, "tool_calls": [entry]}, finish="tool_calls")


def failure(status: int, message: str = "no", **headers: str) -> Reply:
    """Return an error answer in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Reply(pieces=[body], status=status, content_type="application/json", headers=headers)


class OpenAIServer(ThreadingHTTPServer):
    """What the server was asked, and where it is; `thinks` answers once the script is over."""

    def __init__(
        self, script: Iterable[Reply], thinks: Callable[[dict[str, Any]], Reply] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self._thinks = thinks
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.sent_headers: list[dict[str, str]] = []
        self.test_is_over = threading.Event()
        self.connections = 0
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as the base
        self.connections += 1
        super().process_request(request, client_address)

    def reply(self, asked: dict[str, Any]) -> Reply:
        """Return what answers a request."""
        if self.script:
            return self.script.pop(0)
        return self._thinks(asked) if self._thinks else failure(500)


@contextmanager
def openai_server(
    *script: Reply, thinks: Callable[[dict[str, Any]], Reply] | None = None
) -> Generator[OpenAIServer]:
    """Serve the script, one reply for each request; beyond its end, what `thinks` makes of each.

    Without it, every further request gets a 500.
    """
    server = OpenAIServer(script, thinks)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.test_is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = cast("OpenAIServer", self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.requests.append(json.loads(body))
        server.paths.append(self.path)
        server.sent_headers.append({name.lower(): text for name, text in self.headers.items()})
        reply = server.reply(server.requests[-1])
        self.close_connection = not reply.stays
        with suppress(OSError):  # the client may go away
            self._answer(reply)
        if reply.hangs:
            server.test_is_over.wait()

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        if not reply.stays:
            self.send_header("Connection", "close")
        for name, text in reply.headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        for piece in reply.pieces:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        if not reply.hangs and not reply.cut:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
