"""A REST API in front of a handler: proxy events of version 1 in, answers out."""

import asyncio
import base64
import copy
import json
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).parents[1] / "events"

Handler = Callable[[Any, Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What a client gets."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401  a body is any JSON
        return json.loads(self.body)


class LambdaProcess:
    """One execution environment: a handler that is made once, and the loop it keeps."""

    def __init__(self, create: Callable[[], Handler]) -> None:
        self._loop = asyncio.new_event_loop()
        weakref.finalize(self, self._loop.close)
        with self._current_loop():
            self._handler = create()

    def invoke(self, event: Mapping[str, Any]) -> Answer:
        """Return the answer to one event."""
        with self._current_loop():
            return answer_of(self._handler(event, None))

    @contextmanager
    def _current_loop(self) -> Generator[None]:
        asyncio.set_event_loop(self._loop)
        try:
            yield
        finally:
            asyncio.set_event_loop(None)


def proxy_event(
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    path: str = "/mcp",
    method: str = "POST",
    without: tuple[str, ...] = (),
    as_binary: bool = False,
) -> dict[str, Any]:
    """Return the golden event with another request in it.

    `body` is sent as it is when text or bytes, and as JSON otherwise; `without` names headers to
    leave out; `as_binary` (always so for bytes) sends the body as an API that takes every type as
    binary does.
    """
    event: dict[str, Any] = copy.deepcopy(GOLDEN)
    lines: dict[str, list[str]] = event["multiValueHeaders"]
    for name, value in (headers or {}).items():
        _drop(lines, name)
        lines[name] = [value]
    for name in without:
        _drop(lines, name)
    event["headers"] = {name: values[-1] for name, values in lines.items()}
    event.update(path=path, httpMethod=method, resource=path)
    event["requestContext"].update(path=path, httpMethod=method, resourcePath=path)
    text = _text(body)
    as_binary = as_binary or isinstance(body, bytes)
    event["body"] = base64.b64encode(text).decode() if as_binary else text.decode()
    event["isBase64Encoded"] = as_binary
    return event


def answer_of(result: Mapping[str, Any]) -> Answer:
    """Return a handler's result as the client sees it."""
    body = result.get("body") or ""
    raw = base64.b64decode(body) if result.get("isBase64Encoded") else body.encode()
    single: Mapping[str, str] = result.get("headers") or {}
    multiple: Mapping[str, list[str]] = result.get("multiValueHeaders") or {}
    joined = {name: ", ".join(values) for name, values in multiple.items()}
    headers = {name.lower(): value for name, value in {**single, **joined}.items()}
    return Answer(status=result["statusCode"], headers=headers, body=raw)


GOLDEN: dict[str, Any] = json.loads((EVENTS / "rest_api_post_mcp.json").read_text())


def _drop(lines: dict[str, list[str]], name: str) -> None:
    for present in [line for line in lines if line.lower() == name.lower()]:
        del lines[present]


def _text(body: object) -> bytes:
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()
