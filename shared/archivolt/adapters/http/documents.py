"""Reading a JSON document from somebody else's address."""

from typing import Any, Final

import httpx2

from archivolt.domain.errors import UnavailableError

_OK: Final = 200


def read_json(client: httpx2.Client, url: str) -> Any:  # noqa: ANN401  whatever is there
    """Return the parsed document.

    Raises:
        UnavailableError: It cannot be read, or is no JSON.

    """
    try:
        response = client.get(url, headers={"accept": "application/json"})
        if response.status_code != _OK:
            raise UnavailableError("unavailable")
        return response.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
        raise UnavailableError("unavailable") from error
