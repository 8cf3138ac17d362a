"""Diffs that people read: unified, bounded, and without secrets."""

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.vaults.diffs import Diff, redacted_diff

SECRET = "hunter2!" + "xyz"
LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)
TEXTS = LINES.map(lambda lines: "\n".join([*lines, ""]))


def diff(old: str, new: str) -> Diff:
    return redacted_diff(old, new, old_name="a", new_name="b")


def test_a_diff_shows_the_change_with_three_lines_around() -> None:
    old = "".join(f"{n}\n" for n in range(1, 11))

    assert diff(old, old.replace("5", "five")).text == (
        "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


@given(TEXTS, TEXTS)
def test_a_diff_says_what_every_tool_reads(old: str, new: str) -> None:
    headers = [line for line in diff(old, new).text.splitlines() if line.startswith("@@")]
    shown = diff(old, new).text.splitlines()[2:]
    patched = _patched(old.splitlines(), shown)

    assert patched == new.splitlines()
    assert len(headers) <= len(shown)
    assert (not shown) == (old == new)


def _patched(old: list[str], diff_lines: list[str]) -> list[str]:
    """What `patch` makes of it: an independent reader of the format."""
    result, place = list[str](), 0
    for line in diff_lines:
        if line.startswith("@@"):
            start, _, size = line.split()[1][1:].partition(",")
            begin = int(start) if size == "0" else int(start) - 1
            result += old[place:begin]
            place = begin
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert old[place] == line[1:]
            result += [line[1:]] if line[0] == " " else []
            place += 1
    return result + old[place:]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_diff_of_long_texts_is_that_of_the_whole(data: st.DataObject) -> None:
    lines = [f"{'x' * 40} {n}" for n in range(6_000)]
    old = "\n".join(lines)
    # The last line stays: another that became it would lose its end, and differ by that.
    place, size = data.draw(st.integers(0, 5_949)), data.draw(st.integers(0, 50))
    ending = data.draw(st.sampled_from(["", "\n"]))
    new = "\n".join([*lines[:place], *["y"] * data.draw(st.integers(0, 3)), *lines[place + size :]])
    expected = difflib.unified_diff(
        old.splitlines(), f"{new}{ending}".splitlines(), "a", "b", lineterm=""
    )

    shown = redacted_diff(f"{old}{ending}", f"{new}{ending}", old_name="a", new_name="b").text

    without_ends = [line for line in shown.splitlines() if not line.startswith("\\ No newline")]
    assert without_ends == list(expected)


def test_a_secret_before_the_change_is_hidden_in_a_long_text() -> None:
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "QUJD" * 4_000 + "\n-----END " + "PRIVATE KEY-----"
    old = "x\n" * 50_000 + f"{key}\nlast\n"

    shown = diff(old, old.replace("last", "end")).text

    assert "-last\n+end\n" in shown
    assert "QUJD" not in shown


def test_a_small_diff_is_that_of_the_standard_library() -> None:
    old, new = "a\nb\nc\n", "a\nc\nd\n"
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "a", "b", lineterm="")

    assert diff(old, new).text.splitlines() == list(lines)


def test_no_secret_shows_in_a_diff_nor_a_change_of_one() -> None:
    old, new = f"a\npassword: {SECRET}\n", f"b\npassword: {SECRET}9\n"

    assert SECRET not in diff(old, new).text
    assert diff(old, new).text.count("[redacted:") == 1
    assert diff(old, old.replace("2", "3")).text == ""


def test_a_last_line_without_end_says_so() -> None:
    assert diff("a", "a\n").text.splitlines()[2:] == [
        "@@ -1 +1 @@",
        "-a",
        "\\ No newline at end of file",
        "+a",
    ]


def test_a_long_diff_is_cut_and_counts_what_it_left_out() -> None:
    long = diff("", "".join(f"{n}\n" for n in range(1_000)))

    assert (long.shown, long.total, long.is_cut) == (200, 1_001, True)
    assert len(long.text.splitlines()) == 202
    assert len(diff("", "x" * 10_000).text) < 700


def test_line_ends_are_no_difference() -> None:
    assert diff("a\r\nb\r\n", "a\nb\n").text == ""
