"""Runs the daily purge, tells it as JSON: `python -m archivolt_local.purge_conversations [dry]`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
"""

import json
import sys
from datetime import timedelta
from typing import Any

from archivolt.bootstrap import Container
from archivolt.entrypoints.events.retention import told_of
from archivolt.settings import load_settings

_TIME = timedelta(minutes=15)


def purge(container: Container, *, dry: bool) -> dict[str, Any]:
    """Remove the conversations that are over age, or only count them, and return the counts."""
    found = container.retention.sweep.run(time_left=lambda: _TIME, dry=dry)
    return told_of(found, container.clock)


if __name__ == "__main__":
    print(json.dumps(purge(Container(load_settings()), dry="dry" in sys.argv[1:])))
