"""Reads Word documents (.docx)."""

from io import BytesIO
from typing import Final

import mammoth
from mammoth.images import img_element

from archivolt.adapters.extraction.drawn_texts import drawn_texts
from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.adapters.extraction.markdown_text import joined
from archivolt.adapters.extraction.office_parts import main_part, title_of
from archivolt.adapters.extraction.word_body import with_plain_runs
from archivolt.adapters.extraction.zip_guard import check_office_archive, open_archive
from archivolt.ports.ingestion import Extraction

_DOCUMENT: Final = "word/document.xml"
# Word keeps English names of built-in styles in every language; some writers do not.
_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Titre'] => h1:fresh
p[style-name='Titre 1'] => h1:fresh
p[style-name='Titre 2'] => h2:fresh
p[style-name='Titre 3'] => h3:fresh
p[style-name='Subtitle'] => p:fresh
"""


class DocxExtractor:
    """An `Extractor` of Word documents: headings, lists, tables and notes.

    Images are told by their text; what diagrams and charts say comes last.
    """

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the document as Markdown.

        Raises:
            UnsupportedContentError: `document_broken`.
            TooLargeError: `document_inflates`.
            Exception: Whatever mammoth raises on a broken document; it does not say.

        """
        check_office_archive(data)
        with open_archive(data) as archive:
            part = main_part(archive, _DOCUMENT)
            title = title_of(archive)
            drawn = list(drawn_texts(archive, part, "chart", "chartEx", "diagramData"))
        page = mammoth.convert_to_html(
            BytesIO(with_plain_runs(data, part)),
            convert_image=img_element(_no_image),
            style_map=_STYLES,
        )
        markdown, _ = html_to_markdown(page.value)
        return Extraction(markdown=joined([markdown, *drawn]), title=title)


def _no_image(_: object) -> dict[str, str]:
    return {}
