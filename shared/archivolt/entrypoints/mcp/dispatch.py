"""What a handler sees of its surroundings when a request is one POST and its answer one body.

Refuses to send anything but the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import ProgressToken, RequestId

from archivolt.entrypoints.mcp.wire import JsonObject


@dataclass(kw_only=True)
class BufferedDispatch:
    """The SDK's view of one request: notifications are kept for the answer, nothing is asked back.

    Satisfies `mcp.shared.dispatcher.DispatchContext`.
    """

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    progress_token: ProgressToken | None = None
    notifications: list[JsonObject] = field(default_factory=list[JsonObject])
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002  the protocol's signature
        opts: CallOptions | None = None,  # noqa: ARG002  the SDK's
    ) -> dict[str, Any]:
        """Refuse: the client's reply to a request of ours would reach another process."""
        raise NoBackChannelError(method)

    async def notify(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,  # noqa: ARG002  the SDK's
    ) -> None:
        """Keep a notification; it goes ahead of the result if the client takes streams."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        self.notifications.append(message if params is None else {**message, "params": {**params}})

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Keep a progress notification, if the client asked for them."""
        if self.progress_token is None:
            return
        values = {"progress": progress, "total": total, "message": message}
        present = {name: value for name, value in values.items() if value is not None}
        await self.notify(
            "notifications/progress", {"progressToken": self.progress_token, **present}
        )
