"""Redaction: secrets of a public sample that are caught, ordinary notes that are changed, and time.

The floor of the share that is caught is the scanner's whose forms the sample has, on the same text.
"""

import importlib
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from archivolt.domain.redaction import redact
from bench.table import Row
from tests.secret_samples import Sample, samples

VAULTS: Final = Path(__file__).parents[2] / "shared" / "data" / "vaults"
RESULT: Final = 8_000


def measure() -> list[Row]:
    """Return the share of secrets caught, of notes changed, and the time for a long result."""
    made = list(samples())
    caught = sum(sample.is_caught() for sample in made) / len(made)
    rows = [
        Row(
            measure=f"secrets caught, of {len(made):,}",
            value=100 * caught,
            unit="%",
            floor="the scanner",
            floor_value=100 * _found_by_the_scanner(made),
        )
    ]
    return [*rows, *_on_notes()] if VAULTS.exists() else rows


def _found_by_the_scanner(made: list[Sample]) -> float:
    library: Any = importlib.import_module("kingfisher_sdk")
    scanner = library.Scanner(library.Rules(confidence="low"))
    return sum(_finds(scanner, sample) for sample in made) / len(made)


def _finds(scanner: Any, sample: Sample) -> bool:  # noqa: ANN401  it has no types
    middle = sample.secret[len(sample.secret) // 4 : -(len(sample.secret) // 4)]
    return any(middle in finding.secret for finding in scanner.scan(sample.text))


def _on_notes() -> list[Row]:
    texts = [text for archive in sorted(VAULTS.glob("*.tar.gz")) for text in _notes(archive)]
    started = time.process_time()
    changed = sum(redact(text).secrets > 0 for text in texts)
    taken = time.process_time() - started
    size = sum(map(len, texts))
    return [
        Row(
            measure=f"ordinary notes changed, of {len(texts):,}",
            value=100 * changed / len(texts),
            unit="%",
        ),
        Row(
            measure=f"redaction of {RESULT:,} characters",
            value=1000 * taken / size * RESULT,
            unit="ms",
        ),
    ]


def _notes(archive: Path) -> Iterator[str]:
    with tarfile.open(archive) as files:
        for member in files:
            if member.isfile() and (file := files.extractfile(member)):
                yield file.read().decode("utf-8", "replace")
