"""Reads e-mails (.eml): who wrote what to whom, and which files came with it."""

from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage
from itertools import islice
from typing import Final

from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.adapters.extraction.markdown_text import escaped, heading, joined, one_line
from archivolt.ports.ingestion import Extraction

_SHOWN: Final = ("From", "To", "Cc", "Date")
_MAIL: Final = "message/rfc822"
_MAX_DEPTH: Final = 5
_MAX_HEADER_CHARS: Final = 2_000
_MAX_PARTS: Final = 1_000


class MailExtractor:
    """An `Extractor` of e-mails: the heading lines, the text, and the names of attachments."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the mail as Markdown, mails that were forwarded in it included.

        Raises:
            Exception: Whatever the standard library raises on a mail it cannot parse.

        """
        mail = message_from_bytes(data, policy=policy.default)
        return Extraction(markdown=joined(list(_mail(mail, 1))), title=_header(mail, "Subject"))


def _mail(mail: EmailMessage, depth: int) -> Iterator[str]:
    yield heading(depth, _header(mail, "Subject"))
    shown = ((field, _header(mail, field)) for field in _SHOWN)
    yield "\n".join(f"- {field}: {value}" for field, value in shown if value)
    yield _body(mail)
    parts = list(_attachments(mail))
    yield "\n".join(_names(parts))
    for part in parts:
        if part.get_content_type() == _MAIL and depth < _MAX_DEPTH:
            yield from _mail(part.get_content(), depth + 1)


def _names(parts: Sequence[EmailMessage]) -> Iterator[str]:
    names = [one_line(name) for part in parts if (name := part.get_filename())]
    if names:
        yield "Attachments:"
        yield from (f"- {name}" for name in names)


def _attachments(mail: EmailMessage) -> Iterator[EmailMessage]:
    return islice(mail.iter_attachments(), _MAX_PARTS)


def _body(mail: EmailMessage) -> str:
    """Return the text of a mail; of the two forms most mails have, the plain one."""
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except LookupError:
        # An encoding nobody knows.
        text = bytes(part.get_payload(decode=True) or b"").decode("latin-1")
    if part.get_content_subtype() == "html":
        return html_to_markdown(text)[0]
    return escaped(text.replace("\r\n", "\n").strip())


def _header(mail: EmailMessage, field: str) -> str:
    """Return the beginning of a heading line, decoded.

    The structured parser of the standard library takes minutes for a mail to a crowd.
    """
    found = (str(value) for name, value in mail.raw_items() if name.lower() == field.lower())
    # Bytes that are no ASCII come as halves of surrogate pairs.
    raw = next(found, "")[:_MAX_HEADER_CHARS].encode("utf-8", "surrogateescape")
    begun = raw.decode("utf-8", "replace")
    try:
        return one_line(str(make_header(decode_header(begun))))
    except (HeaderParseError, LookupError, UnicodeError):
        return one_line(begun)
