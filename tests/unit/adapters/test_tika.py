"""A Tika server beside our readers: for what we do not read, or for all that is no text."""

from collections.abc import Iterator

import httpx2
import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.adapters.tika import extractor as tika_extractor
from archivolt.adapters.tika.extractor import TikaExtractor
from archivolt.composition.extraction import extractor_of_all_formats, tika_reader
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.ports.ingestion import Extraction
from tests.documents import docx, paragraph
from tests.fakes.tika_server import TikaServer, tika_server
from tests.images import png

OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 an old Word file"


@pytest.fixture
def tika() -> Iterator[TikaServer]:
    with tika_server() as server:
        yield server


def extracted(
    tika: TikaServer, data: bytes, name: str = "a.doc", *, first: bool = False
) -> Extraction:
    extractor = extractor_of_all_formats(other=tika_reader(tika.url), other_first=first)
    return extractor.extract(data, name=name)


def refusal(tika: TikaServer) -> ArchivoltError:
    with pytest.raises(ArchivoltError) as raised:
        extracted(tika, OLD_WORD)
    return raised.value


def test_pages_are_marked_and_headings_kept(tika: TikaServer) -> None:
    tika.says("<h1>Été</h1><p>un</p>", "<p>deux &amp; trois</p>", title="Le titre")
    assert extracted(tika, OLD_WORD) == Extraction(
        markdown="<!-- page 1 -->\n\n# Été\n\nun\n\n<!-- page 2 -->\n\ndeux & trois",
        title="Le titre",
        pages=2,
    )


def test_the_server_gets_the_bytes_and_the_name_and_decides_itself(tika: TikaServer) -> None:
    tika.says("<p>text</p>")
    assert extracted(tika, OLD_WORD, "été, 2.doc").markdown == "text"
    assert tika.documents == [OLD_WORD]
    (headers,) = tika.headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].endswith("''%C3%A9t%C3%A9%2C%202.doc")
    assert "authorization" not in headers


@pytest.mark.parametrize(
    "data", [OLD_WORD, b"{\\rtf1 text}", b"\x1f\x8b\x08\0\0\0\0\0", b"\0\1\2\3 is no text"]
)
def test_what_we_do_not_read_goes_there(tika: TikaServer, data: bytes) -> None:
    tika.says("<p>read elsewhere</p>")
    assert extracted(tika, data).markdown == "read elsewhere"


def test_what_we_read_stays_here_unless_all_is_to_go_there(tika: TikaServer) -> None:
    tika.says("<p>read elsewhere</p>")
    word = docx(paragraph("read here"))
    assert extracted(tika, word).markdown == "read here"
    assert tika.documents == []
    assert extracted(tika, word, first=True).markdown == "read elsewhere"
    assert extracted(tika, b"# note", "a.md", first=True).markdown == "# note"


def test_an_image_that_nothing_here_reads_goes_there(tika: TikaServer) -> None:
    tika.says("<p>read elsewhere</p>")
    assert extracted(tika, png(60, 40)).markdown == "read elsewhere"


def test_an_image_that_nothing_reads_stays_unread(tika: TikaServer) -> None:
    tika.says("")
    assert extracted(tika, png(60, 40)) == Extraction(markdown="", unread_pages=1)
    tika.status = 415
    assert extracted(tika, png(60, 40)) == Extraction(markdown="", unread_pages=1)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (415, "", "unsupported_format"),
        (422, "", "document_broken"),
        (422, "org.apache.tika.exception.EncryptedDocumentException: …", "document_encrypted"),
        (500, "", "document_broken"),
        (503, "", "unavailable"),
        (302, "", "unavailable"),
    ],
)
def test_a_refusal_is_told_in_our_words(
    tika: TikaServer, status: int, body: str, code: str
) -> None:
    tika.status, tika.body = status, body
    assert refusal(tika).code == code


def test_no_content_is_no_text(tika: TikaServer) -> None:
    tika.status = 204
    assert extracted(tika, OLD_WORD) == Extraction(markdown="")


def test_a_server_that_is_down_is_not_the_documents_fault(tika: TikaServer) -> None:
    tika.hangs_up = True
    assert isinstance(refusal(tika), UnavailableError)


def test_one_that_takes_too_long_is_given_up(
    tika: TikaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tika_extractor, "MAX_EXTRACTION_SECONDS", 0.1)
    tika.never_answers = True
    assert refusal(tika).code == "document_too_slow"


def test_an_answer_without_end_is_cut(tika: TikaServer) -> None:
    tika.says("<p>" + "long " * 1_000 + "</p>")
    client = guarded_client(OutboundRules.from_setting("127.0.0.1"), Caps(max_bytes=1_000))
    with client, pytest.raises(ArchivoltError) as raised:
        TikaExtractor(client, tika.url).extract(OLD_WORD, name="a.doc")
    assert raised.value.code == "document_too_much_text"


def test_no_other_private_address_is_reached(tika: TikaServer) -> None:
    client = guarded_client(OutboundRules())
    with client, pytest.raises((InvalidRequestError, httpx2.HTTPError)):
        TikaExtractor(client, tika.url).extract(OLD_WORD, name="a.doc")
    assert tika.documents == []
