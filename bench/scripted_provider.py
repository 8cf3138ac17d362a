"""A provider on loopback in a process of its own: it streams as many pieces as a request asks for.

`python -m bench.scripted_provider` prints its port and serves until its standard input ends. The
name of the model says how many pieces: `pieces-100`. Connections are kept, as real providers do.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

PIECE: Final = "word "
_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@asynccontextmanager
async def scripted_provider() -> AsyncGenerator[str]:
    """Run the provider and give its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.scripted_provider"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("no pipes")
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/v1"
    finally:
        process.stdin.close()
        await process.wait()


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    piece = _event({"content": PIECE})
    end = _event({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    while head := await _head(reader):
        size = next(
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        asked = json.loads(await reader.readexactly(size))
        writer.write(_HEAD)
        for _ in range(int(asked["model"].rpartition("-")[2])):
            writer.write(piece)
            await writer.drain()
        writer.write(end)
        await writer.drain()
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
