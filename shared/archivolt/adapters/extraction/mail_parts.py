"""The parts of an e-mail in the order they are read; of forms of one text, that which is shown."""

from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from itertools import islice
from typing import Final, NamedTuple, cast

from archivolt.adapters.extraction.charsets import is_charset

_FORWARDED: Final = "message/rfc822"
_MAX_PARTS: Final = 1_000
# What programs say of text whose encoding they do not know; old ones say nothing.
_UNKNOWN: Final = frozenset({"", "us-ascii", "ascii", "unknown-8bit", "x-unknown"})
# Who says this means what Windows makes of it (Encoding standard, "Names and labels").
_LATIN: Final = frozenset({"iso-8859-1", "iso8859-1", "latin1", "latin-1"})


class Part(NamedTuple):
    """A part that holds no others; one that `is_shown` is no other form of a text that is."""

    message: EmailMessage
    is_shown: bool


def parts_of(mail: EmailMessage) -> list[Part]:
    """Return the parts of a mail, mails in it being one each; the first thousand at most."""
    found: list[Part] = []
    waiting = [Part(mail, is_shown=True)]
    while waiting and len(found) < _MAX_PARTS:
        part = waiting.pop()
        held = _held(part.message)
        if held is None:
            found.append(part)
            continue
        best = _best(held) if part.message.get_content_subtype() == "alternative" else None
        waiting += [
            Part(inner, is_shown=part.is_shown and (best is None or inner is best))
            for inner in reversed(held)
        ]
    return found


def forwarded(part: Part) -> EmailMessage | None:
    """Return the mail that a part is, if it is one."""
    if part.message.get_content_type() != _FORWARDED or not part.message.is_multipart():
        return None
    inner = part.message.get_payload()
    return next(_messages(inner), None)


def is_text(part: Part) -> bool:
    """Tell whether a part is read with the mail, and is no file that came with it."""
    message = part.message
    return (
        part.is_shown
        and message.get_content_maintype() == "text"
        and message.get_content_disposition() != "attachment"
    )


def text_of(message: EmailMessage) -> str:
    """Return the text of a part, in whatever encoding it is."""
    data = cast("bytes | None", message.get_payload(decode=True)) or b""
    try:
        said = str(message.get_content_charset() or "").lower()
        if said not in _UNKNOWN and is_charset(said):
            return data.decode("cp1252" if said in _LATIN else said, "replace")
    except (LookupError, ValueError):
        pass  # an encoding nobody knows, or a name that none has
    return guessed(data)


def guessed(data: bytes) -> str:
    """Return text of which nobody says the encoding: UTF-8, else what Windows wrote in the West."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _held(message: EmailMessage) -> list[EmailMessage] | None:
    """Return the parts of a part that holds some, None for one that does not."""
    if message.get_content_maintype() != "multipart" or not message.is_multipart():
        return None
    return list(islice(_messages(message.get_payload()), _MAX_PARTS))


def _messages(payload: object) -> Iterator[EmailMessage]:
    if isinstance(payload, list):
        entries = cast("list[object]", payload)
        yield from (entry for entry in entries if isinstance(entry, EmailMessage))


def _best(forms: Sequence[EmailMessage]) -> EmailMessage | None:
    """Return the form that is read most easily: plain text, unless it is blank; else HTML."""
    plain = [form for form in forms if form.get_content_type() == "text/plain"]
    said = next((form for form in plain if text_of(form).strip()), None)
    rich = (
        form
        for form in forms
        if form.get_content_type() == "text/html" or form.get_content_maintype() == "multipart"
    )
    return said or next(rich, forms[-1] if forms else None)
