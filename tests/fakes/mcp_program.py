"""An MCP server as a script of the standard library alone: well, or broken in one way.

Run as a program it speaks over its standard input and output; `Script` serves tests over HTTP too.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

READS = {"readOnlyHint": True, "openWorldHint": False}
ANYTHING: Json = {"type": "object"}
FORM: Json = {"type": "object", "properties": {}}
# Of messages, or of pieces of a line: more than a client has patience for.
_ENDLESS = 8_000
MODERN = "2026-07-28"
OLDER = "2025-06-18"


def tool(name: str, hints: Json | None = None) -> Json:
    listed: Json = {"name": name, "description": f"The tool {name}.", "inputSchema": ANYTHING}
    return listed | ({"annotations": hints} if hints else {})


def text(said: object) -> Json:
    return {"content": [{"type": "text", "text": str(said)}]}


class Script:
    """What a server answers. `modern`: it speaks the stateless era and knows no handshake."""

    def __init__(self, *, modern: bool = False, marker: Path | None = None) -> None:
        self.modern = modern
        self.marker = marker
        self.calls: list[tuple[str, Json]] = []
        reads = [tool("echo", READS), tool("pid", READS)]
        self.listed = [*reads, tool("post"), tool("ask"), tool("die"), tool("hang")]

    def answer(self, method: str, params: Json) -> Json:
        """Return the result of a request.

        Raises:
            LookupError: There is no such method in this era.

        """
        if method == "tools/list":
            return self._complete({"tools": self.listed})
        if method == "tools/call":
            self.calls.append((params["name"], params.get("arguments") or {}))
            return self._complete(self._called(params))
        if self.modern and method == "server/discover":
            return self._complete({"supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        if not self.modern and method == "initialize":
            return {
                "protocolVersion": OLDER,
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }
        raise LookupError(method)

    def _complete(self, result: Json) -> Json:
        hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        return (hints if self.modern else {}) | result

    def _called(self, params: Json) -> Json:
        name = params["name"]
        arguments: Json = params.get("arguments") or {}
        if name == "ask" and self.modern:
            return self._asked(params)
        if name == "fail":
            return text("it failed") | {"isError": True}
        seen = sorted(os.environ)  # noqa: TID251  it is not the product
        known = {"pid": os.getpid(), "environment": seen, "argv": sys.argv}
        return text(known.get(name, json.dumps(arguments)))

    def _asked(self, params: Json) -> Json:
        answers: Mapping[str, Any] = params.get("inputResponses") or {}
        if not answers:
            form = {"message": "Who?", "mode": "form", "requestedSchema": FORM}
            request = {"method": "elicitation/create", "params": form}
            return {
                "resultType": "input_required",
                "inputRequests": {"who": request},
                "requestState": "state-1",
            }
        return text(f"{params['requestState']} {answers['who']['content']}")


class Program:
    """A script over standard input and output, for ever."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._lines = sys.stdin
        self._is_late = False

    def run(self) -> None:
        """Serve until the input ends; what a client calls off is written to the marker."""
        for line in self._lines:
            message = json.loads(line)
            if "id" in message and "method" in message:
                self._serve(message)
            if message.get("method") == "notifications/cancelled":
                self._note(json.dumps(message["params"]))

    def _serve(self, message: Json) -> None:
        params: Json = message.get("params") or {}
        name = params.get("name") if message["method"] == "tools/call" else None
        if name == "die" and self._dies():
            sys.exit(1)
        if name in {"hang", "late"}:
            self._note("hanging")
            self._is_late = name == "late"
            return
        if name and self._is_late:
            self._ask(message["id"])  # for the call before this one
            return
        if name == "change":
            self._script.listed.append(tool("new"))
            write({"method": "notifications/tools/list_changed"})
        if name in _UNASKED:
            _UNASKED[name](message["id"])
        if name == "ask" and not self._script.modern:
            self._ask(message["id"])
            return
        try:
            write({"id": message["id"], "result": self._script.answer(message["method"], params)})
        except LookupError:
            write({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})

    def _note(self, said: str) -> None:
        if self._script.marker:
            with self._script.marker.open("a", encoding="utf-8") as marker:
                marker.write(said)

    def _dies(self) -> bool:
        """Tell whether to end; with a marker, the first time only."""
        marker = self._script.marker
        if marker is None:
            return True
        first = not marker.exists()
        marker.touch()
        return first

    def _ask(self, call: object) -> None:
        """Ask the person in the middle of a call, as the older era does."""
        form = {"message": "Who?", "requestedSchema": FORM}
        write({"id": "q1", "method": "elicitation/create", "params": form})
        for line in self._lines:
            answer = json.loads(line)
            if answer.get("id") == "q1":
                write({"id": call, "result": text(json.dumps(answer["result"], sort_keys=True))})
                return


def write(message: Json) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)  # noqa: T201  its protocol


def endless(call: object) -> None:
    """Begin a line, and come to no end."""
    for _ in range(_ENDLESS):
        sys.stdout.write("x" * 2_048)


def chatter(call: object) -> None:
    """Tell news, and no end of it."""
    for _ in range(_ENDLESS):
        write({"method": "notifications/tools/list_changed"})


def demand(call: object) -> None:
    """Ask and ask, and hear no answer meanwhile."""
    for number in range(_ENDLESS):
        write({"id": f"d{number}", "method": "ping"})


def logging(call: object) -> None:
    """Log where only messages belong."""
    print("INFO called", flush=True)  # noqa: T201  what it is about


def values(call: object) -> None:
    """Answer with more values than anybody reads, in few bytes."""
    write({"id": call, "result": {"content": [], "structuredContent": {"a": [0] * 250_000}}})


def twofold(call: object) -> None:
    """Answer what nobody asked, then the call, which is answered once more afterwards."""
    write({"id": 4_711, "result": text("to nobody")})
    write({"id": call, "result": text("once")})


def sample(call: object) -> None:
    """Want to use the model, and to know of folders."""
    said = {"role": "user", "content": {"type": "text", "text": "Go on."}}
    write({"id": "s1", "method": "sampling/createMessage", "params": {"messages": [said]}})
    write({"id": "s2", "method": "roots/list"})


def spawn(call: object) -> None:
    """Start something that does not hear of our end."""
    started = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
    write({"id": call, "result": text(started.pid)})


_UNASKED: Mapping[Any, Callable[[object], None]] = {
    "endless": endless,
    "chatter": chatter,
    "demand": demand,
    "values": values,
    "logging": logging,
    "twofold": twofold,
    "sample": sample,
    "spawn": spawn,
}


def noisy() -> None:
    """Be well, and say much beside the protocol."""
    sys.stderr.write("x" * 1_000_000)
    Program(Script()).run()


def garbage() -> None:
    while True:
        print("hello", flush=True)  # noqa: T201  what a broken server writes


def hung(marker: str) -> None:
    if marker:
        Path(marker).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(600)


def slow() -> None:
    time.sleep(1)
    Program(Script()).run()


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        Program(Script()).run()
    finally:
        while True:
            time.sleep(60)


def main(mode: str, marker: str = "", *_: str) -> None:
    """Run as a program that is well, `modern`, or broken; `slow`: well after a second."""
    broken: Mapping[str, Callable[[], None]] = {
        "garbage": garbage,
        "hung": lambda: hung(marker),
        "ends": lambda: None,
        "deaf": deaf,
        "slow": slow,
        "noisy": noisy,
        "endless": lambda: endless(None),
    }
    script = Script(modern=mode == "modern", marker=Path(marker) if marker else None)
    broken.get(mode, Program(script).run)()


if __name__ == "__main__":
    main(*sys.argv[1:])
