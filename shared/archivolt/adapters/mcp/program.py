"""A server that is a program of this machine: its lines, and its end with all that it started.

The SDK's own way takes a line of any length into memory, and leaves what a program started itself.
"""

import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import AsyncResource, ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from archivolt.adapters.mcp.failures import LinkLostError
from archivolt.adapters.mcp.structure import has_too_many_values
from archivolt.domain.federation_limits import MAX_MCP_ANSWER_BYTES

# What is said to it last has so long to be written, then it to end, and again once it is told to.
_FLUSH_SECONDS: Final = 0.5
_END_SECONDS: Final = 2.0
_BETWEEN_LOOKS_SECONDS: Final = 0.01

_Broken = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
_Heard = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[_Heard], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def program_streams(
    command: str, arguments: Sequence[str], values: Mapping[str, str]
) -> AsyncGenerator[Streams]:
    """Run a program and give the streams from and to it; at the end nothing of it is left.

    It sees `values` and no more of our environment than programs need. What it says beside the
    protocol goes nowhere. A line that is too much is a `LinkLostError` (`mcp_too_much`) in the
    stream, and the last that is heard.

    Raises:
        OSError: It cannot be started.

    """
    process = await anyio.open_process(
        [command, *arguments],
        env=get_default_environment() | dict(values),
        stderr=subprocess.DEVNULL,
        cwd=Path.home() if Path.home().is_dir() else None,
        start_new_session=True,
    )
    program = _Program(process)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(program.hear)
        tasks.start_soon(program.say)
        try:
            yield program.heard, program.said
        finally:
            # To be cut off here would leave the program behind; all of it takes a few seconds.
            with anyio.CancelScope(shield=True):
                await program.end()
            tasks.cancel_scope.cancel()


class _Program:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None  # noqa: S101  it was started with pipes
        assert process.stdout is not None  # noqa: S101
        self._process = process
        self._input: ByteSendStream = process.stdin
        self._output: ByteReceiveStream = process.stdout
        self._hearing, self.heard = anyio.create_memory_object_stream[_Heard](0)
        self.said, self._saying = anyio.create_memory_object_stream[SessionMessage](0)
        self._has_said = anyio.Event()

    async def hear(self) -> None:
        """Pass on what it says, line by line."""
        with suppress(*_Broken):
            try:
                async with self._hearing:
                    await self._pass_on()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._let_talk()

    async def _pass_on(self) -> None:
        held = bytearray()
        async for part in self._output:
            start = len(held)
            held += part
            while (end := held.find(b"\n", start)) >= 0:
                line = bytes(held[:end]).strip()
                del held[: end + 1]
                start = 0
                if has_too_many_values(line):
                    await self._give_up()
                if line:
                    await self._hearing.send(_message(line))
            if len(held) > MAX_MCP_ANSWER_BYTES:
                await self._give_up()

    async def _give_up(self) -> None:
        await self._hearing.send(LinkLostError("mcp_too_much"))
        await self._let_talk()

    async def _let_talk(self) -> None:
        """Listen to nothing until it ends: it could not end with a full pipe."""
        with suppress(*_Broken, anyio.EndOfStream):
            while True:
                await self._output.receive()

    async def say(self) -> None:
        """Write what is said to it."""
        try:
            async with self._saying:
                async for each in self._saying:
                    said = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._input.send(said.encode() + b"\n")
        except _Broken:
            # It may live on, but hears nothing: whoever waits for an answer is told.
            await self._hearing.aclose()
        finally:
            self._has_said.set()

    async def end(self) -> None:
        """Stop it: its input ends, then it is told to, then it is killed, with what it started."""
        self.heard.close()
        self.said.close()
        with anyio.move_on_after(_FLUSH_SECONDS):
            await self._has_said.wait()
        await _closed(self._input)
        with anyio.move_on_after(_END_SECONDS):
            await self._ended()
        await terminate_posix_process_tree(self._process, _END_SECONDS)
        with anyio.move_on_after(_END_SECONDS):
            await self._ended()
        await _closed(self._output)
        for stream in (self._hearing, self._saying):
            await stream.aclose()
        with suppress(ProcessLookupError, PermissionError):
            _let_go(self._process)

    async def _ended(self) -> None:
        # Not `wait`, which waits for the pipes too: whatever it started may hold them.
        while self._process.returncode is None:  # noqa: ASYNC110  nothing else tells
            await anyio.sleep(_BETWEEN_LOOKS_SECONDS)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _closed(stream: AsyncResource) -> None:
    with suppress(*_Broken):
        await stream.aclose()


def _let_go(process: Process) -> None:
    """Close what asyncio keeps of a program, which it does not while another holds its pipes."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        transport.close()
