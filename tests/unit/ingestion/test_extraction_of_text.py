import unicodedata
from base64 import b64encode

import pytest

from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS
from archivolt.ingestion.extraction.formats import DocumentFormat, recognise
from archivolt.ingestion.extraction.plain_text import PlainTextExtractor
from archivolt.ingestion.extraction.recognising import RecognisingExtractor
from archivolt.ingestion.splitting import split
from archivolt.ports.ingestion import Extraction
from archivolt.vaults.decoding import decode

TEXTUAL = (
    DocumentFormat.MARKDOWN,
    DocumentFormat.PLAIN_TEXT,
    DocumentFormat.CODE,
    DocumentFormat.JSON,
    DocumentFormat.CSV,
)


def text_of(data: bytes) -> str | None:
    decoded = decode(data)
    return decoded and decoded.text


def extracted(data: bytes | str, name: str) -> Extraction:
    extractor = RecognisingExtractor(
        {form: lambda form=form: PlainTextExtractor(form, text_of) for form in TEXTUAL}
    )
    return extractor.extract(data.encode() if isinstance(data, str) else data, name=name)


@pytest.mark.parametrize(
    ("data", "name", "form"),
    [
        (b"# Note", "note.md", DocumentFormat.MARKDOWN),
        (b"# Note", "NOTE.MD", DocumentFormat.MARKDOWN),
        (b"text", "note", DocumentFormat.PLAIN_TEXT),
        (b"text", ".env", DocumentFormat.PLAIN_TEXT),
        (b"x = 1", "app.py", DocumentFormat.CODE),
        (b"{}", "a.json", DocumentFormat.JSON),
        (b"a,b", "a.csv", DocumentFormat.CSV),
        (b"<p>x", "a.html", DocumentFormat.HTML),
        (b"\xef\xbb\xbf <!-- x --> <!DOCTYPE html><p>", "a.txt", DocumentFormat.HTML),
        ("<!doctype HTML>".encode("utf-16"), "a", DocumentFormat.HTML),
        (b"<!DOCTYPE html>", "saved.md", DocumentFormat.HTML),
        (b"<html lang=en>", "a.txt", DocumentFormat.HTML),
        (b"<html> in Markdown", "a.md", DocumentFormat.MARKDOWN),
        (b"%PDF-1.7 ...", "a.md", DocumentFormat.PDF),
        (b"\n\n%PDF-1.7 ...", "a", DocumentFormat.PDF),
        (b"PK\x03\x04 ... word/document.xml ...", "a.txt", DocumentFormat.DOCX),
        (b"PK\x03\x04 ... xl/workbook.xml ...", "a.docx", DocumentFormat.XLSX),
        (b"PK\x03\x04 ... ppt/presentation.xml", "a.zip", DocumentFormat.PPTX),
        (b"PK\x03\x04.mimetypeapplication/epub+zip", "a", DocumentFormat.EPUB),
        (b"PK\x03\x04.mimetypeapplication/vnd.oasis.opendocument.text", "a", DocumentFormat.ODF),
        (b"PK\x03\x04 ... META-INF/manifest.xml", "packed again.odt", DocumentFormat.ODF),
        (b"PK\x03\x04 ... classes/Main.class", "a.docx", None),
        (b"Subject: x\n\nbody", "a.eml", DocumentFormat.MAIL),
        (b"\x89PNG\r\n\x1a\n...", "a.txt", DocumentFormat.IMAGE),
        (b"\xff\xd8\xff\xe0...", "a.md", DocumentFormat.IMAGE),
        (b"II*\0...", "a", DocumentFormat.IMAGE),
        (b"RIFF....WEBP", "a", DocumentFormat.IMAGE),
        (b"GIF89a\x20\x03\x58\x02\xf7\0\0...", "a.md", DocumentFormat.IMAGE),
        (b"GIF89a images are moving pictures.", "gif.md", DocumentFormat.MARKDOWN),
        (b"BM............\x28\0\0\0...", "a", DocumentFormat.IMAGE),
        (b"BM and AM stations of the coast", "a.txt", DocumentFormat.PLAIN_TEXT),
        (b"<?xml version='1.0'?><a/>", "a.xml", DocumentFormat.CODE),
        (b'{"a": 1}\n{"a": 2}', "a.jsonl", DocumentFormat.CODE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old word", "a.doc", None),
        (b"{\\rtf1 text}", "a.rtf", None),
        (b"text that says %PDF", "a.pdf", DocumentFormat.CODE),
    ],
)
def test_content_decides_what_a_document_is(
    data: bytes, name: str, form: DocumentFormat | None
) -> None:
    assert recognise(data, name=name) is form


def test_markdown_is_kept_as_it_is_and_gives_its_title() -> None:
    note = "---\ntags: x\n---\n\n# Ma *note*\n\nTexte\n"
    assert extracted(note, "a.md") == Extraction(markdown=note, title="Ma note", text=note)
    assert extracted("x = 1\n", "a.py").text == "x = 1\n"
    assert extracted("---\ntitle: Other\n---\n# Note\n", "a.md").title == "Other"
    assert extracted("No title\n", "a.md").title == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32"])
def test_every_usual_encoding_is_read(encoding: str) -> None:
    text = "L\u2019été à Besançon coûte 20 € \u2013 voilà."
    assert extracted(text.encode(encoding), "a.txt").markdown == text


def test_old_encodings_of_other_alphabets_are_read() -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5
    assert extracted(text.encode("cp1251"), "a.txt").markdown == text


def test_text_keeps_its_normal_form() -> None:
    text = unicodedata.normalize("NFD", "créé")
    assert extracted(text, "a.md").markdown == text


def test_code_stands_in_a_fence_that_it_cannot_close() -> None:
    assert extracted("x = 1\n", "a.py").markdown == "```py\nx = 1\n```\n"
    assert extracted("````\nx", "Makefile.am").markdown == "`````am\n````\nx\n`````\n"
    assert extracted("# no heading", "a.y`ml").markdown == "```\n# no heading\n```\n"


def test_rows_become_a_table_with_a_header() -> None:
    for delimiter in ",;\t":
        rows = f'Name{delimiter}Value\n"a{delimiter}b"{delimiter}"1|2\n3"\n\nc{delimiter}\n'
        assert extracted(rows, "a.csv").markdown == (
            f"| Name | Value |\n|---|---|\n| a{delimiter}b | 1\\|2 3 |\n| c |  |\n".replace(
                "\t", " "
            )
        )


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ("1,5;2,5;3,5\n" * 3, "| 1,5 | 2,5 | 3,5 |"),
        ('"a";"x, y, z";"b, c"\n"d";"e, f";"g"\n', "| a | x, y, z | b, c |"),
        ("name,tags\na,x;y;z\nb,x;y\n", "| name | tags |"),
        ("sep=;\r\nnom;prix\r\na;1\r\n", "| nom | prix |"),
        ("sep=\t\nnom\tprix\n", "| nom | prix |"),
        ('sep="\nnom,prix\n', '| sep=" |'),
    ],
)
def test_the_mark_that_parts_cells_is_the_one_that_parts_rows_alike(rows: str, header: str) -> None:
    assert extracted(rows, "a.csv").markdown.startswith(header)


def test_rows_that_are_no_table_stay_readable() -> None:
    assert extracted("just\nlines\n", "a.csv").markdown == "```csv\njust\nlines\n```\n"
    wide = f"a,b\n{'x' * 200_000},y\n"
    assert "x" * 200_000 in extracted(wide, "a.csv").markdown


def test_json_on_one_line_is_laid_out() -> None:
    data = '{"key": [' + ", ".join(f'"été {n}"' for n in range(500)) + "]}"
    lines = extracted(data, "a.json").markdown.splitlines()
    assert lines[:2] == ["```json", "{"]
    assert ' "été 499"' in [line.rstrip(",") for line in lines] or '  "été 499"' in lines


@pytest.mark.parametrize(
    "hostile", ["[" * 200_000, '{"a":' * 100_000, "1" * 100_000, "nul" * 9_999]
)
def test_hostile_json_is_kept_as_text(hostile: str) -> None:
    assert hostile in extracted(hostile, "a.json").markdown


def test_pictures_written_as_text_are_no_words() -> None:
    picture = b64encode(bytes(range(256)) * 10).decode()
    note = f"# A\n\n![a plan](data:image/png;base64,{picture}) after"
    found = extracted(note, "a.md")
    assert found.markdown == "# A\n\n![a plan](data:image/png;base64,\u2026) after"
    assert found.text == note
    notebook = f'{{"image/png": "{picture}", "text": "kept"}}'
    assert '"\u2026", "text": "kept"' in extracted(notebook, "a.ipynb").markdown


@pytest.mark.parametrize("name", ["a.txt", "a.b64"])
def test_a_picture_and_nothing_else_is_no_text(name: str) -> None:
    found = extracted(b64encode(bytes(range(256)) * 10), name)
    assert split(found.markdown, budget=99, count=len) == []


@pytest.mark.parametrize(
    "word",
    [
        *("a" * 5_000, "ACGT" * 1_000, "0f" * 1_000, "Ab1" * 300, "a1B" + "_" * 2_000),
        "".join(f"/Section{number}" for number in range(200)),
        "-".join(f"Step{number}" for number in range(300)),
        "".join(f"/Section_{number}" for number in range(200)),
    ],
)
def test_long_words_are_kept(word: str) -> None:
    assert extracted(word, "a.txt").markdown == word


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.py", "a.json", "a.csv"])
def test_an_empty_document_has_no_text(name: str) -> None:
    assert extracted(b"", name).markdown == ""
    assert extracted(b" \n", name).markdown.strip() == ""


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x7fELF\x02\x01\0\0", bytes(range(256)) * 4]
)
def test_what_is_no_text_is_refused_whatever_its_name(data: bytes) -> None:
    for name in ("a.bin", "a.md", "a", "a.csv"):
        with pytest.raises(UnsupportedContentError) as raised:
            extracted(data, name)
        assert raised.value.code == "unsupported_format"


def test_a_format_nobody_reads_is_refused() -> None:
    with pytest.raises(UnsupportedContentError) as raised:
        extracted(b"%PDF-1.7", "a.pdf")
    assert raised.value.code == "unsupported_format"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.odt", "a.epub", "a.pdf", "a.png"])
@pytest.mark.parametrize("data", [b"PK\x03\x04 and no more", bytes(range(256)) * 4])
def test_what_its_name_alone_says_is_a_document_is_a_damaged_one(name: str, data: bytes) -> None:
    with pytest.raises(UnsupportedContentError) as raised:
        extracted(data, name)
    assert raised.value.code == "document_broken"


def test_an_office_file_with_a_password_says_so() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnsupportedContentError) as raised:
        extracted(data, "a.docx")
    assert raised.value.code == "document_encrypted"


def test_more_text_than_can_be_indexed_is_refused() -> None:
    with pytest.raises(TooLargeError) as raised:
        extracted("a" * (MAX_EXTRACTED_CHARS + 1), "a.md")
    assert raised.value.code == "document_too_much_text"


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    extractor = RecognisingExtractor(
        {
            DocumentFormat.PLAIN_TEXT: lambda: PlainTextExtractor(
                DocumentFormat.PLAIN_TEXT, lambda data: "a\ud800b\0c"
            )
        }
    )
    assert extractor.extract(b"x", name="a").markdown == "a?bc"
