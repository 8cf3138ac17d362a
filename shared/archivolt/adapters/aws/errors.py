"""Errors of AWS in our words, by one table.

What is not in the table (a missing right, a missing table) is a fault of the deployment: it is not
translated, and so is logged and answered as `internal`. A missing right is logged here, where it is
known which: further up only the kind of an error may be logged, as its text can hold content.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)

from archivolt.domain.errors import ArchivoltError, ConflictError, UnavailableError
from archivolt.observability import logger

_CONFLICTS: Final = frozenset({"ConditionalCheckFailedException"})

# "403": the answer to HEAD has no body, and so no code.
_DENIED: Final = frozenset({"403", "AccessDenied", "AccessDeniedException"})

_UNAVAILABLE: Final = frozenset(
    {
        "DependencyTimeoutException",
        "InternalError",
        "InternalServerError",
        "KMSInternalException",
        "KeyUnavailableException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)

_UNREACHABLE: Final = (
    ConnectTimeoutError,
    ConnectionClosedError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)

_SERVER_ERROR: Final = 500


@contextmanager
def translated(known: Mapping[str, ArchivoltError] | None = None) -> Generator[None]:
    """Raise our errors for those of AWS.

    Args:
        known: What an error code means to the caller; it comes before the general table.

    Raises:
        ArchivoltError: The one in `known`.
        ConflictError: `conflict`: a condition on a write does not hold.
        UnavailableError: `unavailable`: throttled, timed out, unreachable, or broken.

    """
    try:
        yield
    except ClientError as error:
        ours = (known or {}).get(code_of(error)) or _general(error)
        if ours is None:
            if code_of(error) in _DENIED:
                logger.error("access_denied", extra={"operation": error.operation_name})
            raise
        raise ours from error
    except _UNREACHABLE as error:
        raise UnavailableError("unavailable") from error


def code_of(error: ClientError) -> str:
    """Return the error's code as the service gives it."""
    return error.response.get("Error", {}).get("Code", "")


def was_retried(error: ClientError) -> bool:
    """Tell whether an earlier attempt of the same request may have succeeded unheard."""
    return error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) > 0


def _general(error: ClientError) -> ArchivoltError | None:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code_of(error) in _CONFLICTS:
        return ConflictError("conflict")
    if code_of(error) in _UNAVAILABLE or status >= _SERVER_ERROR:
        return UnavailableError("unavailable")
    return None
