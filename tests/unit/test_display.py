"""What a person decides by shows every character that is there."""

import pytest

from archivolt.domain.display import on_one_line, plainly


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+Water them.\n\tTwice.\n",
        "Créer l'été — «ça» 日本語 العربية",
        "\U0001f469\u200d\U0001f33e in the garden",
        "नमस्ते \u200c\u200d",
    ],
)
def test_what_is_seen_stays_as_it_is(text: str) -> None:
    assert plainly(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("+safe\x1b[2K\x1b[1A", "+safe␛[2K␛[1A"),
        ("a\x08\x08b", "a␈␈b"),
        ("a\x00\x7f\x9b", "a␀��"),
        ("\u202etxt.exe\u202c", "�txt.exe�"),
        ("\u2066x\u2069\u200f", "�x��"),
        ("zero\u200bwidth\ufeff", "zero�width�"),
        ("\U000e0041\U000e007f", "��"),
        ("\ud800half\udfff", "�half�"),
        ("over\rwritten", "over\nwritten"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
    ],
)
def test_what_would_hide_or_forge_is_shown_as_a_mark(text: str, shown: str) -> None:
    assert plainly(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("  my \n\n laptop\t", "my laptop"), (" \n\u2028", ""), ("a\x1b[31m", "a␛[31m")],
)
def test_a_name_is_one_line(text: str, shown: str) -> None:
    assert on_one_line(text) == shown
