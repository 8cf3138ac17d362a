"""The façade's HTTP server, in a process of its own: `python -m archivolt_local.vectors.server`.

Answers have the form of a Qdrant server's: `{"result", "status", "time"}`, 401 without the key,
404 for an absent collection, 409 for one that exists, 400 for what cannot be understood.
"""

import hmac
import json
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from archivolt_local.addresses import LOOPBACK
from archivolt_local.private_files import read_json
from archivolt_local.vectors.collections import (
    CollectionExistsError,
    Collections,
    NoSuchCollectionError,
)
from archivolt_local.vectors.operations import OPERATIONS, Operation, Request
from archivolt_local.vectors.wire import BadRequestError

_MAX_BODY = 64_000_000


class VectorServer(ThreadingHTTPServer):
    """Serves one folder of collections to those who have the key."""

    daemon_threads = True

    def __init__(self, port: int, collections: Collections, api_key: str) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.collections = collections
        self.api_key = api_key


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without these two a call takes 44 ms: the answer waits for the client's delayed ACK.
    disable_nagle_algorithm = True
    wbufsize = -1

    @property
    def store(self) -> VectorServer:
        """The server this handler works for."""
        return cast("VectorServer", self.server)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Log nothing: requests hold people's texts."""

    def do_GET(self) -> None:
        """Answer a GET."""
        self._serve()

    def do_PUT(self) -> None:
        """Answer a PUT."""
        self._serve()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._serve()

    def do_DELETE(self) -> None:
        """Answer a DELETE."""
        self._serve()

    def _serve(self) -> None:
        started = time.perf_counter()
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MAX_BODY:
            self.close_connection = True
            self._send(413, {"status": {"error": "Payload too large"}})
            return
        body = self.rfile.read(length)
        path = urlsplit(self.path).path
        if path in {"/", "/healthz", "/livez", "/readyz"}:
            self._send(200, {"title": "qdrant - vector search engine", "version": "1.16.0"})
            return
        if not self._knows_the_key():
            self._send(401, {"status": {"error": "Must provide an API key"}})
            return
        status, answer = self._answer(path, body)
        self._send(status, {**answer, "time": time.perf_counter() - started})

    def _knows_the_key(self) -> bool:
        given = self.headers.get("api-key") or ""
        bearer = self.headers.get("Authorization") or ""
        given = given or bearer.removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self.store.api_key.encode())

    def _answer(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        try:
            operation, request = route(self.command, path, body)
            return 200, {"result": operation(self.store.collections, request), "status": "ok"}
        except Exception as error:  # noqa: BLE001  the engine raises plain exceptions
            status, message = failure_of(error, path)
            return status, {"status": {"error": message}}

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        encoded = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)


def failure_of(error: Exception, path: str) -> tuple[int, str]:
    """Return the status and sentence with which a Qdrant server tells an error."""
    name = unquote(path.removeprefix("/collections/").partition("/")[0])
    match error:
        case NoSuchCollectionError():
            return 404, f"Not found: Collection `{name}` doesn't exist!"
        case CollectionExistsError():
            return 409, f"Wrong input: Collection `{name}` already exists!"
        case KeyError():
            return 400, f"Format error in JSON body: missing field {error}"
        case LookupError():
            return 404, str(error)
        case BadRequestError() | TypeError() | ValueError():
            return 400, f"Wrong input: {error}"
        case _:
            return 500, f"Service internal error: {type(error).__name__}: {error}"


def route(method: str, path: str, body: bytes) -> tuple[Operation, Request]:
    """Return what a request asks for.

    Raises:
        LookupError: There is nothing at this address.
        ValueError: The body is no JSON object.

    """
    names = [unquote(name) for name in path.strip("/").split("/")]
    if names[0] != "collections":
        raise IndexError(f"no such address: {method} {path}")
    collection, rest = (names[1], names[2:]) if len(names) > 1 else ("", [])
    point = rest[1] if method == "GET" and len(rest) == 2 and rest[0] == "points" else ""  # noqa: PLR2004  points/{id}
    pattern = "points/*" if point else "/".join(rest) or ("*" if collection else "")
    operation = OPERATIONS.get((method, pattern))
    if operation is None:
        raise IndexError(f"no such address: {method} {path}")
    parsed: Any = json.loads(body) if body else {}
    if not isinstance(parsed, dict):
        raise BadRequestError("the body is no JSON object")
    return operation, Request(collection, point, parsed)


def _stop(_number: int, _frame: object) -> None:
    sys.exit(0)


def main() -> None:
    """Serve until SIGTERM. Arguments: the folder, the port, the file with the stack's keys."""
    folder, port, keys = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    collections = Collections(folder)
    server = VectorServer(port, collections, read_json(keys)["vectors"])
    signal.signal(signal.SIGTERM, _stop)
    try:
        server.serve_forever()
    finally:
        collections.close()


if __name__ == "__main__":
    main()
