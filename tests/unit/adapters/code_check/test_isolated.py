"""Code is checked in a child that limits itself, whatever the text is."""

from pathlib import Path

import pytest

from archivolt.adapters.code_check.isolated import IsolatedCodeChecker
from archivolt.adapters.code_check.templates import is_template
from archivolt.domain.code_check import CodeCheck, CodeError, CodeLanguage
from archivolt.domain.limits import MAX_CHECKED_CODE_BYTES, MAX_CODE_ERRORS

# The child is held by the time that it computes; how long it waits for a busy machine is no matter.
CHECKER = IsolatedCodeChecker(seconds=300)
TOO_COMPLEX = CodeCheck(unchecked="code_too_complex")

BROKEN = {
    CodeLanguage.CSS: "a { color red }",
    CodeLanguage.HTML: "<div><b>x</i></div>",
    CodeLanguage.JAVASCRIPT: "let x = ;",
    CodeLanguage.JSON: "{'a': 1}",
    CodeLanguage.PYTHON: "def f(:",
    CodeLanguage.TOML: "a = ",
    CodeLanguage.TSX: "const a = <b>;",
    CodeLanguage.TYPESCRIPT: "let x: = 1;",
    CodeLanguage.YAML: "a: ]",
}


@pytest.mark.parametrize("language", CodeLanguage)
def test_each_language_is_checked_in_the_child(language: CodeLanguage) -> None:
    check = CHECKER.check(language, BROKEN[language])

    assert check.total >= 1
    assert check.errors[0].line == 1


def test_the_first_errors_are_told_and_all_are_counted() -> None:
    check = CHECKER.check(CodeLanguage.CSS, "}\n" * 50_000)

    assert (len(check.errors), check.total) == (MAX_CODE_ERRORS, 50_000)
    assert check.errors[1] == CodeError(line=2, column=1, message="unexpected }")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (CodeLanguage.YAML, "a:\n  {%- if b %}\n  c: d\n  {%- endif %}\n"),
        (CodeLanguage.YAML, "a:\n  {{- include 'b' . | nindent 2 }}\n"),
        (CodeLanguage.HTML, "{% if a %}<div>{% else %}<div class=b>{% endif %}</div>"),
        (CodeLanguage.HTML, "<p><?php if (a < b) { ?></p>"),
        (CodeLanguage.PYTHON, "import {{ a }}\n{% if b %}\nimport c\n{% endif %}\n"),
    ],
)
def test_a_template_is_not_called_broken(language: CodeLanguage, text: str) -> None:
    assert CHECKER.check(language, text) == CodeCheck(unchecked="code_template")


def test_the_errors_of_what_is_no_template_are_told() -> None:
    assert CHECKER.check(CodeLanguage.PYTHON, "def f(:\n  pass # <%").total == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (CodeLanguage.CSS, "a { b: '{% if c %}' /* {{- d }} */; e f }"),
        (CodeLanguage.CSS, "a { b <% }"),
        (CodeLanguage.HTML, "<b><!-- {% if a %} --></i>"),
        (CodeLanguage.JAVASCRIPT, "const a = '<%', b = '%>', c = `{% if d %}`;\nlet e = ; // <%"),
        (CodeLanguage.JSON, '{"a": "{{-x}}" "b":1}'),
        (CodeLanguage.PYTHON, "a = '''\n{% if b %}\n'''\nc = '{% if d %}'\ndef f(:\n  pass # {% e"),
        (CodeLanguage.PYTHON, "a = '<?php'\nb <% c"),
        (CodeLanguage.TOML, "a = '{{- b }}' # {% c %}\nd = "),
        (CodeLanguage.TSX, "const a = <B c={{/* d */ e: 1}} />;\nlet f = ;"),
        (CodeLanguage.YAML, "a: '{% if b %}'\nc: ] # {{- d }}"),
    ],
)
def test_what_looks_like_a_template_in_a_comment_or_a_string_hides_no_error(
    language: CodeLanguage, text: str
) -> None:
    assert is_template(language, text) is False


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (CodeLanguage.HTML, '<a title="{% url "b" %}">'),
        (CodeLanguage.JAVASCRIPT, "const a = '{% trans 'b' %}';"),
        (CodeLanguage.JSON, '{{{#if a}} "b": 1{{/if}}}'),
        (CodeLanguage.PYTHON, 'a = "{% trans "b" %}"'),
        (CodeLanguage.YAML, "a: don't\nb:\n  {{- include 'c' . }}\nd: isn't\n"),
        (CodeLanguage.YAML, "a: <%= ENV['b'] %>"),
    ],
)
def test_a_mark_among_quotes_that_are_no_string_tells_a_template(
    language: CodeLanguage, text: str
) -> None:
    assert is_template(language, text) is True


def test_a_template_in_which_nothing_is_wrong_is_good() -> None:
    assert CHECKER.check(CodeLanguage.HTML, "{% if a %}<p>{{ b }}</p>{% endif %}") == CodeCheck()


def test_the_ends_of_lines_of_windows_change_nothing() -> None:
    text = "\ufeffinterface A {\r\n  <B>(a: B): A\r\n  <C>(a: C): A\r\n}\r\n"

    assert CHECKER.check(CodeLanguage.TYPESCRIPT, text) == CodeCheck()
    assert CHECKER.check(CodeLanguage.TYPESCRIPT, f"{text}let b: = 1;").errors[0].line == 5


def test_a_text_that_is_too_large_is_not_looked_at() -> None:
    check = CHECKER.check(CodeLanguage.JSON, " " * (MAX_CHECKED_CODE_BYTES + 1))

    assert check == CodeCheck(unchecked="code_too_large")


@pytest.mark.parametrize("language", [CodeLanguage.JSON, CodeLanguage.TOML])
def test_what_is_nested_too_deeply_is_told_to_be_unchecked(language: CodeLanguage) -> None:
    start = "a = " if language is CodeLanguage.TOML else ""

    assert CHECKER.check(language, start + "[" * 400_000) == TOO_COMPLEX


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (CodeLanguage.PYTHON, "(" * 400_000),
        (CodeLanguage.PYTHON, "x = " + "-" * 400_000 + "1"),
        (CodeLanguage.PYTHON, "x = 9 ** 9 ** 9 ** 9\ny = 'a' * 10 ** 12"),
        (CodeLanguage.JAVASCRIPT, "[" * 100_000),
        (CodeLanguage.TSX, "<a>" * 20_000),
        (CodeLanguage.TYPESCRIPT, "a<" * 4_000 + "`"),
        (CodeLanguage.TYPESCRIPT, "a\n" + " " * 40_000 + "/*" * 500),
        (
            CodeLanguage.JAVASCRIPT,
            "function a(" + "[" * 5_000 + "b" + "]" * 5_000 + ") { let b; }",
        ),
        (CodeLanguage.HTML, "<b>" * 3_000),
        (CodeLanguage.HTML, "<" * 20_000),
        (CodeLanguage.CSS, "a{" * 100_000),
        (CodeLanguage.CSS, "/*" + "*" * 400_000),
        (CodeLanguage.YAML, "[" * 100_000),
        (
            CodeLanguage.YAML,
            "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(2000)),
        ),
    ],
)
def test_a_hostile_text_costs_no_more_than_a_child(language: CodeLanguage, text: str) -> None:
    check = CHECKER.check(language, text)

    assert check.unchecked in {"", "code_too_complex"}
    assert len(check.errors) <= MAX_CODE_ERRORS


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (CodeLanguage.JAVASCRIPT, "// a word\n"),
        (CodeLanguage.TYPESCRIPT, "// a word\n"),
        (CodeLanguage.TYPESCRIPT, "    // a word,\n"),
    ],
)
def test_a_long_comment_does_not_take_all_that_a_child_has(
    language: CodeLanguage, line: str
) -> None:
    check = CHECKER.check(language, line * 6_000 + "let a = ;\n")

    assert [error.line for error in check.errors] == [6_001]


def test_nothing_of_a_text_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    evil = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
    tagged = f"!!python/object/apply:os.mknod [{str(mark)!r}]\n"

    assert CHECKER.check(CodeLanguage.PYTHON, evil) == CodeCheck()
    assert CHECKER.check(CodeLanguage.YAML, tagged) == CodeCheck()
    assert not mark.exists()


def test_the_child_has_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # A child that took the environment over would not find its modules.
    monkeypatch.setenv("PYTHONHOME", "/nowhere")

    assert CHECKER.check(CodeLanguage.PYTHON, "x = 1") == CodeCheck()
