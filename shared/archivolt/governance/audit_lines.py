"""An entry of the audit log as a line of an exported file (JSON Lines), and back."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from archivolt.domain.audit import KeptEntry
from archivolt.domain.audit_fields import fields_of, kept_of


@dataclass(frozen=True, slots=True)
class UnreadableLineError(Exception):
    """A line of an exported file is no entry; `number` counts lines from 1."""

    number: int


def file_of(entries: Iterable[KeptEntry]) -> bytes:
    """Return the exported file of entries: one JSON object a line, in UTF-8."""
    return "".join(f"{json.dumps(fields_of(kept), sort_keys=True)}\n" for kept in entries).encode()


def entries_of(file: bytes) -> Iterator[KeptEntry]:
    """Yield the entries of an exported file.

    Raises:
        UnreadableLineError: A line is no entry.

    """
    for number, line in enumerate(file.splitlines(), 1):
        try:
            yield kept_of(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise UnreadableLineError(number) from error
