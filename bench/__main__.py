"""`python -m bench [NAME…] [--json]`: measures, and prints them in one table.

Times are of this machine and noisy: read the ratios.
"""

import argparse
import importlib
import json
import sys

from bench.table import Row, render

# In the order of what they take: the last three start a stack of their own.
NAMES = (
    "imports",
    "documents",
    "redaction",
    "code_check",
    "notes",
    "core",
    "retrieval",
    "mcp_overhead",
    "chat",
    "mcp_servers",
    "freshness",
    "indexing",
    "runs",
)


def main() -> None:
    """Run the benchmarks that were named, or all."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--json", action="store_true", help="print one JSON array instead")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    rows: list[Row] = []
    for name in options.names or NAMES:
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += importlib.import_module(f"bench.{name}").measure()
    print(json.dumps([row.as_json() for row in rows]) if options.json else render(rows))


if __name__ == "__main__":
    main()
