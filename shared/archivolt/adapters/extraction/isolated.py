"""Reads a document in a child process, so that the worst document costs one child.

The child is a fresh interpreter, not a fork: it starts with nothing of this process, and it works
where shared memory does not (AWS Lambda has none).
"""

import json
import os
import resource
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any, Final

from archivolt.domain.errors import (
    ArchivoltError,
    TooLargeError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.domain.limits import (
    MAX_EXTRACTION_BYTES,
    MAX_EXTRACTION_CPU_SECONDS,
    MAX_EXTRACTION_SECONDS,
)
from archivolt.observability import logger
from archivolt.ports.ingestion import Extraction, Extractor

_WORKER: Final = "archivolt.adapters.extraction.worker"
_ERRORS: Final[dict[str, type[ArchivoltError]]] = {
    error.__name__: error for error in (TooLargeError, UnsupportedContentError)
}
# The part of a limit from which on a document is to blame. Native readers crash where they get no
# more memory; one that asks for twice what it has does so at half of what it may have.
_MUCH: Final = 2
# What `getrusage` counts in.
_MAXRSS_BYTES: Final = 1 if sys.platform == "darwin" else 1_024


class IsolatedExtractor:
    """An `Extractor` that has another one do its work in a child process.

    Args:
        form: The format, as `archivolt.adapters.extraction.worker` names it.
        small: Reads documents of at most `small_bytes` here, where a child would cost more than the
            document could.
        ocr: The engine that reads images, as arguments of `archivolt.adapters.ocr.engines`.

    """

    def __init__(
        self,
        form: str,
        *,
        small: Extractor | None = None,
        small_bytes: int = 0,
        ocr: Sequence[str] = (),
    ) -> None:
        self._form = form
        self._ocr = ocr
        self._small = small
        self._small_bytes = small_bytes

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text.

        Raises:
            UnsupportedContentError: `document_encrypted`, `document_broken` (the child crashed on
                it, too), `document_too_slow`.
            TooLargeError: `document_inflates` (the child crashed for want of memory, too) or
                `document_too_much_text`.
            UnavailableError: `unavailable`: the child could not be started, or was stopped before
                it had got the processor for long.

        """
        if self._small and len(data) <= self._small_bytes:
            return self._small.extract(data, name=name)
        command = [sys.executable, "-P", "-m", _WORKER, self._form, *self._ocr]
        try:
            with _Child(command) as child:
                answer = child.answer(data)
        except OSError as error:
            raise UnavailableError("unavailable") from error
        return _extraction(child, answer)


class _Child(subprocess.Popen[bytes]):
    """The child process; once it has ended, it tells what memory and processor's time it took."""

    def __init__(self, command: Sequence[str]) -> None:
        self.peak_bytes = 0
        self.cpu_seconds = 0.0
        super().__init__(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        self._our_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def answer(self, data: bytes) -> bytes | None:
        """Give it the document and return what it says of it; None if it had to be stopped."""
        try:
            return self.communicate(data, timeout=MAX_EXTRACTION_SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        except BaseException:
            self.kill()
            raise

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        # The library's own waits likewise, and drops what the system knows of the child.
        try:
            pid, status, used = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        if pid:
            peak = used.ru_maxrss * _MAXRSS_BYTES
            # A child's peak begins with its parent's: up to there only pages it asked for can tell.
            asked_for = used.ru_minflt * resource.getpagesize()
            self.peak_bytes = peak if used.ru_maxrss > self._our_peak else min(peak, asked_for)
            self.cpu_seconds = used.ru_utime + used.ru_stime
        return pid, status


def _environment() -> dict[str, str]:
    """Return what the interpreter needs to find its modules and its own library, and no more."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "LD_LIBRARY_PATH": str(sysconfig.get_config_var("LIBDIR") or ""),
    }


def _failure(ended: _Child, *, stopped: bool) -> ArchivoltError:
    """Return what to say of a document whose child was stopped, or crashed."""
    if stopped and ended.cpu_seconds < MAX_EXTRACTION_CPU_SECONDS / _MUCH:
        # Others had the processor: the document is not to blame, and comes again.
        logger.warning("a reader got too little time", extra={"seconds": ended.cpu_seconds})
        return UnavailableError("unavailable")
    if stopped or ended.returncode == -signal.SIGXCPU:
        return UnsupportedContentError("document_too_slow")
    if ended.peak_bytes > MAX_EXTRACTION_BYTES / _MUCH:
        return TooLargeError("document_inflates")
    return UnsupportedContentError("document_broken")


def _extraction(ended: _Child, said: bytes | None) -> Extraction:
    if said is None or ended.returncode < 0:
        raise _failure(ended, stopped=said is None)
    if ended.returncode:
        # It never came to read the document: the fault is the deployment's.
        logger.error("a reader did not start", extra={"exit_code": ended.returncode})
        raise UnavailableError("unavailable")
    answer: dict[str, Any] = json.loads(said)
    if "cause" in answer:
        logger.warning("a reader failed on a document", extra={"cause": answer["cause"]})
    if "error" in answer:
        raise _ERRORS[answer["error"]](answer["code"], **answer["details"])
    return Extraction(**answer)
