"""An edit keeps the encoding, the byte order mark and the line ends of its file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.errors import InvalidRequestError
from archivolt.vaults.text_form import TextForm, utf8

FRENCH = "L'été où Noël était à Sète, la forêt brûlait près de l'âtre.\n"


def form(data: bytes) -> TextForm:
    found = TextForm.of(data)
    assert found is not None
    return found


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_the_same_text_is_the_same_bytes(data: bytes) -> None:
    found = TextForm.of(data)

    if found is not None:
        assert found.written(found.text) == data


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"]
)
def test_an_edit_keeps_the_encoding(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    old = FRENCH * 20
    new = old.replace("Sète", "Gréoux") + "fin\n"

    assert form(mark + old.encode(encoding)).written(new) == mark + new.encode(encoding)


def test_a_byte_order_mark_that_a_caller_repeats_is_not_doubled() -> None:
    assert form("été".encode("utf-8-sig")).written("\ufeffhiver") == "hiver".encode("utf-8-sig")


def test_a_character_that_the_encoding_lacks_turns_the_file_into_utf8() -> None:
    old = FRENCH * 20

    assert form(old.encode("cp1252")).written(old + "🌞") == (old + "🌞").encode()


def test_plain_line_feeds_take_the_line_ends_of_the_file() -> None:
    windows = form(b"one\r\ntwo\r\nthree")

    assert windows.written("one\ntwo\nthree") == b"one\r\ntwo\r\nthree"
    assert windows.written("one\n2\n3\nthree\n") == b"one\r\n2\r\n3\r\nthree\r\n"
    assert windows.written("one\r\n2\n") == b"one\r\n2\n"
    assert form(b"one\ntwo\n").written("one\r\n2\n") == b"one\r\n2\n"


def test_line_ends_that_are_meant_are_written() -> None:
    assert form(b"one\r\ntwo\r\n").written("one\ntwo\n", line_ends_as_given=True) == b"one\ntwo\n"


def test_mixed_line_ends_stay_on_their_lines() -> None:
    mixed = form(b"a\r\nb\nc\r\nd\r\n")

    assert mixed.written("a\nb\nX\nd\n") == b"a\r\nb\nX\r\nd\r\n"


def test_a_damaged_byte_on_another_line_survives() -> None:
    old = (FRENCH * 3).encode() + b"cass\xe9\n" + FRENCH.encode()

    written = form(old).written(form(old).text.replace("Noël", "Pâques", 1))

    assert written == old.replace("Noël".encode(), "Pâques".encode(), 1)


def test_what_is_not_unicode_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="invalid_request"):
        form(b"a").written("\ud800")
    with pytest.raises(InvalidRequestError, match="invalid_request"):
        utf8("\ud800")
