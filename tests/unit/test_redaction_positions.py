"""The places of secrets: putting what is shown in their place gives the redacted text."""

from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.redaction import redact
from archivolt.domain.secret_positions import hidden_in

PIECES = [
    "glpat-" + "a1b2c3d4e5" * 2,
    "password: ",
    "token=",
    "api_key = ",
    '"',
    "hunter2!xyz",
    "abc123DEF456ghi789",
    "https://ann:",
    "@host/",
    "Authorization: Bearer ",
    "[redacted:secret]",
    "\n",
    " ",
    "é",
    "prose",
    "-----BEGIN " + "PRIVATE KEY-----\n" + "QUJD" * 9 + "\n-----END " + "PRIVATE KEY-----",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_what_is_shown_in_the_place_of_secrets_is_the_redacted_text(pieces: list[str]) -> None:
    text = "".join(pieces)

    shown, place = "", 0
    for secret in hidden_in(text):
        assert place <= secret.start < secret.end
        shown += text[place : secret.start] + secret.shown
        place = secret.end

    assert shown + text[place:] == redact(text).text


def test_a_secret_is_where_it_stands() -> None:
    text = "été\npassword: " + "hunter2!xyz" + "\n"

    assert [text[s.start : s.end] for s in hidden_in(text)] == ["hunter2!xyz"]
