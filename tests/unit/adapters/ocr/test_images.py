"""Scans and images: read where an engine is installed, told apart from empty ones where none is."""

import os
import shutil
import stat
from pathlib import Path

import pypdfium2
import pytest

from archivolt.adapters.extraction import image as image_module
from archivolt.adapters.extraction import pdf as pdf_module
from archivolt.adapters.extraction import pdf_scans
from archivolt.adapters.extraction.archive_images import WithImages
from archivolt.adapters.extraction.docx import DocxExtractor
from archivolt.adapters.extraction.image import ImageExtractor
from archivolt.adapters.extraction.image_size import page_places, points_of
from archivolt.adapters.extraction.pdf import PdfExtractor
from archivolt.adapters.ocr.engines import EngineChoice, engine_of, find_engine
from archivolt.adapters.ocr.paragraphs import as_markdown
from archivolt.adapters.ocr.tesseract import Tesseract
from archivolt.composition.extraction import extraction_recipe, extractor_of_all_formats
from archivolt.domain.errors import ArchivoltError, UnavailableError, UnsupportedContentError
from archivolt.domain.ingestion import IndexState, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ingestion.documents import DocumentReader
from archivolt.ingestion.splitting import split
from archivolt.ports.ingestion import Extraction
from archivolt.retrieval.tokens import token_upper_bound
from tests.documents import docx, paragraph, pdf
from tests.images import (
    bitmap_that_says,
    gif_that_says,
    jpeg_that_says,
    old_bitmap_that_says,
    png,
    png_that_says,
    scanned_pdf,
    tiff_that_says,
    tiff_without_end,
    webp_that_says,
)

TEXT = [f"This is line {number} of the text of the page." for number in range(8)]
PRINTED = "La cotisation est payable\nbefore the end of June"
STAND_IN = Path(__file__).with_name("stand_in_tesseract")


class ScriptedOcr:
    """An `OcrEngine` that says the same of every page, or fails on some."""

    def __init__(self, *pages: str, fails_on: tuple[int, ...] = ()) -> None:
        self.read_images: list[bytes] = []
        self._pages = list(pages)
        self._fails_on = fails_on

    def read(self, image: bytes, *, dpi: int | None = None) -> list[str]:
        self.read_images.append(image)
        if len(self.read_images) in self._fails_on:
            raise UnsupportedContentError("document_broken")
        return self._pages


@pytest.fixture
def tesseract(monkeypatch: pytest.MonkeyPatch) -> EngineChoice:
    """A program that speaks as Tesseract does, first on the path."""
    monkeypatch.setenv("PATH", str(STAND_IN), prepend=os.pathsep)
    found = find_engine("tesseract")
    assert found is not None
    return found


def refusal(extractor: ImageExtractor | PdfExtractor | Tesseract, data: bytes) -> str:
    with pytest.raises(ArchivoltError) as raised:
        _ = (
            extractor.read(data)
            if isinstance(extractor, Tesseract)
            else extractor.extract(data, name="a")
        )
    return raised.value.code


class TestScannedPages:
    def test_they_are_read_and_know_their_page(self) -> None:
        ocr = ScriptedOcr("lu sur l\u2019image")
        found = PdfExtractor(ocr).extract(scanned_pdf(2), name="a.pdf")
        assert (found.pages, found.unread_pages) == (2, 0)
        passages = split(found.markdown, budget=60, count=token_upper_bound)
        assert [(p.page, p.text) for p in passages] == [
            (1, "lu sur l\u2019image"),
            (2, "lu sur l\u2019image"),
        ]

    def test_the_engine_gets_a_grey_image_of_the_page(self) -> None:
        ocr = ScriptedOcr("x")
        PdfExtractor(ocr).extract(scanned_pdf(1), name="a.pdf")
        (image,) = ocr.read_images
        head, points = image[:15], image[16:]
        assert head == b"P5 1667 2223 25"
        assert len(image) == len(b"P5 1667 2223 255\n") + 1667 * 2223
        assert set(points[100:10_000]) == {255}

    def test_a_stamp_does_not_make_a_text_of_a_scan(self) -> None:
        found = PdfExtractor(None).extract(scanned_pdf(1, stamp="Scanned by X"), name="a.pdf")
        assert found.unread_pages == 1
        read = PdfExtractor(ScriptedOcr("All of it")).extract(
            scanned_pdf(1, stamp="Scanned by X"), name="a.pdf"
        )
        assert "All of it" in read.markdown

    def test_pages_with_a_text_layer_are_not_read_again(self) -> None:
        ocr = ScriptedOcr("again")
        found = PdfExtractor(ocr).extract(pdf([TEXT, []]), name="a.pdf")
        assert ocr.read_images == []
        assert found.unread_pages == 0

    def test_a_page_that_fails_leaves_the_others(self) -> None:
        found = PdfExtractor(ScriptedOcr("text", fails_on=(1,))).extract(scanned_pdf(3), name="a")
        assert found.unread_pages == 1
        assert found.markdown.count("text") == 2

    def test_bounds_leave_pages_unread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf_scans, "MAX_OCR_PAGES", 2)
        found = PdfExtractor(ScriptedOcr("text")).extract(scanned_pdf(5), name="a")
        assert (found.unread_pages, found.markdown.count("text")) == (3, 2)

    def test_no_time_for_even_one_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf_module, "MAX_OCR_SECONDS", -1)
        assert refusal(PdfExtractor(ScriptedOcr("text")), scanned_pdf(2)) == "document_too_slow"


class TestImages:
    def test_one_is_read_and_several_are_pages(self) -> None:
        one = ImageExtractor(ScriptedOcr("text")).extract(png(60, 40), name="a.png")
        assert one == Extraction(markdown="text")
        two = ImageExtractor(ScriptedOcr("un", "deux")).extract(png(60, 40), name="a.tif")
        assert two == Extraction(
            markdown="<!-- page 1 -->\n\nun\n\n<!-- page 2 -->\n\ndeux", pages=2
        )

    @pytest.mark.parametrize("order", ["<", ">"])
    def test_the_pages_of_one_are_read_one_by_one(self, order: str) -> None:
        engine = ScriptedOcr("text", fails_on=(2,))
        scan = tiff_that_says((3, 2), (30, 20), (4, 5), order=order)
        found = ImageExtractor(engine).extract(scan, name="fax.tif")
        assert [(points_of(page), len(page_places(page))) for page in engine.read_images] == [
            (6, 1),
            (600, 1),
            (20, 1),
        ]
        assert found == Extraction(
            markdown="<!-- page 1 -->\n\ntext\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\ntext",
            pages=3,
            unread_pages=1,
        )

    def test_bounds_leave_pages_of_one_unread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(image_module, "MAX_OCR_PAGES", 2)
        scan = tiff_that_says(*[(3, 2)] * 5)
        found = ImageExtractor(ScriptedOcr("text")).extract(scan, name="fax.tif")
        assert (found.pages, found.unread_pages, found.markdown.count("text")) == (5, 3, 2)

    def test_no_time_for_even_one_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(image_module, "MAX_OCR_SECONDS", -1)
        scan = tiff_that_says((3, 2), (3, 2))
        assert refusal(ImageExtractor(ScriptedOcr("text")), scan) == "document_too_slow"

    def test_one_of_which_no_page_can_be_read_is_broken(self) -> None:
        engine = ScriptedOcr("text", fails_on=(1, 2))
        assert refusal(ImageExtractor(engine), tiff_that_says((3, 2), (3, 2))) == "document_broken"

    @pytest.mark.parametrize(
        "image",
        [
            png_that_says(50_000, 50_000),
            jpeg_that_says(60_000, 60_000),
            tiff_that_says((10, 10), (100_000, 60_000)),
            webp_that_says(16_000, 16_000),
            gif_that_says(60_000, 60_000),
            bitmap_that_says(60_000, 60_000),
        ],
    )
    def test_one_that_inflates_is_refused_before_it_is_unpacked(self, image: bytes) -> None:
        assert refusal(ImageExtractor(ScriptedOcr("x")), image) == "document_inflates"
        assert refusal(ImageExtractor(None), image) == "document_inflates"

    @pytest.mark.parametrize(
        "image",
        [
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff",
            b"\xff\xd8" + b"\xff" * 50,
            b"\xff\xd8" + b"\0" * 50,
            b"II*\0\xff\xff\xff\xff",
            tiff_without_end(),
            b"RIFF\0\0\0\0WEBPVP8X",
            b"GIF89a",
            bitmap_that_says(3, 2)[:20],
            png_that_says(0, 7),
        ],
    )
    def test_a_damaged_one_is_said(self, image: bytes) -> None:
        assert refusal(ImageExtractor(None), image) == "document_broken"

    def test_sizes_are_read_from_the_first_bytes(self) -> None:
        assert points_of(png_that_says(30, 20)) == 600
        assert points_of(jpeg_that_says(30, 20)) == 600
        assert points_of(tiff_that_says((3, 2), (30, 20))) == 600
        assert points_of(tiff_that_says((30, 20), order=">")) == 600
        assert points_of(webp_that_says(30, 20)) == 600
        assert points_of(gif_that_says(30, 20)) == 600
        assert points_of(bitmap_that_says(30, 20)) == 600
        assert points_of(old_bitmap_that_says(30, 20)) == 600

    def test_the_largest_picture_on_a_screen_counts(self) -> None:
        assert points_of(gif_that_says(1, 1, (3, 2), (30, 20), (5, 5))) == 600
        assert points_of(gif_that_says(0, 0, (30, 20))[:-8]) == 600
        assert points_of(gif_that_says(30, 20, (3, 2))) == 600
        assert points_of(gif_that_says(30, 20, (3, 2))[:-1] + b"\1\0" * 1_000_000) is None

    @pytest.mark.parametrize("image", [gif_that_says(30, 20), bitmap_that_says(30, 20)])
    def test_pictures_of_old_programs_wait_for_an_engine_too(self, image: bytes) -> None:
        found = extractor_of_all_formats().extract(image, name="scan.dat")
        assert found == Extraction(markdown="", unread_pages=1)


class TestArchives:
    """Documents that hold images and nothing else."""

    SCAN = docx("", parts={"word/media/image1.png": png(400, 300)})

    def test_their_images_are_read_in_the_order_of_their_numbers(
        self, tesseract: EngineChoice
    ) -> None:
        found = extractor_of_all_formats(tesseract).extract(self.SCAN, name="a.docx")
        assert found == Extraction(markdown="L\u2019été fut long\n\n\\# pas un titre")
        numbered = {f"word/media/image{n}.png": png(400, 300 + n) for n in (10, 2)}
        ocr = ScriptedOcr("text")
        WithImages(DocxExtractor(), ocr).extract(docx("", parts={**numbered}), name="a.docx")
        assert ocr.read_images == [png(400, 302), png(400, 310)]

    def test_without_an_engine_they_stay_unread(self) -> None:
        found = extractor_of_all_formats().extract(self.SCAN, name="a.docx")
        assert found == Extraction(markdown="", unread_pages=1)

    @pytest.mark.parametrize(
        "document",
        [
            docx(paragraph("text"), parts={"word/media/image1.png": png(400, 300)}),
            docx("", parts={"word/media/logo.png": png(40, 30)}),
            docx("", parts={"docProps/thumbnail.png": png(400, 300)}),
        ],
    )
    def test_images_beside_text_and_logos_are_left_alone(self, document: bytes) -> None:
        ocr = ScriptedOcr("image")
        assert WithImages(DocxExtractor(), ocr).extract(document, name="a").unread_pages == 0
        assert ocr.read_images == []

    def test_one_that_fails_leaves_the_others(self) -> None:
        parts = {f"word/media/{n}.png": png(400, 300) for n in range(3)}
        extractor = WithImages(DocxExtractor(), ScriptedOcr("text", fails_on=(2,)))
        found = extractor.extract(docx("", parts={**parts}), name="a.docx")
        assert found == Extraction(markdown="text\n\ntext", unread_pages=1)


class TestStates:
    """What becomes of a scan, as the index tells it."""

    def reading(self, extractor: object, data: bytes, name: str) -> tuple[IndexState, str]:
        def cut(text: str) -> list[Passage]:
            return list(split(text, budget=60, count=token_upper_bound))

        reader = DocumentReader(extractor, cut, recipe="test")  # pyright: ignore[reportArgumentType]
        read = reader.read(VaultPath(name), data)
        return read.state, read.reason

    @pytest.mark.parametrize(("data", "name"), [(png(9, 9), "a.png"), (scanned_pdf(2), "a.pdf")])
    def test_without_an_engine_it_needs_one_and_is_never_indexed(
        self, data: bytes, name: str
    ) -> None:
        state = self.reading(extractor_of_all_formats(None), data, name)
        assert state == (IndexState.OCR_NEEDED, "ocr_needed")

    def test_what_was_read_and_is_blank_has_no_text(self) -> None:
        blank = ImageExtractor(ScriptedOcr(""))
        state = self.reading(blank, png(9, 9), "a.png")
        assert state == (IndexState.NO_TEXT, "document_without_text")

    def test_pages_that_stay_unread_are_told_of_a_document_with_text(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pdf_scans, "MAX_OCR_PAGES", 1)
        state = self.reading(PdfExtractor(ScriptedOcr("text")), scanned_pdf(3), "a.pdf")
        assert state == (IndexState.PENDING, "pages_unread")

    def test_another_engine_makes_texts_anew(self) -> None:
        def recipe(engine: EngineChoice | None) -> str:
            return extraction_recipe(engine, tika_url="", tika_formats="")

        choices = [None, EngineChoice("rapidocr"), EngineChoice("tesseract", "x", "fra+eng")]
        assert len(set(map(recipe, choices))) == 3


class TestTesseract:
    def test_it_reads_in_the_child_process_that_reads_documents(
        self, tesseract: EngineChoice
    ) -> None:
        extractor = extractor_of_all_formats(tesseract)
        found = extractor.extract(scanned_pdf(1), name="a.pdf")
        assert "L\u2019été fut long" in found.markdown
        assert extractor.extract(png(60, 40), name="a.png").markdown == (
            "L\u2019été fut long\n\n\\# pas un titre"
        )

    def test_it_runs_in_the_languages_that_are_installed(self, tesseract: EngineChoice) -> None:
        assert tesseract == EngineChoice("tesseract", str(STAND_IN / "tesseract"), "fra+eng", "")

    def test_what_it_is_not_sure_of_is_no_text(self, tesseract: EngineChoice) -> None:
        engine = Tesseract(tesseract.program, languages="fra")
        assert engine.read(b"a photograph") == [""]

    def test_an_image_it_refuses_is_broken(self, tesseract: EngineChoice) -> None:
        engine = Tesseract(tesseract.program, languages="fra")
        assert refusal(engine, b"BROKEN") == "document_broken"

    def test_one_without_our_languages_is_no_engine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = tmp_path / "tesseract"
        program.write_text("#!/bin/sh\necho 'List of available languages (1):'\necho osd\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_engine("tesseract") is None

    def test_none_is_none(self, tesseract: EngineChoice) -> None:
        assert find_engine("none") is None

    @pytest.mark.optional_engine
    @pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
    def test_the_real_one_reads_french_and_english(self) -> None:
        found = find_engine("tesseract")
        assert found is not None
        read = Tesseract(found.program, languages=found.languages).read(_printed(), dpi=200)
        assert read == [PRINTED]


class TestRapidOcr:
    @pytest.mark.optional_engine
    @pytest.mark.skipif(find_engine("rapidocr") is not None, reason="rapidocr is installed")
    def test_one_that_cannot_be_loaded_is_not_the_documents_fault(self) -> None:
        extractor = extractor_of_all_formats(EngineChoice("rapidocr"))
        with pytest.raises(UnavailableError):
            extractor.extract(png(60, 40), name="a.png")

    @pytest.mark.optional_engine
    @pytest.mark.skipif(find_engine("rapidocr") is None, reason="rapidocr is not installed")
    def test_the_real_one_reads_french_and_english(self) -> None:
        choice = find_engine("rapidocr")
        assert choice is not None
        assert engine_of(choice).read(_printed()) == [PRINTED]


def _printed() -> bytes:
    """Return an image of two printed lines."""
    document = pypdfium2.PdfDocument(pdf([[(24, line) for line in PRINTED.split("\n")]]))
    return pdf_scans.page_image(document, 0)


def test_a_word_broken_at_the_end_of_a_line_is_whole() -> None:
    assert as_markdown([["un docu-", "ment de Jean-", "Paul"], [], ["fin"]]) == (
        "un document de Jean-\nPaul\n\nfin"
    )
