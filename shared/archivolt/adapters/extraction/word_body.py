"""Makes the text of formulas, of words with a reading, and of text set the other way plain runs.

The library that reads Word documents passes over these elements and over what is in them.
"""

import re
import zipfile
from io import BytesIO
from typing import Final

from archivolt.adapters.extraction.zip_guard import is_xml

# Word writes these names, and no others, for its two vocabularies.
_MARKS: Final = (b"<m:oMath", b"<w:bdo", b"<w:dir", b"<w:ruby>")
_WRAPPERS: Final = re.compile(rb"</?w:(?:bdo|dir|ruby|rubyBase)(?:\s[^<>]*)?>")
_FORMULA_RUN: Final = re.compile(rb"(</?)m:(r|t)(?=[\s/>])")
_FORMULA_PLACE: Final = re.compile(rb"<m:(den|sub|sup)>")
_FORMULA_REST: Final = re.compile(rb"</?m:\w+(?:\s[^<>]*)?/?>")
_SIGNS: Final = {b"den": b"/", b"sub": b"_", b"sup": b"^"}


def with_plain_runs(data: bytes, part: str) -> bytes:
    """Return a Word document whose main part has nothing but runs; as it is where it has no other.

    What is no XML is left out: nobody reads it, it may be damaged, and it may be large.

    Args:
        data: An archive that was looked at.
        part: Its main part.

    """
    with zipfile.ZipFile(BytesIO(data)) as archive:
        body = archive.read(part) if part in archive.namelist() else b""
        if not any(mark in body for mark in _MARKS):
            return data
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
            written.writestr(part, _plain(body))
            for name in dict.fromkeys(archive.namelist()):
                if is_xml(name) and name != part:
                    written.writestr(name, archive.read(name))
        return out.getvalue()


def _plain(body: bytes) -> bytes:
    body = _WRAPPERS.sub(b"", body)
    body = _FORMULA_RUN.sub(rb"\1w:\2", body)
    body = _FORMULA_PLACE.sub(_sign, body)
    return _FORMULA_REST.sub(b"", body)


def _sign(place: re.Match[bytes]) -> bytes:
    return b"<w:r><w:t>%b</w:t></w:r>" % _SIGNS[place[1]]
