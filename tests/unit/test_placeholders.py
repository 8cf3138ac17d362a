"""Secrets are put back where they were, or the edit is refused: never lost, never swapped."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.placeholders import restored
from archivolt.domain.redaction import redact

ONE, TWO, THREE = (f"hunter{number}!xyz" for number in "234")
SHOWN = "[redacted:secret]"


def edit(current: str, *changes: tuple[str, str]) -> str:
    """What a reader sees, with some of it replaced, and its secrets put back."""
    text = redact(current).text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return restored(text, current)


def refused(edited: str, current: str) -> bool:
    with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
        restored(edited, current)
    return True


def test_an_edit_elsewhere_keeps_every_secret() -> None:
    current = f"# Notes\n\npassword: {ONE}\n\ntoken: x\npassword: {TWO}\n"

    assert edit(current, ("# Notes", "# Keys")) == current.replace("# Notes", "# Keys")


def test_a_line_that_is_changed_keeps_its_secret() -> None:
    current = f"db_password={ONE}\nftp_password={TWO}\n"

    changed = edit(current, ("db_password=", "export db_password = "))

    assert changed == f"export db_password = {ONE}\nftp_password={TWO}\n"


def test_all_lines_may_be_written_another_way() -> None:
    current = f"db_password={ONE}\nftp_password={TWO}\n"

    assert edit(current, ("db", "export db"), ("ftp", "export ftp")) == (
        f"export db_password={ONE}\nexport ftp_password={TWO}\n"
    )


def test_lines_that_change_places_take_their_secrets_along() -> None:
    current = f"db_password: {ONE}\nftp_password: {TWO}\nssh_password: {THREE}\n"
    lines = redact(current).text.splitlines(keepends=True)

    assert restored("".join(reversed(lines)), current) == (
        f"ssh_password: {THREE}\nftp_password: {TWO}\ndb_password: {ONE}\n"
    )


def test_a_renamed_key_keeps_the_only_secret_left() -> None:
    current = f"password: {ONE}\nother: text\nftp_password: {TWO}\n"

    changed = edit(current, (f"password: {SHOWN}\no", f"root_password: {SHOWN}\no"))

    assert f"root_password: {ONE}\n" in changed


def test_a_copied_line_has_the_same_secret() -> None:
    current = f"password: {ONE}\n"

    assert restored(f"password: {SHOWN}\npassword: {SHOWN}\n", current) == current * 2


def test_a_section_that_goes_takes_its_own_secret_only() -> None:
    current = f"# A\npassword: {ONE}\n# B\npassword: {TWO}\n"

    assert edit(current, (f"# A\npassword: {SHOWN}\n", "")) == f"# B\npassword: {TWO}\n"
    assert edit(current, (f"# A\npassword: {SHOWN}\n", "# A\n")) == f"# A\n# B\npassword: {TWO}\n"


def test_sections_that_swap_keep_their_own_secrets() -> None:
    current = f"# A\npassword: {ONE}\n# B\npassword: {TWO}\n"
    edited = f"# B\npassword: {SHOWN}\n# A\npassword: {SHOWN}\n"

    assert restored(edited, current) == f"# B\npassword: {TWO}\n# A\npassword: {ONE}\n"


def test_what_may_stand_for_several_secrets_is_refused() -> None:
    current = f"password: {ONE}\npassword: {TWO}\n"

    assert refused(f"password: {SHOWN}\n", current)
    assert refused(f"password: {SHOWN}\n" * 3, current)
    assert refused(f"first password: {SHOWN}\nlast password: {SHOWN}\n", current)


def test_what_stands_for_no_secret_is_refused() -> None:
    assert refused(f"password: {SHOWN}", "nothing here")
    assert refused("token: [redacted:jwt]", f"password: {ONE}\n")
    assert refused(f"password: {SHOWN}\nroot_password: {SHOWN}\n", f"password: {ONE}\n")


def test_a_secret_is_not_moved_to_where_it_would_show() -> None:
    assert refused(f"The word is {SHOWN}\n", f"password: {ONE}\n")


def test_a_placeholder_that_was_written_stays_as_it_was() -> None:
    current = f"A reader sees {SHOWN} there.\npassword: {ONE}\n"

    assert edit(current, ("there", "here")) == current.replace("there", "here")


def test_a_key_of_many_lines_comes_back_whole() -> None:
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "QUJD" * 16 + "\n-----END " + "PRIVATE KEY-----"
    current = f"one\n{key}\ntwo\n"

    assert edit(current, ("one", "1"), ("two", "2")) == f"1\n{key}\n2\n"


SECRET_LINES = [
    f"password: {ONE}",
    f"password: {TWO}",
    f"api_key = {'a1b2c3d4' * 4}",
    "glpat-" + "x1" * 10,
]
LINES = st.lists(st.sampled_from([*SECRET_LINES, "", "# A", "# B", "prose", "  more"]), max_size=12)


@given(LINES, st.data())
def test_what_an_edit_keeps_is_kept_or_the_edit_is_refused(
    lines: list[str], data: st.DataObject
) -> None:
    current = "\n".join(lines)
    shown = redact(current).text.split("\n")
    kept = data.draw(st.lists(st.integers(0, len(shown) - 1), max_size=12))
    edited = "\n".join(shown[number] for number in kept)

    try:
        result = restored(edited, current)
    except InvalidRequestError:
        return
    assert redact(result).text == edited
    assert set(result.split("\n")) <= {*lines, ""}


@given(LINES)
def test_an_edit_that_changes_nothing_changes_nothing(lines: list[str]) -> None:
    current = "\n".join(lines)

    assert restored(redact(current).text, current) == current


def secret_of(name: str) -> str:
    return f"hunter-{name}!1"


KEYED = "".join(f"{name}_password: {secret_of(name)}\n" for name in "abcdef")
SECTIONS = [f"# {name}\nuser: me\npassword: {secret_of(name)}\n" for name in "abcdef"]


@given(st.data())
def test_a_line_never_gets_the_secret_of_another_key(data: st.DataObject) -> None:
    lines = redact(KEYED).text.splitlines()
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=9))
    shapes = st.sampled_from(["{}", "  {}", "- {}", "export {}", "{} # note", "\n{}"])
    edited = "\n".join(data.draw(shapes).format(line) for line in chosen)

    try:
        result = restored(edited, KEYED)
    except InvalidRequestError:
        return
    for name, secret in re.findall(r"(\w)_password: (\S+)", result):
        assert secret == secret_of(name)


@given(st.data())
def test_a_section_never_gets_the_secret_of_another(data: st.DataObject) -> None:
    shown = [redact(section).text for section in SECTIONS]
    chosen = data.draw(st.lists(st.sampled_from(shown), max_size=7, unique=True))
    changes = st.sampled_from(
        [
            ("x", "x"),
            ("user: me\n", ""),
            ("user: me", "user: you"),
            ("user", "\nuser"),
            ("\n", "\n  "),
        ]
    )
    edited = "".join(section.replace(*data.draw(changes)) for section in chosen)

    try:
        result = restored(edited, "".join(SECTIONS))
    except InvalidRequestError:
        return
    for name, secret in re.findall(r"# (\w)[^#]*?password: (\S+)", result):
        assert secret == secret_of(name)


def test_a_line_of_placeholders_takes_no_time_to_be_refused() -> None:
    started = time.process_time()

    with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
        restored("[redacted:jwt] " * 20_000, "same\n" * 1_000)
    assert time.process_time() - started < 10
