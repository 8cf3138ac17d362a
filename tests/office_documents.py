"""Office files, books and their hostile kin, made by hand for tests of what reads them."""

import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

SHEET_NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE_NS = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
RELATIONS_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
CORE_NS = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
DUBLIN_CORE = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
ODF_NS = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)

Parts = Mapping[str, str | bytes]


def archive(parts: Parts, *, stored: Sequence[str] = ()) -> bytes:
    """Return an archive of parts; those in `stored` are not compressed."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            written.writestr(name, content, compress_type=method)
    return out.getvalue()


def relations(kinds: Mapping[str, tuple[str, str]]) -> str:
    """Return a part of relationships: id to kind and target."""
    listed = "".join(
        f'<Relationship Id="{number}" Type="{RELATIONS_NS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in kinds.items()
    )
    return f'<Relationships xmlns="{PACKAGE_NS}">{listed}</Relationships>'


def xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    formats: Sequence[str] = (),
    parts: Parts | None = None,
    dates_from_1904: bool = False,
) -> bytes:
    """Return a workbook.

    Args:
        sheets: The name of each sheet and its `<row>` elements.
        strings: What cells of type `s` refer to, as the inside of `<si>`.
        formats: The number formats that cells refer to by their index.
        parts: More parts, or others.
        dates_from_1904: Count days as Excel once did on the Mac.

    """
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    properties = '<workbookPr date1904="1"/>' if dates_from_1904 else ""
    made: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET_NS}" xmlns:r="{RELATIONS_NS}">{properties}'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
        ),
        "xl/sharedStrings.xml": _inside("sst", (f"<si>{text}</si>" for text in strings)),
        "xl/styles.xml": _styles(formats),
    }
    for number, rows in enumerate(sheets.values(), start=1):
        made[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEET_NS}"><dimension ref="A1:XFD1048576"/>'
            f"<sheetData>{rows}</sheetData></worksheet>"
        )
    return archive(made | dict(parts or {}))


def pptx(
    slides: Sequence[str], *, notes: Mapping[int, str] | None = None, title: str = ""
) -> bytes:
    """Return a presentation: the shapes of each slide, and the shapes of its notes by number."""
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDE_NS}" xmlns:r="{RELATIONS_NS}">'
        f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        # Written the other way round than they are shown.
        "ppt/_rels/presentation.xml.rels": relations(
            {f"r{n}": ("slide", f"slides/slide{n}.xml") for n in range(len(slides), 0, -1)}
        ),
        "docProps/core.xml": f'<cp:coreProperties xmlns:cp="{CORE_NS}" {DUBLIN_CORE}>'
        f"<dc:title>{title}</dc:title></cp:coreProperties>",
    }
    for number, shapes in enumerate(slides, start=1):
        parts[f"ppt/slides/slide{number}.xml"] = _slide("sld", shapes)
    for number, shapes in (notes or {}).items():
        parts[f"ppt/notesSlides/notes{number}.xml"] = _slide("notes", shapes)
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
            {"n": ("notesSlide", f"../notesSlides/notes{number}.xml")}
        )
    return archive(parts)


def shape(*paragraphs: str | tuple[int, str], kind: str | None = None) -> str:
    """Return a shape of a slide; a paragraph may come with its level; `kind` is a placeholder's."""
    place = "" if kind is None else f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>'
    written = "".join(
        slide_paragraph(text) if isinstance(text, str) else slide_paragraph(text[1], level=text[0])
        for text in paragraphs
    )
    return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody>{written}</p:txBody></p:sp>"


def slide_paragraph(text: str, *, level: int = 0) -> str:
    """Return a paragraph of a slide."""
    return f'<a:p><a:pPr lvl="{level}"/><a:r><a:t>{text}</a:t></a:r></a:p>'


def odf(kind: str, body: str, *, title: str = "", manifest: str = "") -> bytes:
    """Return an OpenDocument file of a kind (`text`, `spreadsheet`, `presentation`)."""
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {ODF_NS}><office:body>"
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        "meta.xml": f"<office:document-meta {ODF_NS} {DUBLIN_CORE}><office:meta>"
        f"<dc:title>{title}</dc:title></office:meta></office:document-meta>",
        "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
    }
    return archive(parts, stored=("mimetype",))


def epub(
    chapters: Mapping[str, str],
    *,
    title: str = "",
    encryption: str = "",
    reading_order: str = "c",
) -> bytes:
    """Return a book: the file name of each chapter, escaped as addresses are, and its page."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="{reading_order}{n}"/>' for n in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:c"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf" {DUBLIN_CORE}>'
        f"<metadata><dc:title>{title}</dc:title></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    if encryption:
        parts["META-INF/encryption.xml"] = (
            f'<encryption><EncryptionMethod Algorithm="{encryption}"/></encryption>'
        )
    for name, page in chapters.items():
        parts[f"OEBPS/{name.replace('%20', ' ')}"] = page
    return archive(parts, stored=("mimetype",))


def overlapping(count: int, size: int) -> bytes:
    """Return an archive whose `count` entries are all the same bytes, `size` once unpacked."""
    whole = archive({"xl/workbook.xml": b" " * size})
    end = whole.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<I", whole, end + 16)[0]
    entry = whole[start:end]
    listing = entry * count
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(listing), start, 0)
    return whole[:start] + listing + tail


def _inside(name: str, elements: Iterable[str]) -> str:
    return f'<{name} xmlns="{SHEET_NS}">{"".join(elements)}</{name}>'


def _styles(formats: Sequence[str]) -> str:
    codes = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(formats)
    )
    cells = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(formats)))
    return _inside("styleSheet", (f"<numFmts>{codes}</numFmts>", f"<cellXfs>{cells}</cellXfs>"))


def _slide(name: str, shapes: str) -> str:
    return (
        f'<p:{name} xmlns:p="{SLIDE_NS}" xmlns:a="{DRAWING_NS}">'
        f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{name}>"
    )
