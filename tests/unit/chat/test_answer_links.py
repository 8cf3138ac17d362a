"""Which links of an answer lead elsewhere once a document moved."""

import pytest

from archivolt.chat.answer_links import led_elsewhere
from archivolt.domain.paths import VaultPath

LINK = "[x](vault://notes/a.md)"
LED = "[x](vault://notes/b.md)"


@pytest.mark.parametrize(
    "code", [f"`{LINK}`", f"``a ` {LINK}``", f"`a\n{LINK}`", "[x\\](vault://notes/a.md)"]
)
def test_what_is_code_or_escaped_stays_and_what_is_beside_it_is_led(code: str) -> None:
    text = f"{LINK} {code} {LINK} `` ` {LINK}"

    led = led_elsewhere(text, lambda _vault, _path: VaultPath("b.md"))

    assert led == f"{LED} {code} {LED} `` ` {LED}"
