"""How work is written into a message of one of our queues, and read from it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from archivolt.domain.errors import ArchivoltError, InvalidRequestError

Work = TypeVar("Work")

_VERSION: Final = 1


def write_message(work: Mapping[str, Any]) -> str:
    """Return the message that holds these values."""
    return json.dumps({"version": _VERSION, **work}, ensure_ascii=False, separators=(",", ":"))


def read_message(body: str, work_of: Callable[[dict[str, Any]], Work]) -> Work:
    """Return the work that a message stands for; `work_of` makes it of the values in it.

    Raises:
        InvalidRequestError: `invalid_request`: it is no such message.

    """
    try:
        return work_of(_opened(body))
    except (ArchivoltError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidRequestError("invalid_request", problem="job_unreadable") from error


def _opened(body: str) -> dict[str, Any]:
    message = cast("dict[str, Any]", json.loads(body))
    if message["version"] != _VERSION:
        raise ValueError
    return message
