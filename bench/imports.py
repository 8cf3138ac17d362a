"""What importing each function costs, in CPU time of a fresh process, beside its floor."""

import statistics
import subprocess
import sys
from pathlib import Path

from bench.table import Row

_FUNCTIONS = Path(__file__).parents[1] / "functions"
_REPEATS = 5
# Warm-up is the interpreter's own; only what the import adds is counted.
_PROBE = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


def measure() -> list[Row]:
    """Return one row per function: milliseconds of CPU, median of five processes."""
    floors = {name: _import_cost(name) for name in ("fastapi", "mcp.server")}
    rows: list[Row] = []
    for folder in sorted(path.parent for path in _FUNCTIONS.glob("*/app.py")):
        floor = "mcp.server" if folder.name == "mcp" else "fastapi"
        rows.append(
            Row(
                measure=f"import {folder.name}",
                value=_import_cost("app", folder),
                unit="ms",
                floor=f"{floor} alone",
                floor_value=floors[floor],
            )
        )
    return rows


def _import_cost(module: str, folder: Path | None = None) -> float:
    samples = [_sample(module, folder) for _ in range(_REPEATS)]
    return statistics.median(samples) * 1000


def _sample(module: str, folder: Path | None) -> float:
    environment = {"PYTHONPATH": str(folder)} if folder else {}
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE.format(module)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(probe.stdout)
