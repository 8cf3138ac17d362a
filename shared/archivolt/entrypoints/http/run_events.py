"""The events of a run: page by page, or as a stream that a reader can take up again.

A stream tells each event under its number. It ends with the run, or before its function would be
stopped: a reader comes back with `Last-Event-ID`, as browsers do by themselves (WHATWG HTML §9.2).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Annotated, Any, Final, Protocol

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from archivolt.chat.sse import EVENT_STREAM_HEADERS, HEARTBEAT, encoded
from archivolt.domain.errors import NotFoundError
from archivolt.domain.limits import HEARTBEAT_SECONDS
from archivolt.domain.run import Run, RunEvent
from archivolt.domain.run_limits import (
    DEFAULT_RUN_EVENTS,
    MAX_RUN_EVENTS,
    RUN_EVENTS_POLL_SECONDS,
    RUN_EVENTS_STREAM_SECONDS,
)
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.run_bodies import EventBody, EventPage

_STREAM: Final = "text/event-stream"
_DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": EventPage,
        "description": "A page; with `Accept: text/event-stream` events as they happen.",
        "content": {_STREAM: {"schema": {"type": "string"}}},
    },
    204: {"description": "The run is over and a stream would tell nothing more: do not come back."},
}
AfterNumber = Annotated[int, Query(ge=0, description="The number of the last event you have.")]
EventLimit = Annotated[int, Query(ge=1, le=MAX_RUN_EVENTS)]
LastEvent = Annotated[str, Header(alias="Last-Event-ID", max_length=20)]


class ReadEvents(Protocol):
    """Reads the events of one run."""

    def __call__(self, *, after: int, limit: int) -> list[RunEvent]:
        """Return those with higher numbers than `after`, in order."""
        ...


def add_events(router: APIRouter, services: ChatServicesOf) -> None:
    """Add the route of events."""

    @router.get(
        "/runs/{run_id}/events",
        summary="Watch an agent run",
        operation_id="run_events",
        response_model=None,
        responses=_DOCUMENTED,
    )
    async def run_events(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: InteractivePrincipal,
        run_id: str,
        after: AfterNumber = 0,
        limit: EventLimit = DEFAULT_RUN_EVENTS,
        last_event_id: LastEvent = "",
    ) -> Response | EventPage:
        """Return what happened in a run, in order, each event under its number."""
        runs = services().agent().runs
        run = await asyncio.to_thread(runs.read, principal, run_id)
        start = int(last_event_id) if last_event_id.isdecimal() else after
        if _STREAM in request.headers.get("accept", ""):
            if all_told(run, start):
                return Response(status_code=204)  # so that a browser does not come back
            look = partial(runs.read, principal, run_id)
            stream = event_stream(partial(runs.events, principal, run), start, look=look)
            return StreamingResponse(stream, media_type=_STREAM, headers=EVENT_STREAM_HEADERS)
        events = await asyncio.to_thread(runs.events, principal, run, after=start, limit=limit)
        last = events[-1].number if events else start
        return EventPage(
            events=[EventBody.of(each) for each in events],
            next_after=last,
            over=all_told(run, last),
        )


def all_told(run: Run, after: int) -> bool:
    """Tell whether a reader with the event of this number has all that there will be."""
    return run.status.over and after >= run.event_count


async def event_stream(
    read: ReadEvents,
    after: int,
    *,
    look: Callable[[], Run],
    poll_seconds: float = RUN_EVENTS_POLL_SECONDS,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
) -> AsyncGenerator[bytes, None]:
    """Yield the events of a run as they come, and a comment whenever none came for a while.

    `read` reads events. `look` reads the run: then it is asked, too, whether there is anything to
    wait for still.
    """
    quiet, left = 0.0, float(RUN_EVENTS_STREAM_SECONDS)
    while left > 0:
        events = await asyncio.to_thread(read, after=after, limit=MAX_RUN_EVENTS)
        for event in events:
            yield encoded(event.name, event.data, event.number)
            after = event.number
        if events and events[-1].name == "run_end":
            return
        if events:
            quiet = 0.0
            continue
        if quiet >= heartbeat_seconds:
            try:
                if all_told(await asyncio.to_thread(look), after):
                    return
            except NotFoundError:
                return  # deleted, or no longer the reader's
            yield HEARTBEAT
            quiet = 0.0
        await asyncio.sleep(poll_seconds)
        quiet, left = quiet + poll_seconds, left - poll_seconds
