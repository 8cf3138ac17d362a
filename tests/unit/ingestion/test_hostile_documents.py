"""Broken, locked and hostile documents among good ones: each ends in its state, none in the way."""

import pytest

from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.ingestion import IndexState
from archivolt.domain.search import SearchMode
from tests.documents import docx, heavy_pdf, paragraph, pdf
from tests.images import png, png_that_says, scanned_pdf
from tests.index_world import IndexWorld
from tests.office_documents import archive, epub, odf, overlapping, pptx, shape, xlsx

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
LOCK = "<manifest:encryption-data xmlns:manifest='urn:m'/>"
BOMB = b"<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><x>&b;</x>"
CELLS = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)
BLANKS = b" " * 30_000_000
MULTIPART = 'Content-Type: multipart/mixed; boundary="{0}"\r\n\r\n--{0}\r\n'
NESTED_PARTS = "".join(MULTIPART.format(f"part-{number}") for number in range(1_000))
MAIL = f"MIME-Version: 1.0\r\nSubject: x\r\n{NESTED_PARTS}\r\nllamas\r\n".encode()
JAPANESE = "ラマは正午に干し草を食べる。"
CHINESE = "骆驼在中午吃干草。羊毛很暖和。"
PAGE_MAIL = b"""Subject: x\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r
<h1>Bonjour</h1><p>Les chameaux \xe9taient l\xe0.</p>"""
LOCKED_ENTRY = archive({"a.txt": b"x"}).replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0")

ENDS: dict[str, tuple[bytes, IndexState, str]] = {
    "good.pdf": (pdf([["llamas eat hay at noon"]]), IndexState.INDEXED, ""),
    "wrong extension.txt": (docx(paragraph("llamas walk in the hills")), IndexState.INDEXED, ""),
    "wrong extension.pdf": (b"wool of llamas is warm", IndexState.INDEXED, ""),
    "many sheets.xlsx": (xlsx({f"{n}": CELLS for n in range(200)}), IndexState.INDEXED, ""),
    "empty.pdf": (b"", IndexState.NO_TEXT, "document_without_text"),
    "empty.docx": (b"", IndexState.NO_TEXT, "document_without_text"),
    "empty slides.pptx": (pptx([""]), IndexState.NO_TEXT, "document_without_text"),
    "scan.pdf": (scanned_pdf(2), IndexState.OCR_NEEDED, "ocr_needed"),
    "image.png": (png(60, 40), IndexState.OCR_NEEDED, "ocr_needed"),
    "locked.pdf": (pdf([["x"]], password=True), IndexState.FAILED, "document_encrypted"),
    "locked.xlsx": (
        OLE + "EncryptedPackage".encode("utf-16-le"),
        IndexState.FAILED,
        "document_encrypted",
    ),
    "locked.odt": (odf("text", "", manifest=LOCK), IndexState.FAILED, "document_encrypted"),
    "locked.epub": (
        epub({"a.xhtml": "x"}, encryption="urn:aes"),
        IndexState.FAILED,
        "document_encrypted",
    ),
    "cut.pdf": (pdf([["x"]])[:300], IndexState.FAILED, "document_broken"),
    "cut.pptx": (pptx([shape("x")])[:-30], IndexState.FAILED, "document_broken"),
    "entities.docx": (
        docx(paragraph("x"), parts={"word/footnotes.xml": BOMB}),
        IndexState.FAILED,
        "document_broken",
    ),
    "entities.xlsx": (
        xlsx({"S": CELLS}, parts={"xl/sharedStrings.xml": BOMB}),
        IndexState.FAILED,
        "document_broken",
    ),
    "bomb.docx": (
        docx(paragraph("x"), parts={"word/more.xml": BLANKS}),
        IndexState.TOO_BIG,
        "document_inflates",
    ),
    "overlapping.xlsx": (overlapping(200, 4_000_000), IndexState.TOO_BIG, "document_inflates"),
    "points.png": (png_that_says(60_000, 60_000), IndexState.TOO_BIG, "document_inflates"),
    "archives.zip": (
        archive({"inner.zip": archive({"a.txt": BLANKS})}),
        IndexState.UNSUPPORTED,
        "unsupported_format",
    ),
    "locked.docx": (
        OLE + "EncryptedPackage".encode("utf-16-le"),
        IndexState.FAILED,
        "document_encrypted",
    ),
    "nothing.md": (b"", IndexState.NO_TEXT, "document_without_text"),
    "a pdf.docx": (pdf([["llamas hum in the barn"]]), IndexState.INDEXED, ""),
    "an archive.pdf": (
        archive({"a.txt": b"x"}),
        IndexState.UNSUPPORTED,
        "unsupported_format",
    ),
    "bomb.odt": (
        archive(
            {
                "mimetype": "application/vnd.oasis.opendocument.text",
                "content.xml": BLANKS,
            },
            stored=("mimetype",),
        ),
        IndexState.TOO_BIG,
        "document_inflates",
    ),
    "bomb.epub": (epub({"a.xhtml": "x" * 150_000_000}), IndexState.TOO_BIG, "document_inflates"),
    "two hundred thousand columns.csv": (b"a," * 200_000, IndexState.INDEXED, ""),
    "nothing but commas.csv": (b",,,,\n,,,,\n", IndexState.INDEXED, ""),
    "nested tags.html": (b"<div>" * 100_000 + b"llamas", IndexState.INDEXED, ""),
    "nested parts.eml": (MAIL, IndexState.FAILED, "document_broken"),
    "utf-16.txt": ("Un goûter à Noël".encode("utf-16"), IndexState.INDEXED, ""),
    "latin-1.txt": ("Été, des lamas".encode("latin-1"), IndexState.INDEXED, ""),
    "cp1252.txt": ("“Lamas” · œuvre, 5 €".encode("cp1252"), IndexState.INDEXED, ""),
    "shift_jis.txt": ((JAPANESE * 20).encode("shift_jis"), IndexState.INDEXED, ""),
    "unmarked utf-16.txt": ("Un dîner à Pâques".encode("utf-16-le"), IndexState.INDEXED, ""),
    "gb18030.txt": ((CHINESE * 20).encode("gb18030"), IndexState.INDEXED, ""),
    "zeros.txt": (b"a log\0of a crash\n" * 9, IndexState.UNSUPPORTED, "unsupported_format"),
    "broken front matter.md": (b"---\na: [b\n c: : d\n---\nalpacas", IndexState.INDEXED, ""),
    "code alone.md": (b"```python\nalpaca = 1\n```\n", IndexState.INDEXED, ""),
    "a table alone.md": (b"|a|b|\n|--|--|\n|alpaca|2|\n", IndexState.INDEXED, ""),
    "many attributes.html": (
        b"<p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">alpacas spit",
        IndexState.INDEXED,
        "",
    ),
    "a page alone.eml": (PAGE_MAIL, IndexState.INDEXED, ""),
    "locked.zip": (LOCKED_ENTRY, IndexState.UNSUPPORTED, "unsupported_format"),
    "nothing.png": (b"", IndexState.NO_TEXT, "document_without_text"),
    "no order.epub": (
        epub({"a.xhtml": "alpacas"}, reading_order="elsewhere"),
        IndexState.INDEXED,
        "",
    ),
    "program": (b"\x7fELF\x02\x01\0\0", IndexState.UNSUPPORTED, "unsupported_format"),
    "old.doc": (OLE + b"\0" * 600, IndexState.UNSUPPORTED, "unsupported_format"),
}


@pytest.fixture(scope="module")
def world() -> IndexWorld:
    """One batch of them all, and a good one after them."""
    world = IndexWorld()
    world.extractor = extractor_of_all_formats()  # pyright: ignore[reportAttributeAccessIssue]  the real one
    changes = [world.write(name, data) for name, (data, _, _) in ENDS.items()]
    world.settle(*changes, world.write("after them.md", "three llamas slept"))
    return world


@pytest.mark.parametrize("name", ENDS)
def test_each_ends_in_its_state_with_its_reason(world: IndexWorld, name: str) -> None:
    entry = world.entry(name)
    assert (entry.state, entry.reason) == ENDS[name][1:]


def test_a_pdf_of_six_hundred_pages_and_one_of_fifty_megabytes_are_found_to_the_last_page() -> None:
    world = IndexWorld()
    world.extractor = extractor_of_all_formats()  # pyright: ignore[reportAttributeAccessIssue]  the real one
    page = ["A page like the others, with some words in it."] * 8
    world.settle(
        world.write("long.pdf", pdf([page] * 599 + [["Vicuñas are on the last one."]])),
        world.write("heavy.pdf", heavy_pdf([["Guanacos are in it."]], b"\x55" * 50_000_000)),
    )
    [hit] = world.search("vicuñas", mode=SearchMode.LEXICAL).hits
    assert (hit.path, hit.page) == ("long.pdf", 600)
    assert world.found("guanacos") == ["heavy.pdf"]


def test_what_comes_after_them_is_found(world: IndexWorld) -> None:
    assert set(world.found("llamas")) == {
        "after them.md",
        "good.pdf",
        "wrong extension.txt",
        "wrong extension.pdf",
        "a pdf.docx",
        "nested tags.html",
    }


def test_what_little_a_document_says_is_found(world: IndexWorld) -> None:
    words = ("alpaca", "alpacas")
    found = [world.found(word, mode=SearchMode.LEXICAL) for word in words]
    assert {path for paths in found for path in paths} == {
        "broken front matter.md",
        "code alone.md",
        "a table alone.md",
        "many attributes.html",
        "no order.epub",
    }


def test_text_is_found_by_its_words_whatever_its_encoding(world: IndexWorld) -> None:
    by_word = {
        "goûter": "utf-16.txt",
        "été": "latin-1.txt",
        "œuvre": "cp1252.txt",
        "干し草": "shift_jis.txt",
        "羊毛": "gb18030.txt",
        "dîner": "unmarked utf-16.txt",
        "étaient": "a page alone.eml",
    }
    assert {word: name for word, name in by_word.items() if name in world.found(word)} == by_word
