"""What to say of somebody whose time passed: whoever waits for them next goes by it."""

import httpx2


def silence(error: httpx2.TimeoutException) -> str:
    """Return the reason: a question that never left costs nothing, one that did may."""
    return "provider_unreachable" if isinstance(error, _BEFORE_IT_LEFT) else "provider_silent"


def broken_line(error: Exception) -> dict[str, str]:
    """Return the reason, as details, where a question left and its answer was lost."""
    left = isinstance(error, httpx2.HTTPError) and not isinstance(error, _NEVER_LEFT)
    return {"reason": "provider_connection"} if left else {}


_BEFORE_IT_LEFT = (httpx2.ConnectTimeout, httpx2.PoolTimeout)
_NEVER_LEFT = (httpx2.ConnectError, httpx2.UnsupportedProtocol, *_BEFORE_IT_LEFT)
