"""What to say of somebody whose time passed: whoever waits for them next goes by it."""

import httpx2


def silence(error: httpx2.TimeoutException) -> str:
    """Return the reason: a question that never left costs nothing, one that did may."""
    return "provider_unreachable" if isinstance(error, _BEFORE_IT_LEFT) else "provider_silent"


_BEFORE_IT_LEFT = (httpx2.ConnectTimeout, httpx2.PoolTimeout)
