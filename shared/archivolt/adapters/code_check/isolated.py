"""Checks code in a child process: parsers written in C are not made for hostile text.

The child is a fresh interpreter without this process's environment, credentials included.
"""

import json
import os
import subprocess
import sys
import sysconfig
from typing import Any, Final

from archivolt.domain.code_check import CodeCheck, CodeError, CodeLanguage
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import MAX_CHECKED_CODE_BYTES, MAX_CODE_CHECK_SECONDS
from archivolt.observability import logger

_WORKER: Final = "archivolt.adapters.code_check.worker"


class IsolatedCodeChecker:
    """A `CodeChecker`; a text that takes too much is told to be unchecked.

    `seconds`: how long a child is waited for, whatever it computes.
    """

    def __init__(self, *, seconds: float = MAX_CODE_CHECK_SECONDS) -> None:
        self._seconds = seconds

    def check(self, language: CodeLanguage, text: str) -> CodeCheck:
        """Return what is wrong with a text.

        Raises:
            UnavailableError: `unavailable`: the child could not be started.

        """
        data = text.encode("utf-8", "replace")
        if len(data) > MAX_CHECKED_CODE_BYTES:
            return CodeCheck(unchecked="code_too_large")
        try:
            ended = subprocess.run(  # noqa: S603  no part of the command comes from outside
                [sys.executable, "-P", "-W", "ignore", "-m", _WORKER, language.value],
                input=data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return CodeCheck(unchecked="code_too_complex")
        except OSError as error:
            raise UnavailableError("unavailable") from error
        return _found(ended)


def _environment() -> dict[str, str]:
    """Return what the interpreter needs to find its modules and its own library, and no more."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "LD_LIBRARY_PATH": str(sysconfig.get_config_var("LIBDIR") or ""),
    }


def _found(ended: "subprocess.CompletedProcess[bytes]") -> CodeCheck:
    if ended.returncode < 0:
        # Its limits, or a parser that gave up on the text.
        return CodeCheck(unchecked="code_too_complex")
    if ended.returncode:
        logger.error("a code checker did not start", extra={"exit_code": ended.returncode})
        raise UnavailableError("unavailable")
    answer: dict[str, Any] = json.loads(ended.stdout)
    errors = tuple(CodeError(**error) for error in answer["errors"])
    return CodeCheck(errors=errors, total=answer["total"], unchecked=answer["unchecked"])
