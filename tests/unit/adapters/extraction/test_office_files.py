"""Workbooks, slides, OpenDocument files, books and mails; hostile ones in a child process."""

import zipfile
from email.message import EmailMessage
from io import BytesIO

import pytest

from archivolt.adapters.extraction import sheets
from archivolt.adapters.extraction.epub import EpubExtractor
from archivolt.adapters.extraction.mail import MailExtractor
from archivolt.adapters.extraction.odf import OdfExtractor
from archivolt.adapters.extraction.pptx import PptxExtractor
from archivolt.adapters.extraction.xlsx import XlsxExtractor
from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.errors import ArchivoltError
from archivolt.ingestion.extraction.formats import DocumentFormat
from archivolt.ingestion.extraction.recognising import RecognisingExtractor
from archivolt.ingestion.splitting import split
from archivolt.ports.ingestion import Extraction
from archivolt.retrieval.tokens import token_upper_bound
from tests.office_documents import (
    archive,
    epub,
    odf,
    overlapping,
    pptx,
    relations,
    shape,
    slide_paragraph,
    xlsx,
)

BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


FILE = "application/pdf; name=a.pdf\n\n"
NAMED = "\n\nAttachments:\n- a.pdf"
PLAIN = "text/plain\n\n"
PAGE = "text/html\n\n<p>"
NEXT = "\n--y\nContent-Type: "
MIXED = f"multipart/mixed; boundary=y\n{NEXT}"
FORMS = f"multipart/alternative; boundary=y\n{NEXT}"

HERE = RecognisingExtractor(
    {
        DocumentFormat.XLSX: XlsxExtractor,
        DocumentFormat.PPTX: PptxExtractor,
        DocumentFormat.ODF: OdfExtractor,
        DocumentFormat.EPUB: EpubExtractor,
        DocumentFormat.MAIL: MailExtractor,
    }
)


def extracted(data: bytes, name: str = "document") -> Extraction:
    return HERE.extract(data, name=name)


def read_as_deployed(data: bytes, name: str = "document") -> Extraction:
    return extractor_of_all_formats().extract(data, name=name)


def refusal(data: bytes) -> str:
    with pytest.raises(ArchivoltError) as raised:
        read_as_deployed(data)
    return raised.value.code


class TestWorkbooks:
    def test_sheets_are_pages_of_tables_with_their_names_as_headings(self) -> None:
        prices = (
            '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
            '<row r="2"><c r="A2" t="inlineStr"><is><t>Thé</t></is></c>'
            '<c r="C2"><v>2.5</v></c></row>'
        )
        found = extracted(
            xlsx(
                {"Prix": prices, "Vide": "", "Fin": '<row><c t="str"><v>bout</v></c></row>'},
                strings=["<t>Nom</t>", "<r><t>Pr</t></r><r><t>ix|€</t></r><rPh><t>x</t></rPh>"],
            )
        )
        assert found.pages == 3
        assert found.markdown == (
            "<!-- page 1 -->\n\n## Prix\n\n| Nom | Prix\\|€ |\n|---|---|\n| Thé | 2.5 |\n\n"
            "<!-- page 3 -->\n\n## Fin\n\nbout"
        )

    def test_a_passage_knows_its_sheet(self) -> None:
        row = '<row r="1"><c r="A1"><v>{}</v></c></row>'
        found = extracted(xlsx({"One": row.format(1), "Two": row.format(2)}))
        passages = split(found.markdown, budget=60, count=token_upper_bound)
        assert [(p.page, p.headings, p.text) for p in passages] == [
            (1, ("One",), "1"),
            (2, ("Two",), "2"),
        ]

    def test_an_empty_row_parts_two_tables(self) -> None:
        pair = '<row r="{0}"><c r="A{0}"><v>{0}</v></c><c r="B{0}"><v>{0}</v></c></row>'
        found = extracted(xlsx({"S": "".join(pair.format(row) for row in (1, 2, 4, 5))})).markdown
        assert found.endswith("| 1 | 1 |\n|---|---|\n| 2 | 2 |\n\n| 4 | 4 |\n|---|---|\n| 5 | 5 |")

    @pytest.mark.parametrize(
        ("stored", "code", "shown"),
        [
            ("46082", "yyyy\\-mm\\-dd", "2026-03-01"),
            ("46082.5", "d/m/yy h:mm", "2026-03-01 12:00:00"),
            ("0.25", "h:mm", "06:00:00"),
            ("0.125", "0.0%", "12.5 %"),
            ("0.30000000000000004", "General", "0.3"),
            ("12", '0 "days"', "12"),
            ("12", "[Red]0", "12"),
            ("1E+20", "0", "1e+20"),
            ("-7", "yyyy", "-7"),
            ("1.260416666666667", "[h]:mm", "30:15:00"),
            ("-0.5", "[hh]:mm:ss", "-12:00:00"),
            ("1234567890123456789", "0", "1234567890123456789"),
        ],
    )
    def test_cells_show_what_is_read_in_them(self, stored: str, code: str, shown: str) -> None:
        escaped = code.replace('"', "&quot;")
        row = f'<row r="1"><c r="A1" s="0"><v>{stored}</v></c></row>'
        assert extracted(xlsx({"S": row}, formats=[escaped])).markdown.endswith(f"\n\n{shown}")

    def test_days_are_counted_from_1904_where_the_workbook_says_so(self) -> None:
        row = '<row r="1"><c r="A1" s="0"><v>1</v></c><c r="B1" t="b"><v>1</v></c></row>'
        book = xlsx({"S": row}, formats=["yyyy"], dates_from_1904=True)
        assert "| 1904-01-02 | TRUE |" in extracted(book).markdown

    def test_a_sheet_of_a_million_declared_rows_costs_its_cells(self) -> None:
        far = (
            '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'
            '<row r="1048576"><c r="XFD1048576"><v>3</v></c></row>'
        )
        found = extracted(xlsx({f"Sheet {n}": far for n in range(200)}))
        assert found.pages == 200
        assert found.markdown.count("| 1 | 2 |") == 200
        assert len(found.markdown) < 20_000

    def test_one_whose_parts_have_numbers_is_read(self) -> None:
        numbered = {
            "xl/workbook.xml": "xl/workbook2.xml",
            "xl/sharedStrings.xml": "xl/s7.xml",
        }
        whole = archived(xlsx({"S": '<row><c t="s"><v>0</v></c></row>'}, strings=["<t>Nom</t>"]))
        parts = {numbered.get(name, name): part for name, part in whole.items()}
        parts["xl/_rels/workbook2.xml.rels"] = relations(
            {"r1": ("worksheet", "worksheets/sheet1.xml"), "s": ("sharedStrings", "s7.xml")}
        )
        parts["_rels/.rels"] = relations({"r1": ("officeDocument", "/xl/workbook2.xml")})
        assert extracted(archive(parts)).markdown == "<!-- page 1 -->\n\n## S\n\nNom"

    @pytest.mark.parametrize("target", ["SharedStrings.xml", "worksheets\\..\\sharedStrings.xml"])
    def test_strings_are_found_by_another_spelling_of_their_name(self, target: str) -> None:
        named = {"r1": ("worksheet", "worksheets\\sheet1.xml"), "s": ("sharedStrings", target)}
        book = xlsx(
            {"S": '<row><c t="s"><v>0</v></c></row>'},
            strings=["<t>Nom</t>"],
            parts={"xl/_rels/workbook.xml.rels": relations(named)},
        )
        assert extracted(book).markdown.endswith("Nom")

    def test_strings_that_are_not_there_are_empty(self) -> None:
        row = '<row><c t="s"><v>7</v></c><c t="s"><v>-1</v></c><c t="s"><v>x</v></c></row>'
        assert extracted(xlsx({"S": row})).markdown == ""


class TestSlides:
    def test_titles_lists_boxes_and_notes_are_found_in_the_order_shown(self) -> None:
        first = shape("Plan", kind="title") + shape("un", (1, "deux"), kind="body")
        second = shape("Fin", kind="ctrTitle") + shape("# Une boîte") + shape("7", kind="sldNum")
        notes = shape("7", kind="sldNum") + shape("Dire bonjour.", kind="body")
        found = extracted(pptx([first, second], notes={1: notes}, title="Mon exposé"))
        assert (found.title, found.pages) == ("Mon exposé", 2)
        assert found.markdown == (
            "<!-- page 1 -->\n\n## Plan\n\n- un\n  - deux\n\nDire bonjour.\n\n"
            "<!-- page 2 -->\n\n## Fin\n\n\\# Une boîte"
        )

    def test_tables_are_tables(self) -> None:
        rows = "".join(
            "<a:tr>"
            + "".join(f"<a:tc><a:txBody>{slide_paragraph(cell)}</a:txBody></a:tc>" for cell in row)
            + "</a:tr>"
            for row in (("Nom", "Prix"), ("Thé", "2 €"))
        )
        found = extracted(
            pptx(
                [
                    shape("T", kind="title")
                    + f"<p:graphicFrame><a:tbl>{rows}</a:tbl></p:graphicFrame>"
                ]
            )
        )
        assert "## T\n\n| Nom | Prix |\n|---|---|\n| Thé | 2 € |" in found.markdown

    def test_a_copy_for_older_readers_is_read_once(self) -> None:
        copies = f"<mc:Fallback xmlns:mc='urn:mc'>{shape('twice')}</mc:Fallback>"
        assert extracted(pptx([shape("once") + copies])).markdown.endswith("once")

    def test_what_charts_say_stands_on_their_slide(self) -> None:
        chart = "<c xmlns:a='urn:a'><a:p><a:t>Ventes</a:t></a:p></c>"
        parts = {
            **archived(pptx([shape("one"), shape("two")])),
            "ppt/slides/_rels/slide1.xml.rels": relations({"c": ("chart", "../charts/c.xml")}),
            "ppt/charts/c.xml": chart,
        }
        assert extracted(archive(parts)).markdown == (
            "<!-- page 1 -->\n\none\n\nVentes\n\n<!-- page 2 -->\n\ntwo"
        )

    def test_damaged_drawings_hide_no_slide(self) -> None:
        parts = {
            **archived(pptx([shape("one")], title="T")),
            "ppt/slides/_rels/slide1.xml.rels": relations(
                {"c": ("chart", "../c.xml"), "d": ("diagramData", "../d.xml")}
            ),
            "ppt/c.xml": f"{BOMB}<c>&b;</c>",
            "ppt/d.xml": "<d",
            "docProps/core.xml": "",
        }
        assert extracted(archive(parts)).markdown == "<!-- page 1 -->\n\none"

    def test_a_workbook_inside_is_not_the_document(self) -> None:
        with_sheet = archive(
            {
                "ppt/presentation.xml": "<x/>",
                "ppt/embeddings/sheet.xlsx": xlsx({"S": "<row><c><v>1</v></c></row>"}),
            },
            stored=("ppt/embeddings/sheet.xlsx",),
        )
        assert extracted(with_sheet) == Extraction(markdown="")


class TestOpenDocument:
    def test_texts_have_headings_lists_notes_and_tables(self) -> None:
        body = (
            "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
            '<text:h text:outline-level="2">Un<text:s text:c="2"/>titre</text:h>'
            "<text:p>Avant<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>la note</text:p></text:note-body></text:note>après</text:p>"
            "<text:list><text:list-item><text:p>un</text:p><text:list><text:list-item>"
            "<text:p>deux</text:p></text:list-item></text:list></text:list-item></text:list>"
            f"{_table(('Nom', 'Prix'), ('Thé', '2 €'))}"
            "<text:p># pas un titre<text:line-break/>fin</text:p>"
        )
        found = extracted(odf("text", body, title="Un document"))
        assert (found.title, found.pages) == ("Un document", None)
        assert found.markdown == (
            "## Un titre\n\nAvant (la note) après\n\n- un\n  - deux\n\n"
            "| Nom | Prix |\n|---|---|\n| Thé | 2 € |\n\n\\# pas un titre\nfin"
        )

    def test_sheets_are_pages_and_what_repeats_without_end_is_bounded(self) -> None:
        endless = (
            '<table:table table:name="Stock"><table:table-row>'
            '<table:table-cell table:number-columns-repeated="2"><text:p>x</text:p>'
            '</table:table-cell><table:table-cell table:number-columns-repeated="999999999"/>'
            '</table:table-row><table:table-row table:number-rows-repeated="999999999">'
            "<table:table-cell/></table:table-row></table:table>"
        )
        found = extracted(odf("spreadsheet", endless + endless))
        assert found.pages == 2
        assert found.markdown.startswith("<!-- page 1 -->\n\n## Stock\n\n| x | x |")

    def test_slides_are_pages_with_titles(self) -> None:
        slide = (
            '<draw:page><draw:frame presentation:class="title"><draw:text-box>'
            "<text:p>Plan</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box>"
            "<text:p>corps</text:p></draw:text-box></draw:frame></draw:page>"
        )
        found = extracted(odf("presentation", slide * 2))
        assert found.pages == 2
        assert found.markdown.endswith("<!-- page 2 -->\n\n## Plan\n\ncorps")

    def test_a_password_is_said(self) -> None:
        locked = odf("text", "", manifest="<manifest:encryption-data xmlns:manifest='urn:m'/>")
        assert refusal(locked) == "document_encrypted"


class TestBooks:
    def test_chapters_are_read_in_order(self) -> None:
        chapters = {f"ch%20{n}.xhtml": f"<h1>Chapitre {n}</h1><p>A &amp; B</p>" for n in (2, 1)}
        found = extracted(epub(chapters, title="Le Livre"))
        assert found == Extraction(
            markdown="# Chapitre 2\n\nA & B\n\n# Chapitre 1\n\nA & B", title="Le Livre"
        )

    def test_a_locked_one_is_said_and_disguised_fonts_are_no_lock(self) -> None:
        chapters = {"a.xhtml": "<p>text</p>"}
        assert refusal(epub(chapters, encryption="urn:aes")) == "document_encrypted"
        fonts = epub(chapters, encryption="http://www.idpf.org/2008/embedding")
        assert extracted(fonts).markdown == "text"


class TestMails:
    def test_who_wrote_what_is_told_and_attachments_are_named(self) -> None:
        mail = EmailMessage()
        mail["Subject"], mail["From"], mail["To"] = "Réunion d\u2019été", "Zoé <z@x.fr>", "b@x.fr"
        mail.set_content("Bonjour,\n\n# pas un titre\n")
        mail.add_alternative("<p>html</p>", subtype="html")
        mail.add_attachment(b"x", maintype="a", subtype="b", filename="devis é.pdf")
        inner = EmailMessage()
        inner["Subject"] = "Avant"
        inner.set_content("<p>Salut <b>toi</b></p>", subtype="html")
        mail.add_attachment(inner)
        found = extracted(bytes(mail), "a.eml")
        assert found.title == "Réunion d\u2019été"
        assert found.markdown == (
            "# Réunion d\u2019été\n\n- From: Zoé <z@x.fr>\n- To: b@x.fr\n\nBonjour,\n\n"
            "\\# pas un titre\n\nAttachments:\n- devis é.pdf\n\n## Avant\n\nSalut toi"
        )

    def test_one_to_a_crowd_is_read_at_once_and_bare_accents_are_kept(self) -> None:
        mail = "Subject: Réunion d\u2019été\nTo: " + "a@b.c, " * 100_000 + "\n\ntext"
        found = extracted(mail.encode(), "a.eml")
        assert found.title == "Réunion d\u2019été"
        assert found.markdown.endswith("text")
        assert len(found.markdown) < 3_000

    @pytest.mark.parametrize(
        "data",
        [
            b"no mail at all",
            b"Content-Type: text/plain; charset=nonsense\n\ncaf\xe9",
            b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 3,
            b"Subject: =?utf-8?q?=ff?=\nDate: never\n\ntext",
        ],
    )
    def test_odd_ones_are_read_as_far_as_they_go(self, data: bytes) -> None:
        assert isinstance(extracted(data, "a.eml").markdown, str)

    @pytest.mark.parametrize(
        ("parts", "text"),
        [
            ([f"{PAGE}said", f"{PLAIN}a list's foot"], "said\n\na list's foot"),
            ([f"{PLAIN}before", f"{FILE}x", f"{PLAIN}after"], f"before\n\nafter{NAMED}"),
            ([f"{MIXED}{PLAIN}in{NEXT}{FILE}x\n--y--"], f"in{NAMED}"),
            ([f"{FORMS}{PLAIN} {NEXT}{PAGE}b\n--y--"], "b"),
            ([f"{FORMS}{PLAIN}b{NEXT}{PAGE}b{NEXT}{FILE}x\n--y--"], f"b{NAMED}"),
            (["message/rfc822\n\nSubject: Avant\n\nb"], "## Avant\n\nb"),
        ],
        ids=["foot", "between", "nested", "blank form", "forms", "forwarded"],
    )
    def test_every_part_that_is_read_with_one_is_read_once(
        self, parts: list[str], text: str
    ) -> None:
        head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
        body = "".join(f"--x\nContent-Type: {part}\n" for part in parts)
        assert extracted(f"{head}{body}--x--\n".encode(), "a.eml").markdown == text

    def test_one_that_is_nothing_but_another_one_is_read(self) -> None:
        mail = b"Subject: Fwd\nContent-Type: message/rfc822\n\nSubject: Avant\n\ntext"
        assert extracted(mail, "a.eml").markdown == "# Fwd\n\n## Avant\n\ntext"

    @pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
    @pytest.mark.parametrize("said", ["", "us-ascii", "unknown-8bit", "hex"])
    def test_accents_are_kept_where_no_encoding_is_said(self, encoding: str, said: str) -> None:
        kind = f"Content-Type: text/plain; charset={said}\n" if said else ""
        mail = f"Subject: Été\nFrom: Zoé\n{kind}\nà Nîmes".encode(encoding)
        expected = "# Été\n\n- From: Zoé\n\nà Nîmes"
        assert extracted(mail, "a.eml").markdown == expected

    @pytest.mark.parametrize(
        "said",
        ['charset="a\0b"', "charset*=a%00b''x", "charset=punycode", "charset=unicode_escape"],
    )
    def test_an_encoding_that_no_mail_is_in_is_not_believed(self, said: str) -> None:
        mail = f"Subject: s\nContent-Type: text/plain; {said}\n\nété-C:\\temp"
        assert extracted(mail.encode(), "a.eml").markdown.endswith("été-C:\\temp")

    def test_what_stands_above_a_signature_is_no_heading(self) -> None:
        mail = b"Subject: A\n\nSee you.\n-- \nZo\n\n # no heading\n\n   <!-- page 9 -->"
        found = extracted(mail, "a.eml").markdown
        (passage,) = split(found, budget=200, count=len)
        assert (passage.headings, passage.page) == (("A",), None)
        assert "See you." in passage.text

    def test_a_mark_of_its_encoding_does_not_hide_the_heading_lines(self) -> None:
        assert extracted(b"\xef\xbb\xbfSubject: A\n\nb", "a.eml").markdown == "# A\n\nb"

    def test_mails_in_mails_end(self) -> None:
        deep = b"Content-Type: message/rfc822\n\n" * 3_000 + b"Subject: inside\n\ntext"
        try:
            assert len(read_as_deployed(deep, "a.eml").markdown) < 1_000
        except ArchivoltError as error:
            assert error.code == "document_broken"  # noqa: PT017


EACH = {
    "workbook": ("xl/workbook.xml", xlsx({"S": "<row><c><v>1</v></c></row>" * 99})),
    "slides": ("ppt/presentation.xml", pptx([shape(f"text {n}") for n in range(99)])),
    "text": ("content.xml", odf("text", "<text:p>text</text:p>" * 99)),
    "book": ("OEBPS/book.opf", epub({f"{n}.xhtml": "<p>text</p>" for n in range(99)})),
}


@pytest.mark.parametrize("kind", EACH)
class TestHostile:
    def test_entities_are_refused(self, kind: str) -> None:
        part, _ = EACH[kind]
        parts = {**_parts(kind), part: f"<?xml version='1.0'?>{BOMB}<x>&b;</x>"}
        assert refusal(archive(parts)) == "document_broken"

    def test_one_that_inflates_is_refused_before_it_is_unpacked(self, kind: str) -> None:
        big = b" " * 30_000_000
        assert refusal(archive({**_parts(kind), "more.xml": big})) == "document_inflates"

    def test_a_damaged_one_is_said(self, kind: str) -> None:
        _, whole = EACH[kind]
        assert refusal(whole[:-40]) == "document_broken"
        middle = len(whole) // 3
        torn = whole[:middle] + b"\xaa" * 60 + whole[middle + 60 :]
        assert refusal(torn) == "document_broken"

    def test_a_wrong_extension_does_not_matter(self, kind: str) -> None:
        _, whole = EACH[kind]
        assert read_as_deployed(whole, "notes.md").markdown

    def test_deep_nesting_ends(self, kind: str) -> None:
        part, _ = EACH[kind]
        deep = archive({**_parts(kind), part: "<x>" * 300_000})
        assert refusal(deep) in {"document_broken", "document_inflates"}


def test_entries_that_overlap_are_refused() -> None:
    assert refusal(overlapping(200, 4_000_000)) == "document_inflates"


def test_an_archive_in_an_archive_is_not_unpacked() -> None:
    bomb = archive({"xl/workbook.xml": b" " * 4_000_000})
    for _ in range(5):
        bomb = archive({f"{n}.xlsx": bomb for n in range(3)})
    assert refusal(bomb) == "unsupported_format"
    hidden = {"xl/workbook.xml": "<x/>", "xl/embeddings/more.xlsx": bomb}
    assert extracted(archive(hidden)) == Extraction(markdown="")


def test_an_archive_with_a_password_says_so() -> None:
    whole = bytearray(xlsx({"S": ""}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = whole.find(mark)
        while place >= 0:
            whole[place + flags] |= 1
            place = whole.find(mark, place + 1)
    assert refusal(bytes(whole)) == "document_encrypted"


def test_a_relationship_that_leads_out_of_the_archive_finds_nothing() -> None:
    outside = {"xl/_rels/workbook.xml.rels": relations({"r1": ("worksheet", "../../etc/passwd")})}
    assert extracted(xlsx({"S": "<row><c><v>1</v></c></row>"}, parts=outside)).markdown == ""


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MAX_SHEET_CELLS", 3)
    book = sheets.Workbook()
    for cell in "abc":
        book.count(cell)
    with pytest.raises(ArchivoltError) as raised:
        book.count("d")
    assert raised.value.code == "document_inflates"


def _parts(kind: str) -> dict[str, str | bytes]:
    return archived(EACH[kind][1])


def archived(data: bytes) -> dict[str, str | bytes]:
    with zipfile.ZipFile(BytesIO(data)) as whole:
        return {name: whole.read(name) for name in whole.namelist()}


def _table(*rows: tuple[str, ...]) -> str:
    cells = (
        "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        for row in rows
    )
    written = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    return f"<table:table>{written}</table:table>"
