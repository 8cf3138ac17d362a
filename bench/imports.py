"""What importing each function costs, in CPU time of a fresh process, beside its floor.

Functions and floors take turns, so that a busy moment of the machine is everybody's.
"""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.table import Row

_FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
_FLOORS: Final = ("fastapi", "mcp.server")
_ROUNDS: Final = 5
# The interpreter's own start is not counted.
_PROBE: Final = (
    "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
)


def measure() -> list[Row]:
    """Return one row per function: milliseconds of CPU, median of five processes."""
    folders = sorted(path.parent for path in _FUNCTIONS.glob("*/app.py"))
    samples: dict[str, list[float]] = {}
    for _ in range(_ROUNDS):
        for module in _FLOORS:
            samples.setdefault(module, []).append(_sample(module))
        for folder in folders:
            samples.setdefault(folder.name, []).append(_sample("app", folder))
    cost = {name: statistics.median(times) * 1000 for name, times in samples.items()}
    return [_row(folder.name, cost) for folder in folders]


def _row(function: str, cost: dict[str, float]) -> Row:
    floor = "mcp.server" if function == "mcp" else "fastapi"
    return Row(
        measure=f"import {function}",
        value=cost[function],
        unit="ms",
        floor="FastAPI alone" if floor == "fastapi" else f"{floor} alone",
        floor_value=cost[floor],
    )


def _sample(module: str, folder: Path | None = None) -> float:
    environment = {"PYTHONPATH": str(folder)} if folder else {}
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE.format(module)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(probe.stdout)
