"""An embedding provider on the loopback: it speaks Workers AI's protocol and OpenAI's.

Its vectors are those of `WordHashEmbedder`, four times as long, so that they can be searched.
"""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.vectors import WordHashEmbedder

MODEL = "@cf/baai/bge-m3"
ACCOUNT = "account-1"


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """An answer in place of the vectors; with `hangs_up` there is none."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hangs_up: bool = False


@dataclass
class EmbeddingServer:
    """What the server answers, and what it was asked.

    The first requests meet the `troubles`, one each. OpenAI's entries come last first, as they may.
    """

    url: str = ""
    most_texts: int = 100
    longer_by: int = 0
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    paths: list[str] = field(default_factory=list[str])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def texts(self) -> list[str]:
        """Every text that was sent."""
        sent = [body["text"] if "text" in body else body["input"] for body in self.bodies]
        return [text for texts in sent for text in texts]

    def answer(self, path: str, body: dict[str, Any]) -> Trouble:
        """Return the vectors of a request in the form of its protocol, or a refusal."""
        if path == f"/accounts/{ACCOUNT}/ai/run/{MODEL}":
            rows = self._vectors(body["text"])
            data = {"shape": [len(rows), len(rows[0])], "data": rows}
            answer: dict[str, Any] = {"result": data, "success": True, "errors": [], "messages": []}
        elif path == "/v1/embeddings":
            rows = self._vectors(body["input"])
            entries = [
                {"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(rows)
            ]
            answer = {"object": "list", "data": entries[::-1], "model": body["model"]}
        else:
            return Trouble(status=404)
        return Trouble(body=json.dumps(answer).encode())

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        short = WordHashEmbedder().embed_passages(texts)
        return [[2 * number for number in row] + [0.0] * (768 + self.longer_by) for row in short]


@contextmanager
def embedding_server() -> Generator[EmbeddingServer, None, None]:
    """Serve on the loopback until the block ends."""
    seen = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.paths.append(self.path)
            seen.headers.append({name.lower(): value for name, value in self.headers.items()})
            seen.bodies.append(body)
            self._say(seen.troubles.pop(0) if seen.troubles else self._vectors(body))

        def _vectors(self, body: dict[str, Any]) -> Trouble:
            texts: list[str] = body.get("text") or body.get("input") or []
            fits = 0 < len(texts) <= seen.most_texts and all(texts)
            return seen.answer(self.path, body) if fits else Trouble(status=400)

        def _say(self, answer: Trouble) -> None:
            if answer.hangs_up:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    seen.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
