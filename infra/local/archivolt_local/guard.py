"""Runs a command that dies with the process that started it.

Executed by path, before the command, in whatever Python the command needs: standard library only.
usage: guard.py SIGNAL PARENT COMMAND…   (SIGNAL is sent to the command when PARENT ends)
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Arm the signal, then become the command."""
    signal_number, parent, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606  no shell: the command is ours


if __name__ == "__main__":
    main()
