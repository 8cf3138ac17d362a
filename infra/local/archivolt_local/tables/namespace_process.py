"""Runs DynamoDB Local where nobody else can reach it, and lets the loopback in.

Executed by path, inside a network namespace of its own (`unshare -rn`): standard library only.
DynamoDB Local listens on every interface and has no option for it; here that is an empty machine.
The socket people connect to was made outside and is inherited: a socket stays in the namespace it
was made in.
usage: namespace_process.py LISTENING_DESCRIPTOR JAVA_COMMAND…
"""

import asyncio
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

INNER_PORT = 8000
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x41
_PR_SET_PDEATHSIG = 1
_CHUNK = 65_536
_CONNECT_TRIES = 600


def bring_loopback_up() -> None:
    """Do what `ip link set lo up` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", _IFF_UP_RUNNING)
        fcntl.ioctl(control.fileno(), _SIOCSIFFLAGS, request)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def _connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    for _ in range(_CONNECT_TRIES):
        try:
            return await asyncio.open_connection("127.0.0.1", INNER_PORT)
        except OSError:
            await asyncio.sleep(0.05)
    raise ConnectionError


async def _serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        inner_reader, inner_writer = await _connect()
    except ConnectionError:
        writer.close()
        return
    await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


async def _run(descriptor: int, java: list[str]) -> int:
    bring_loopback_up()
    process = await asyncio.create_subprocess_exec(*java, preexec_fn=_die_with_parent)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, process.terminate)
    listening = socket.socket(fileno=descriptor)
    listening.setblocking(False)
    await asyncio.start_server(_serve_one, sock=listening, limit=_CHUNK)
    return await process.wait()


if __name__ == "__main__":
    os.set_inheritable(int(sys.argv[1]), False)
    sys.exit(asyncio.run(_run(int(sys.argv[1]), sys.argv[2:])))
