"""Ports on the loopback."""

import errno
import socket

from archivolt_local.problems import StartError

LOOPBACK = "127.0.0.1"


def free_port(preferred: int = 0) -> int:
    """Return a port that nobody listens on now, `preferred` if it is one."""
    if preferred and _is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def reserve(port: int) -> socket.socket:
    """Take the port people will use; who connects before the stack is ready waits for it.

    Raises:
        StartError: It is taken, or may not be used.

    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reserved.bind((LOOPBACK, port))
        # Bound alone, Linux would let another stack bind it too.
        reserved.listen()
    except OSError as error:
        reserved.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(f"Port {port} is busy; choose another one with --port.") from error
        raise StartError(f"Port {port} cannot be used ({error.strerror}).") from error
    return reserved
