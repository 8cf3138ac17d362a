"""Reads e-mails (.eml): who wrote what to whom, and which files came with it."""

import codecs
from collections.abc import Iterable, Iterator
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage
from typing import Final

from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.adapters.extraction.mail_parts import (
    Part,
    forwarded,
    guessed,
    is_text,
    parts_of,
    text_of,
)
from archivolt.adapters.extraction.markdown_text import escaped, heading, joined, one_line
from archivolt.ports.ingestion import Extraction

_SHOWN: Final = ("From", "To", "Cc", "Date")
_MAX_DEPTH: Final = 5
_MAX_HEADER_CHARS: Final = 2_000


class MailExtractor:
    """An `Extractor` of e-mails: the heading lines, the text, and the names of attachments."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the mail as Markdown, mails that were forwarded in it included.

        Raises:
            Exception: Whatever the standard library raises on a mail it cannot parse.

        """
        written = data.removeprefix(codecs.BOM_UTF8)
        mail = message_from_bytes(written, policy=policy.default)
        return Extraction(markdown=joined(list(_mail(mail, 1))), title=_header(mail, "Subject"))


def _mail(mail: EmailMessage, depth: int) -> Iterator[str]:
    yield heading(depth, _header(mail, "Subject"))
    shown = ((field, _header(mail, field)) for field in _SHOWN)
    yield "\n".join(f"- {field}: {value}" for field, value in shown if value)
    parts = parts_of(mail)
    yield from (_text(part.message) for part in parts if is_text(part))
    yield "\n".join(_names(parts))
    for part in parts if depth < _MAX_DEPTH else ():
        inner = forwarded(part)
        if inner is not None:
            yield from _mail(inner, depth + 1)


def _names(parts: Iterable[Part]) -> Iterator[str]:
    names = [one_line(name) for part in parts if (name := part.message.get_filename())]
    if names:
        yield "Attachments:"
        yield from (f"- {name}" for name in names)


def _text(message: EmailMessage) -> str:
    text = text_of(message)
    if message.get_content_subtype() == "html":
        return html_to_markdown(text)[0]
    return escaped(text.replace("\r\n", "\n").strip())


def _header(mail: EmailMessage, field: str) -> str:
    """Return the beginning of a heading line, decoded.

    The structured parser of the standard library takes minutes for a mail to a crowd.
    """
    found = (str(value) for name, value in mail.raw_items() if name.lower() == field.lower())
    # Bytes that are no ASCII come as halves of surrogate pairs.
    raw = next(found, "").encode("utf-8", "surrogateescape")
    begun = guessed(raw)[:_MAX_HEADER_CHARS]
    try:
        return one_line(str(make_header(decode_header(begun))))
    except (HeaderParseError, LookupError, UnicodeError):
        return one_line(begun)
