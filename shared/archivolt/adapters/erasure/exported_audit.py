"""The names of a user or a vault, taken out of the files that the audit log was exported to.

As in the log itself (domain.audit): what a digest stands for is taken out of a line, and the chain
and its seals still hold.
"""

import gzip
import json
import zlib
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.dynamodb.erasures import DynamoErasures, Planned
from archivolt.adapters.erasure.objects import remove_versions, versions_in
from archivolt.adapters.erasure.places import names_of, salts_of, taken_out_of
from archivolt.adapters.s3.objects import Bucket
from archivolt.domain.erasure import Erasure, ErasureScope, Subject
from archivolt.domain.errors import NotFoundError
from archivolt.observability import logger

_ENDING: Final = ".jsonl.gz"
# Every second key is a seal, which names nobody.
_AT_ONCE: Final = 10

Line = dict[str, Any]


class ExportedAuditEraser:
    """An `Eraser` of lines in exported files; a tenant's files go as a whole, by another.

    The file is written anew, and its versions before go: those are what is counted by the lines.
    """

    store = "exported_audit"

    def __init__(self, bucket: Bucket, records: DynamoErasures) -> None:
        self._bucket = bucket
        self._records = records

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Take the names out of one file."""
        subject = erasure.subject
        if subject.scope is ErasureScope.TENANT:
            return None
        prefix = f"audit/{subject.tenant}/"
        self._finish_planned(erasure)
        key = self._next(prefix, cursor)
        if key is None:
            return None
        if key.endswith(_ENDING):
            self._clean(erasure, key)
        return key

    def _next(self, prefix: str, after: str) -> str | None:
        """Return the next file, or the last key that was looked at; None at the end."""
        start: dict[str, Any] = {"StartAfter": after} if after else {}
        with translated():
            page = self._bucket.client.list_objects_v2(
                Bucket=self._bucket.name, Prefix=prefix, MaxKeys=_AT_ONCE, **start
            )
        keys = [entry.get("Key", "") for entry in page.get("Contents", [])]
        return next((key for key in keys if key.endswith(_ENDING)), keys[-1] if keys else None)

    def _clean(self, erasure: Erasure, key: str) -> None:
        packed = self._read(key)
        if packed is None:
            return  # it went by its age since it was listed
        lines = _lines_in(packed)
        if lines is None:
            logger.error(
                "an exported file that cannot be read is removed", extra={"erasure": erasure.id}
            )
            number = 1
        else:
            number = sum(map(names_of(erasure.subject), lines))
        if number:
            self._records.plan(erasure, self.store, Planned(number, key))
            self._finish_planned(erasure)

    def _read(self, key: str) -> bytes | None:
        try:
            with translated({"NoSuchKey": NotFoundError("not_found")}):
                answer = self._bucket.client.get_object(Bucket=self._bucket.name, Key=key)
                return answer["Body"].read()
        except NotFoundError:
            return None

    def _write(
        self, subject: Subject, key: str, lines: list[Line], names: Callable[[Line], bool]
    ) -> None:
        cleaned = [_cleaned(subject, line) if names(line) else line for line in lines]
        text = "".join(f"{json.dumps(line, sort_keys=True)}\n" for line in cleaned)
        with translated():
            self._bucket.client.put_object(
                Bucket=self._bucket.name,
                Key=key,
                Body=gzip.compress(text.encode(), mtime=0),
                ContentType="application/gzip",
            )

    def _finish_planned(self, erasure: Erasure) -> None:
        """Write a file that is planned without the names, remove what it was, and count that.

        One that cannot be read goes as a whole: nothing else shows that it names nobody, and the
        log holds the day still. One that is not there any more needs nothing.
        """
        planned = self._records.planned(erasure, self.store)
        if planned is None:
            return
        packed = self._read(planned.upto)
        lines = [] if packed is None else _lines_in(packed)
        names = names_of(erasure.subject)
        if lines is not None and any(map(names, lines)):
            self._write(erasure.subject, planned.upto, lines, names)
        self._remove_versions(planned.upto, latest_too=lines is None)
        self._records.carried_out(erasure, self.store, planned)

    def _remove_versions(self, key: str, *, latest_too: bool) -> None:
        with translated():
            page = self._bucket.client.list_object_versions(Bucket=self._bucket.name, Prefix=key)
        remove_versions(self._bucket, versions_in(page, but_latest=not latest_too))


def _lines_in(packed: bytes) -> list[Line] | None:
    """Return the lines of an exported file, None if it was damaged."""
    try:
        return [_entry(json.loads(line)) for line in gzip.decompress(packed).splitlines()]
    except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError):
        return None


def _entry(line: Line) -> Line:
    """Return a line as it is, if it has what tells whom and what it names."""
    datetime.fromisoformat(line["at"])
    return {**line, "user": line["user"], "vault": line["vault"], "details": dict(line["details"])}


def _cleaned(subject: Subject, line: Line) -> Line:
    salts = dict.fromkeys(salts_of(subject, line), "")
    return {**line, **taken_out_of(subject, line), **salts}
