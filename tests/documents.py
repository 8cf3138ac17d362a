"""Documents made by hand, byte by byte, for tests of what reads them."""

import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO

PAGE_HEIGHT = 800
_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels"'
    ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONSHIPS = (
    '<?xml version="1.0"?><Relationships'
    ' xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"'
    ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

SizedLine = tuple[int, str]


def pdf(
    pages: Sequence[Sequence[SizedLine | str]],
    *,
    outline: Sequence[tuple[str, int]] = (),
    title: str = "",
    password: bool = False,
    annotations: Sequence[str] = (),
) -> bytes:
    """Return a PDF; a line is its text, or its font size and text; sizes default to 10.

    `outline` is titles with the page they lead to, from 0. With `password`, no empty one opens it.
    `annotations` are what is in their dictionaries; they stand on each page.
    """
    objects = _Objects()
    font = objects.add(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    tree = objects.reserve()
    notes = "".join(f"{objects.add(f'<< /Type /Annot {note} >>')} 0 R " for note in annotations)
    kids = [_page(objects, page, tree=tree, font=font, notes=notes) for page in pages]
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects.set(tree, f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>")
    contents = _outline(objects, outline, kids) if outline else ""
    contents += f" /AcroForm << /Fields [{notes}] >>" if notes else ""
    catalogue = objects.add(f"<< /Type /Catalog /Pages {tree} 0 R {contents} >>")
    trailer = f"/Root {catalogue} 0 R"
    if title:
        trailer += f" /Info {objects.add(f'<< /Title ({title}) >>')} 0 R"
    if password:
        secret = "<" + "5a" * 32 + ">"
        lock = objects.add(f"<< /Filter /Standard /V 1 /R 2 /O {secret} /U {secret} /P -4 >>")
        trailer += f" /Encrypt {lock} 0 R /ID [<00> <00>]"
    return objects.file(trailer)


def heavy_pdf(pages: Sequence[Sequence[SizedLine | str]], weight: bytes) -> bytes:
    """Return a PDF with an object that nothing refers to."""
    whole = pdf(pages)
    head = whole.index(b"\n") + 1
    length = f"900 0 obj\n<< /Length {len(weight)} >>\nstream\n".encode()
    return b"".join((whole[:head], length, weight, b"\nendstream\nendobj\n", whole[head:]))


class _Objects:
    def __init__(self) -> None:
        self._bodies: list[bytes] = []

    def reserve(self) -> int:
        self._bodies.append(b"null")
        return len(self._bodies)

    def set(self, number: int, body: str | bytes) -> None:
        self._bodies[number - 1] = body if isinstance(body, bytes) else body.encode("cp1252")

    def add(self, body: str | bytes) -> int:
        number = self.reserve()
        self.set(number, body)
        return number

    def file(self, trailer: str) -> bytes:
        out = bytearray(b"%PDF-1.4\n")
        places: list[int] = []
        for number, body in enumerate(self._bodies, start=1):
            places.append(len(out))
            out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
        table = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        out += b"trailer << /Size %d %b >>\n" % (len(places) + 1, trailer.encode("cp1252"))
        return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def _page(
    objects: _Objects, lines: Sequence[SizedLine | str], *, tree: int, font: int, notes: str
) -> int:
    height = PAGE_HEIGHT - 50
    drawn: list[str] = []
    for line in lines:
        size, text = (10, line) if isinstance(line, str) else line
        height -= round(size * 1.2)
        if text:
            escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            drawn.append(f"BT /F1 {size} Tf 50 {height} Td ({escaped}) Tj ET")
    stream = zlib.compress("\n".join(drawn).encode("cp1252"))
    content = objects.add(
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(stream), stream)
    )
    return objects.add(
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 600 {PAGE_HEIGHT}]"
        f" /Resources << /Font << /F1 {font} 0 R >> >> /Contents {content} 0 R"
        f"{f' /Annots [{notes}]' if notes else ''} >>"
    )


def _outline(objects: _Objects, entries: Sequence[tuple[str, int]], pages: Sequence[int]) -> str:
    root = objects.reserve()
    numbers = [objects.reserve() for _ in entries]
    for position, (title, page) in enumerate(entries):
        after = numbers[position + 1 : position + 2]
        following = f"/Next {after[0]} 0 R" if after else ""
        objects.set(
            numbers[position],
            f"<< /Title ({title}) /Parent {root} 0 R {following} /Dest [{pages[page]} 0 R /Fit] >>",
        )
    objects.set(root, f"<< /Type /Outlines /First {numbers[0]} 0 R /Last {numbers[-1]} 0 R >>")
    return f"/Outlines {root} 0 R"


def docx(body: str, *, parts: dict[str, str | bytes] | None = None) -> bytes:
    """Return a Word document with this body (WordprocessingML) and other parts."""
    document = (
        f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    )
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _RELATIONSHIPS)
        archive.writestr("word/styles.xml", _styles())
        archive.writestr("word/document.xml", document)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return out.getvalue()


def paragraph(text: str, *, style: str = "") -> str:
    """Return a paragraph of a Word document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows: Sequence[str]) -> str:
    """Return a table of a Word document."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def _styles() -> str:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{title}"/></w:style>'
        for name, title in (("Titre1", "heading 1"), ("Titre2", "heading 2"), ("Titre", "Title"))
    )
    return f'<?xml version="1.0"?><w:styles xmlns:w="{_WORD}">{styles}</w:styles>'
