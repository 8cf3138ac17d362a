"""A page: one column of text and forms that anybody can read, without scripts or other files.

Every page goes out with the headers that keep it from being framed, kept, or run by others' code.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from archivolt.domain.errors import ArchivoltError
from archivolt.domain.language import Message
from archivolt.domain.messages import Language
from archivolt.entrypoints.browser.markup import Markup, element, joined
from archivolt.entrypoints.browser.texts import CONTINUE, ERROR_TITLE
from archivolt.entrypoints.http.errors import status_of

_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem}fieldset{border:1px solid;border-radius:.4rem;margin:1rem 0}"
    "label{display:block;padding:.2rem 0}"
    "input[type=text],input[type=password]{display:block;font:inherit;width:100%;"
    "box-sizing:border-box;padding:.4rem}"
    "button{font:inherit;padding:.5rem 1rem;margin:.5rem .5rem .5rem 0}"
    "pre{overflow:auto;border:1px solid;padding:.5rem;white-space:pre-wrap}"
    ".warning{border-left:.3rem solid #b00;padding-left:.7rem}"
    ".quiet{font-size:.9rem}code{overflow-wrap:anywhere}"
)
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def page(
    title: str,
    language: Language,
    *content: str,
    status: int = 200,
    form_targets: Sequence[str] = (),
    goes_on: str = "",
) -> HTMLResponse:
    """Return a page.

    `form_targets`: addresses besides our own to which the browser may be sent on from a form.
    `goes_on`: where the browser goes at once by itself, "" for nowhere.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · Archivolt"),
        element("meta", http_equiv="refresh", content=f"0;url={goes_on}") if goes_on else "",
        element("style", Markup(_STYLE)),
    )
    main = element("main", element("h1", title), *content)
    body = element("html", head, element("body", main), lang=language.value)
    return HTMLResponse(
        f"<!doctype html>{body}", status_code=status, headers=page_headers(form_targets)
    )


def page_going_on(title: Message, language: Language, address: str) -> HTMLResponse:
    """Return a page from which the browser goes on by itself, or by a link."""
    link = element("a", CONTINUE.spoken(language), href=address)
    return page(title.spoken(language), language, element("p", link), goes_on=address)


def page_headers(form_targets: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers of every answer that a browser shows."""
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": _policy(form_targets),
        # Not `no-referrer`: with that a browser tells no origin with a form.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


def error_page(
    error: ArchivoltError, language: Language, *, status: int | None = None
) -> HTMLResponse:
    """Return a page that says what went wrong, and to nobody but the person."""
    return page(
        ERROR_TITLE.spoken(language),
        language,
        element("p", error.message(language), role="alert"),
        status=status or status_of(error),
    )


def paragraphs(*texts: str) -> Markup:
    """Return texts as paragraphs."""
    return joined(*(element("p", text) for text in texts))


def _policy(form_targets: Sequence[str]) -> str:
    targets = " ".join(["'self'", *dict.fromkeys(map(_source, form_targets))])
    return (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action {targets}; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def _source(address: str) -> str:
    """Return an address as CSP names it: its origin, or its scheme where CSP cannot say more."""
    parts = urlsplit(address)
    plain = parts.scheme in {"http", "https"} and "[" not in parts.netloc
    return f"{parts.scheme}://{parts.netloc}" if plain else f"{parts.scheme}:"
