"""A reranking provider on the loopback: it speaks Cohere's protocol, TEI's and Workers AI's.

A text scores the share of the question's words that it has.
"""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "@cf/baai/bge-reranker-base"
ACCOUNT = "account-1"
COHERE, TEI = "/v2/rerank", "/rerank"
WORKERS = f"/accounts/{ACCOUNT}/ai/run/{MODEL}"


@dataclass
class RerankServer:
    """What the server was asked; with `status` or `body` it answers that in place of scores."""

    url: str = ""
    status: int = 200
    body: bytes | None = None
    most: int = 100
    paths: list[str] = field(default_factory=list[str])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str | None] = field(default_factory=list[str | None])

    def answer(self, path: str, body: dict[str, Any]) -> object:
        """Return the scores in the form of the protocol, best first, as many as it gives."""
        if path == WORKERS:
            rows = self._scores(body["query"], [each["text"] for each in body["contexts"]])
            return {"result": {"response": [{"id": n, "score": s} for n, s in rows]}}
        if path == TEI:
            rows = self._scores(body["query"], body["texts"])
            return [{"index": n, "score": s} for n, s in rows]
        rows = self._scores(body["query"], body["documents"])[: body["top_n"]]
        return {"results": [{"index": n, "relevance_score": s} for n, s in rows], "id": "x"}

    def _scores(self, question: str, texts: list[str]) -> list[tuple[int, float]]:
        words = set(question.lower().split())
        scores = [len(words & set(text.lower().split())) / len(words) for text in texts]
        return sorted(enumerate(scores), key=lambda pair: -pair[1])[: self.most]


@contextmanager
def rerank_server() -> Generator[RerankServer]:
    """Serve on the loopback until the block ends."""
    seen = RerankServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.paths.append(self.path)
            seen.bodies.append(body)
            seen.keys.append(self.headers.get("authorization"))
            told = seen.body
            if told is None:
                told = json.dumps(seen.answer(self.path, body)).encode()
            self.send_response(seen.status)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

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
