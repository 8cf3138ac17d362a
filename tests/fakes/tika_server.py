"""A server that speaks the protocol of Apache Tika's (`PUT /tika`), with the answers of a test."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class TikaServer:
    """What the server answers, and what it was asked: the headers and bytes of each document."""

    url: str = ""
    status: int = 200
    body: str = ""
    hangs_up: bool = False
    never_answers: bool = False
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    documents: list[bytes] = field(default_factory=list[bytes])

    def says(self, *pages: str, title: str = "") -> None:
        """Answer with these pages, as Tika writes those of a PDF; one page is not marked."""
        marked = "".join(f'<div class="page"><p />\n{page}\n</div>' for page in pages)
        self.body = (
            '<html xmlns="http://www.w3.org/1999/xhtml"><head>'
            f'<meta name="Content-Type" content="application/pdf" /><title>{title}</title></head>'
            f"<body>{marked if len(pages) > 1 else ''.join(pages)}</body></html>"
        )


@contextmanager
def tika_server() -> Generator[TikaServer, None, None]:
    """Serve on the loopback until the block ends."""
    tika = TikaServer()
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            tika.headers.append({name.lower(): value for name, value in self.headers.items()})
            tika.documents.append(self.rfile.read(int(self.headers["Content-Length"])))
            if tika.never_answers:
                ended.wait()
            if tika.hangs_up or tika.never_answers:
                self.close_connection = True
                return
            known = self.path == "/tika" and self.headers["Accept"] == "text/html"
            body = tika.body.encode()
            self.send_response(tika.status if known else 406)
            self.send_header("Content-Type", "text/html;charset=UTF-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    tika.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield tika
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
