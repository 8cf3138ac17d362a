"""PDF and Word documents, good and hostile, read in a child process as they are deployed."""

import os
import resource
import struct
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from archivolt.adapters.extraction import isolated, pdf_fields
from archivolt.adapters.extraction.isolated import IsolatedExtractor
from archivolt.adapters.extraction.pdf import PdfExtractor
from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.errors import (
    ArchivoltError,
    TooLargeError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.ingestion.splitting import split
from archivolt.ports.ingestion import Extraction
from archivolt.retrieval.tokens import token_upper_bound
from tests.documents import docx, paragraph, pdf, table
from tests.office_documents import archive, relations

TEXT = [f"This is line {number} of the text of the page." for number in range(8)]


def extracted(data: bytes, name: str = "document") -> Extraction:
    return extractor_of_all_formats().extract(data, name=name)


def refusal(data: bytes, name: str = "document") -> ArchivoltError:
    with pytest.raises(ArchivoltError) as raised:
        extracted(data, name)
    return raised.value


class TestPdf:
    def test_pages_headings_and_paragraphs_are_found(self) -> None:
        pages = [
            [(20, "A Guide"), "", *TEXT[:3], "", *TEXT[3:5], (14, "Setup"), *TEXT[5:]],
            [(14, "Été"), "Voilà \u2013 c\u2019est \u201cbon\u201d : 20 €."],
        ]
        found = extracted(pdf(pages), "guide.pdf")
        assert found.pages == 2
        assert found.title == "A Guide"
        blocks = found.markdown.split("\n\n")
        assert [block.strip() for block in blocks] == [
            "<!-- page 1 -->",
            "# A Guide",
            "\n".join(TEXT[:3]),
            "\n".join(TEXT[3:5]),
            "## Setup",
            "\n".join(TEXT[5:]),
            "<!-- page 2 -->",
            "## Été",
            "Voilà \u2013 c\u2019est \u201cbon\u201d : 20 €.",
        ]

    def test_passages_know_their_page(self) -> None:
        found = extracted(pdf([["alpha"], ["beta"], ["gamma"]]))
        passages = split(found.markdown, budget=60, count=token_upper_bound)
        assert [(p.page, p.text) for p in passages] == [(1, "alpha"), (2, "beta"), (3, "gamma")]

    def test_the_outline_is_believed_before_sizes(self) -> None:
        pages = [["1. Opening", *TEXT, (20, "A pull quote")], ["Closing", *TEXT]]
        found = extracted(pdf(pages, outline=[("Opening", 0), ("Closing", 1)], title="Named"))
        headings = [line for line in found.markdown.split("\n") if line.startswith("#")]
        assert headings == ["# 1. Opening", "# Closing"]
        assert found.title == "Named"

    def test_running_headers_and_footers_are_left_out(self) -> None:
        pages = [
            ["ACME report", *(f"{letter}{line}" for line in TEXT), f"Page {n} of 9"]
            for n, letter in enumerate("abcdefghi", start=1)
        ]
        found = extracted(pdf(pages)).markdown
        assert "ACME" not in found
        assert "of 9" not in found
        assert found.count("text") == 9 * len(TEXT)

    def test_a_word_broken_at_the_end_of_a_line_is_whole(self) -> None:
        found = extracted(pdf([["The docu-", "ment of Jean-", "Paul"]]))
        assert "The document of Jean-Paul" in found.markdown

    def test_text_is_not_taken_for_structure(self) -> None:
        (passage,) = split(
            extracted(pdf([["# no heading", "```", "text", "# nor this", "----", "end"]])).markdown,
            budget=99,
            count=len,
        )
        assert passage.headings == ()
        assert "text" in passage.text

    def test_headings_with_a_number_of_their_own_are_not_taken_for_running_headers(self) -> None:
        pages = [
            ["The company", (16, f"Exercise {n}"), *(f"text {n}{m}" for m in "abcd"), f"page {n}"]
            for n in range(1, 6)
        ]
        found = extracted(pdf(pages)).markdown
        assert [f"# Exercise {n}" in found for n in range(1, 6)] == [True] * 5
        assert "company" not in found

    def test_what_was_filled_in_stands_with_its_label(self) -> None:
        field = "/Subtype /Widget /FT /Tx /T (f{}) /Rect [200 {} 400 {}]"
        notes = [
            f"{field.format(1, 735, 750)} /V (Zo\\351 Martin)",
            f"{field.format(2, 700, 715)} /V (secret) /Ff 8192",
            f"{field.format(3, 700, 715)} /FT /Btn /V /Yes",
            f"{field.format(4, 735, 750)} /V (unseen) /F 2",
            "/Subtype /FreeText /Rect [50 600 200 620] /Contents (unseen) /F 36",
            "/Subtype /FreeText /Rect [50 600 200 620] /Contents (typed\non it) /F 4",
            "/Subtype /Text /Rect [50 500 60 510] /Contents (a remark)",
        ]
        found = extracted(pdf([["Name:", "Password:"]], annotations=notes)).markdown
        assert " ".join(found.split()) == "<!-- page 1 --> Name: Zoé Martin Password: typed on it"

    def test_fields_stand_with_the_lines_of_the_page_and_not_with_each_other(self) -> None:
        typed = "/Subtype /FreeText /Rect [50 {0} 200 {0}] /Contents ({0})"
        notes = [typed.format(height) for height in (600, 300, 590)]
        found = extracted(pdf([["Notes:"]], annotations=notes)).markdown
        assert found.split()[-4:] == ["Notes:", "600", "300", "590"]

    def test_fields_are_counted_while_they_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf_fields, "MAX_EXTRACTED_CHARS", 1_000)
        note = f"/Subtype /FreeText /Rect [50 600 200 620] /Contents ({'x' * 400})"
        with pytest.raises(TooLargeError) as raised:
            PdfExtractor(None).extract(pdf([[]], annotations=[note] * 3), name="a.pdf")
        assert raised.value.code == "document_too_much_text"

    def test_a_scan_has_no_text(self) -> None:
        found = extracted(pdf([[], []]))
        assert found.pages == 2
        assert split(found.markdown, budget=60, count=token_upper_bound) == []

    def test_a_password_is_said(self) -> None:
        error = refusal(pdf([["secret"]], password=True))
        assert isinstance(error, UnsupportedContentError)
        assert error.code == "document_encrypted"

    @pytest.mark.parametrize("damage", ["head only", "garbage", "half"])
    def test_a_damaged_one_is_said(self, damage: str) -> None:
        whole = pdf([TEXT])
        data = {
            "head only": b"%PDF-1.7\n",
            "garbage": b"%PDF-1.7\n" + bytes(range(256)) * 40,
            "half": whole[: len(whole) // 3],
        }[damage]
        assert refusal(data, "broken.pdf").code == "document_broken"

    def test_a_wrong_extension_does_not_matter(self) -> None:
        assert "text of the page" in extracted(pdf([TEXT]), "notes.md").markdown

    def test_many_pages_are_read_in_seconds(self) -> None:
        start = time.perf_counter()
        assert extracted(pdf([[f"page {n}"] for n in range(3_000)])).pages == 3_000
        assert time.perf_counter() - start < 60

    def test_a_table_of_contents_of_digits_costs_nothing(self) -> None:
        found = extracted(pdf([["1" * 5_000]], outline=[("1" * 5_000 + "x", 0)]))
        assert "111" in found.markdown


class TestDocx:
    def test_headings_paragraphs_and_tables_are_found(self) -> None:
        body = (
            paragraph("Le titre", style="Titre")
            + paragraph("Début", style="Titre1")
            + paragraph("L\u2019été &amp; l\u2019hiver.")
            + paragraph("Suite", style="Titre2")
            + table(["Nom", "Prix"], ["Thé", "2 €"])
        )
        found = extracted(docx(body), "a.docx").markdown
        assert found == (
            "# Le titre\n\n# Début\n\nL\u2019été & l\u2019hiver.\n\n## Suite\n\n"
            "| Nom | Prix |\n|---|---|\n| Thé | 2 € |"
        )

    def test_formulas_readings_and_text_set_the_other_way_are_read(self) -> None:
        run = "<w:r><w:t>{}</w:t></w:r>"
        power = "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
        body = (
            f'<w:p>{run.format("so ")}<m:oMath xmlns:m="urn:m"><m:r><m:t>E=m</m:t></m:r>{power}'
            f'</m:sSup></m:oMath></w:p><w:p><w:bdo w:val="rtl">{run.format("שבת")}</w:bdo>'
            f"<w:r><w:ruby><w:rt>{run.format('かんじ')}</w:rt>"
            f"<w:rubyBase>{run.format('漢字')}</w:rubyBase></w:ruby></w:r></w:p>"
        )
        assert extracted(docx(body)).markdown == "so E=mc^2\n\nשבת漢字"

    def test_a_damaged_picture_hides_no_formula(self) -> None:
        body = '<w:p><m:oMath xmlns:m="urn:m"><m:r><m:t>E=m</m:t></m:r></m:oMath></w:p>'
        parts: dict[str, str | bytes] = {"word/media/i.png": os.urandom(99)}
        whole = docx(body, parts=parts)
        place = whole.index(b"word/media/i.png") + 30
        damaged = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        assert extracted(damaged).markdown == "E=m"

    def test_what_diagrams_and_charts_say_comes_last(self) -> None:
        diagram = "<x xmlns:a='urn:a'><a:p><a:t>Di</a:t><a:t>rection</a:t></a:p></x>"
        names = "<c:strCache><c:pt><c:v>Nord</c:v></c:pt></c:strCache>"
        chart = f"<c xmlns:c='urn:c' xmlns:a='urn:a'><a:p><a:t>Ventes</a:t></a:p>{names * 2}"
        chart += "<c:numCache><c:pt><c:v>12</c:v></c:pt></c:numCache></c>"
        parts: dict[str, str | bytes] = {
            "word/_rels/document.xml.rels": relations(
                {"d": ("diagramData", "d.xml"), "c": ("chart", "c.xml"), "e": ("chart", "c.xml")}
            ),
            "word/d.xml": diagram,
            "word/c.xml": chart,
        }
        found = extracted(docx(paragraph("text"), parts=parts)).markdown
        assert found == "text\n\nDirection\n\nVentes\nNord"

    def test_charts_of_every_kind_say_their_names(self) -> None:
        old = (
            "<c xmlns:a='urn:a'><a:p><a:t>Ventes</a:t><a:br/><a:t>2024</a:t></a:p>"
            "<multiLvlStrCache><lvl><pt><v>Nord</v></pt></lvl></multiLvlStrCache></c>"
        )
        new = (
            "<c><tx><txData><f>A1</f><v>Marge</v></txData></tx><strDim><lvl><pt>Sud</pt></lvl>"
            "</strDim><numDim><lvl><pt>12</pt></lvl></numDim></c>"
        )
        charts = {"c": ("chart", "c.xml"), "d": ("chartEx", "d.xml")}
        parts: dict[str, str | bytes] = {
            "word/_rels/document.xml.rels": relations(charts),
            "word/c.xml": old,
            "word/d.xml": new,
        }
        found = extracted(docx(paragraph("text"), parts=parts)).markdown
        assert found == "text\n\nVentes 2024\nNord\n\nMarge\nSud"

    def test_a_damaged_chart_or_title_hides_no_text(self) -> None:
        parts: dict[str, str | bytes] = {
            "word/_rels/document.xml.rels": relations({"c": ("chart", "c.xml")}),
            "word/c.xml": "<c xmlns:a='urn:a'><a:p><a:t>Ventes</a:t></a:p>",
            "docProps/core.xml": "<x",
        }
        found = extracted(docx(paragraph("text"), parts=parts))
        assert (found.title, found.markdown) == ("", "text\n\nVentes")

    def test_the_title_is_that_of_its_properties(self) -> None:
        core = "<x xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>Le bilan</dc:title></x>"
        found = extracted(docx(paragraph("text"), parts={"docProps/core.xml": core}))
        assert (found.title, found.markdown) == ("Le bilan", "text")

    def test_one_whose_main_part_has_a_number_is_read(self) -> None:
        parts: dict[str, str | bytes] = {}
        with zipfile.ZipFile(BytesIO(docx(paragraph("text")))) as whole:
            for name in whole.namelist():
                part = whole.read(name).replace(b"document.xml", b"document2.xml")
                parts[name.replace("document.xml", "document2.xml")] = part
        assert extracted(archive(parts)).markdown == "text"

    def test_a_wrong_extension_does_not_matter(self) -> None:
        assert extracted(docx(paragraph("text")), "a.pdf").markdown == "text"

    @pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
    def test_a_truncated_one_is_said(self, keep: float) -> None:
        parts: dict[str, str | bytes] = {"word/media/x.bin": os.urandom(5_000)}
        whole = docx(paragraph("text"), parts=parts)
        cut = whole[: int(len(whole) * keep)] + b"word/document.xml"
        assert refusal(cut).code == "document_broken"

    def test_one_that_inflates_is_refused_before_it_is_unpacked(self) -> None:
        bomb = docx("", parts={f"word/bomb{n}.xml": b" " * 120_000_000 for n in range(3)})
        assert len(bomb) < 2_000_000
        start = time.perf_counter()
        error = refusal(bomb)
        assert isinstance(error, TooLargeError)
        assert error.code == "document_inflates"
        assert time.perf_counter() - start < 30

    def test_one_that_lies_about_its_size_is_broken(self) -> None:
        honest = docx("", parts={"word/bomb.xml": b" " * 50_000_000})
        size = struct.pack("<I", 50_000_000)
        assert size in honest
        assert refusal(honest.replace(size, struct.pack("<I", 1_000))).code == "document_broken"

    def test_one_that_repeats_itself_without_end_is_refused(self) -> None:
        bomb = docx(paragraph("x") * 1_000, parts={"word/bomb.xml": b" " * 50_000_000})
        assert refusal(bomb).code == "document_inflates"

    def test_many_entries_are_refused(self) -> None:
        assert refusal(docx("", parts={f"{n}": "" for n in range(10_100)})).code == (
            "document_inflates"
        )

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_entities_are_refused(self, encoding: str) -> None:
        entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
        bomb = (
            f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>'
        )
        parts: dict[str, str | bytes] = {
            "word/footnotes.xml": f"{bomb}<x>&e11;</x>".encode(encoding)
        }
        assert refusal(docx(paragraph("text"), parts=parts)).code == "document_broken"

    def test_a_part_of_memory_it_may_not_have_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deep = "<w:tbl><w:tr><w:tc>" * 20_000
        assert refusal(docx(deep)).code in {"document_broken", "document_inflates"}

    def test_archives_of_other_kinds_are_not_read(self) -> None:
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("classes/Main.class", "x")
        assert refusal(out.getvalue(), "a.docx").code == "unsupported_format"

    def test_pictures_are_told_by_their_text(self) -> None:
        found = extracted(docx(paragraph("before") + "<w:p><w:r><w:pict/></w:r></w:p>"))
        assert found.markdown == "before"


class TestIsolation:
    def test_a_large_page_is_read_in_a_child(self) -> None:
        page = "<p>é</p>" * 200_000
        assert extracted(page.encode(), "a.html").markdown.count("é") == 200_000

    def test_one_that_takes_too_long_is_stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(isolated, "MAX_EXTRACTION_SECONDS", 0.05)
        monkeypatch.setattr(isolated, "MAX_EXTRACTION_CPU_SECONDS", 0)
        assert refusal(pdf([TEXT])).code == "document_too_slow"

    def test_one_that_hardly_got_the_processor_is_not_to_blame(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(isolated, "MAX_EXTRACTION_SECONDS", 0.05)
        assert isinstance(refusal(pdf([TEXT])), UnavailableError)

    def test_one_that_takes_too_much_of_the_processor_is_stopped(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        worker = (
            "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass\n"
        )
        assert self._refusal_of(worker, monkeypatch, tmp_path) == "document_too_slow"

    def test_one_that_crashes_its_reader_is_broken(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        worker = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
        assert self._refusal_of(worker, monkeypatch, tmp_path) == "document_broken"

    def test_one_that_crashes_its_reader_answers_for_no_memory_of_ours(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024
        monkeypatch.setattr(isolated, "MAX_EXTRACTION_BYTES", ours)
        worker = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
        assert self._refusal_of(worker, monkeypatch, tmp_path) == "document_broken"

    def test_one_that_crashes_its_reader_for_want_of_memory_is_too_big(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(isolated, "MAX_EXTRACTION_BYTES", 60_000_000)
        worker = "import os\ntaken = b'x' * 40_000_000\nos.abort()\n"
        assert self._refusal_of(worker, monkeypatch, tmp_path) == "document_inflates"

    def test_a_reader_that_does_not_start_is_not_the_documents_fault(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(isolated, "_WORKER", "archivolt.no_such_module")
        with pytest.raises(UnavailableError):
            IsolatedExtractor("pdf").extract(pdf([TEXT]), name="a.pdf")

    def test_a_child_gets_nothing_of_the_environment(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
        worker = (
            "import json, os\nprint(json.dumps({'markdown': repr(dict(os.environ)), 'title': '',"
            " 'pages': None}))\n"
        )
        self._use(worker, monkeypatch, tmp_path)
        found = IsolatedExtractor("pdf").extract(b"", name="")
        assert "PYTHONPATH" in found.markdown
        assert "canary" not in found.markdown

    def _refusal_of(self, worker: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
        self._use(worker, monkeypatch, tmp_path)
        return refusal(pdf([TEXT])).code

    def _use(self, worker: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        (folder / "stand_in_worker.py").write_text(worker)
        monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
        monkeypatch.setattr(isolated, "_WORKER", "stand_in_worker")


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.html", "a.md", "a"])
def test_an_empty_document_has_no_text(name: str) -> None:
    assert extracted(b"", name) == Extraction(markdown="")
