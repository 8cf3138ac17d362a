import pytest

from archivolt.vaults.decoding import decode

FRENCH = "L\u2019été à Besançon, où l\u2019on rêve d\u2019\u0153uvres. "


def test_a_damaged_byte_does_not_spoil_the_rest_of_a_text() -> None:
    whole = (FRENCH * 5).encode()
    decoded = decode(whole[:20] + b"\xff" + whole[20:])
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert decoded.text.replace("\ufffd", "") == FRENCH * 5


@pytest.mark.parametrize("text", [FRENCH, "é", "caf\xe9 \xab oui \xbb"])
def test_cp1252_is_not_taken_for_damaged_utf8(text: str) -> None:
    decoded = decode(text.encode("cp1252"))
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize("encoding", ["cp1251", "shift_jis", "euc_kr", "gb18030"])
def test_other_encodings_are_not_taken_for_damaged_utf8(encoding: str) -> None:
    text = {
        "cp1251": "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
        "shift_jis": "これは日本語の文章です。漢字とかなを使います。",
        "euc_kr": "이것은 한국어로 쓴 글입니다. 글자가 많아야 합니다. ",
        "gb18030": "这是一段中文文字用来测试编码的识别。",
    }[encoding] * 10
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_needs_no_byte_order_mark(encoding: str) -> None:
    decoded = decode(FRENCH.encode(encoding))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (FRENCH, encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"a log that\0was cut off\n" * 9,
        b"\0" * 64,
        bytes(value for pair in zip(range(256), [0] * 256, strict=True) for value in pair),
        "x".encode("utf-16-le") * 9 + b"\0",
        "x".encode("utf-32-le") * 9,
    ],
)
def test_zeros_elsewhere_are_those_of_no_text(data: bytes) -> None:
    assert decode(data) is None
