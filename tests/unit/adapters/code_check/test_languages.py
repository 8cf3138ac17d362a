"""What each parser finds, and where; in this process, the child's limits are tested beside it."""

# ruff: noqa: E501  a sample stays on one line

import sys
from collections.abc import Callable, Iterator

import pytest

from archivolt.adapters.code_check.css import css_errors
from archivolt.adapters.code_check.data import json_errors, toml_errors, yaml_errors
from archivolt.adapters.code_check.html_pages import html_errors
from archivolt.adapters.code_check.python import python_errors
from archivolt.adapters.code_check.syntax_trees import (
    javascript_errors,
    tsx_errors,
    typescript_errors,
)
from archivolt.domain.code_check import CodeError

Check = Callable[[str], Iterator[CodeError]]

GOOD: list[tuple[Check, str]] = [
    (python_errors, ""),
    (python_errors, "async def f(x: int) -> str:\n    return f'{x!r:>{10}}'\n"),
    (python_errors, "match x:\n    case {'a': [1, *rest]}:\n        pass\n"),
    (python_errors, "type A[B: (int, str)] = list[B]\nclass C[D, *E]:\n    def f[**F](self, x: dict[str, D]) -> D: ...\ny = t'{x}' + rt\"{y}\"\n"),
    (javascript_errors, "#!/usr/bin/env node\nimport a from 'a';\nexport const f = async () => a?.b ?? 1n;"),
    (javascript_errors, "class A { #x = 1; static { this.y = /[/]\\/(?<n>a)/u; } }\nfor await (const x of y) z`${x}`;"),
    (javascript_errors, "const page = <><Menu.Item key={1} {...rest}>a &amp; b</Menu.Item><br/></>;"),
    (javascript_errors, "async function f() { for (const a of b) { if (a) continue; await a; const g = async () => await b; } }\nawait a;"),
    (javascript_errors, "try { a() } catch {}\ntry { b() } finally {}\nswitch (a) { case 1: break; }\nx: { break x; }\nlet d;\nvar e, [f] = g;"),
    (javascript_errors, "foo(a, ...b,);\nlet [, c, , d] = [, 1, , 2];\nlet e = { a, ...b, };\nfor (const { f } of g) for (const h in f) while (h) break;"),
    (javascript_errors, "foo(/* a, */ b, /* c */);\nif (a) return;\nclass A { async f() { await g(); } static async *h() { await g(); } }"),
    (typescript_errors, "declare const a: number;\ntype A = import('a').B<T> | (import('x').A | B)[];\nconst b = await import('b');\nb.c(import(\"d\"), 1);"),
    (typescript_errors, "interface A<in out T, out U extends V = W, in X> { y: T }\nfor (const a in b, c) d(a in b, in_out);"),
    (typescript_errors, "export type A<T> = { readonly [K in keyof T]?: T[K] } & Record<string, unknown>;"),
    (typescript_errors, "enum E { A = 1 }\nabstract class B<T extends E> { constructor(private x?: T) {} }\nlet y = <number>z!;"),
    (typescript_errors, "@sealed class A { @get() accessor x = 1 satisfies number; }\nfunction f(this: A): asserts this {}"),
    (tsx_errors, "const A = <T,>({ x }: { x: T }) => <Box<T> value={x as T}>{x}</Box>;"),
    (javascript_errors, "const _a = 1;\nexport { _a as null, b as catch };\nexport { in as c, default as d } from 'x';\nclass E {\n  static #f\n\n  g() { return this.#f }\n}"),
    (javascript_errors, "var a; var a; function b(c, d) { var c; { let d; } }\nfunction b() {}\nswitch (e) { case 1: { let f; } default: let f; }\nlet g, { h: i, j = i, ...k } = h, h;"),
    (javascript_errors, "const f = () => {}\n[1].map(f);\n({ a } = b);\n(() => {})();\nfor (const a of b) { } for (const a of b) { }\ntry {} catch (e) { { let e } }"),
    (javascript_errors, "{\n  let a\n  [a, b] = c();\n  const d = () => {\n  }\n\n  [...e, ...f].map(d);\n}"),
    (javascript_errors, "const a = <B {...c} d={e} {/* f */...g} {/* h */}>{i}</B>;"),
    (typescript_errors, "export type * from './a';\nexport type * as b from './b';\nimport { type C, type, type as D } from 'e';\nexport { type Type, type };"),
    (typescript_errors, "interface A<\n  // why\n  out T,\n  in out U = T> {\n  <V>(a: V): T\n  <W>(b: W): U\n\n  /** c */\n  (d: T): U;\n  in: T; abstract?: U; using(using: T): void }"),
    (typescript_errors, "declare module 'a' {\n  global {\n    var b: string;\n  }\n}\nexport default function (): { c: number };"),
    (typescript_errors, "const a = sql<{ b: number; c: D<E> }>`x${y}`;\ntype F = `\\\\${G} \\`h\\` $\\{i}`;\ntype J = [symbol: K, number?: L];\ntype M = { [N in keyof readonly any[]]?: O };"),
    (typescript_errors, "import type { A } from 'a';\nconst A: A = b as A;\nfunction c(): void;\nfunction c(d?: A): void {}\ninterface E { }\nclass E { }\ndeclare const f, g: A;\ndeclare namespace h { const i: A; }"),
    (typescript_errors, "using a = b();\nexport =       function c(d: D): E;\nfunction f<const T>(g: T) { return g satisfies T as const; }\nimport h from 'h' with { type: 'json' };"),
    (css_errors, "@media (width >= 40rem) { .a > b:not(.c, #d)::before { color: rgb(1 2 3 / 50%); --x: {a:b}; } }"),
    (css_errors, "@import url('a.css');\n.a { &:hover { inset: calc(1px + var(--x, 2em)) !important } }"),
    (css_errors, "@charset 'x'; @container c (width > 3px) and style(--a: b) { /* ; } */ a { background: url(data:x;y{) } }"),
    (css_errors, "@layer a, b; @font-face { unicode-range: U+26 } @scope (.a) to (.b) { > i { c: d; ; } } a\\{ { content: '\\'}' }"),
    (css_errors, "a { b: c(1, d(e(f)),\n  g: h) /* x\n i: */\n 'j\\\n k: '; --l: m\n  n: o; filter: progid:P.Q(r=1)\n}"),
    (css_errors, "a { filter:\n  progid:P.Q(r=1)\n  progid:P.S(t='u'); }"),
    (css_errors, "a { b: c;\n  d:hover { e: f }\n  &::before { g: h\n } grid-area:\n i / j }"),
    (html_errors, "<!doctype html><html lang=fr><head><meta charset=utf-8><title>é</title></head><body><p>a<p>b<br><img src=x></body></html>"),
    (html_errors, "<ul><li>a<li>b</ul><!-- c --><input disabled><svg><path d='M0 0'/></svg>"),
    (html_errors, "<script type=module>let a = 1 < 2;</script><style>a { color: red }</style>"),
    (html_errors, "<script type='text/x-template'>{{ not script </script><script>\n</script>"),
    (html_errors, "<script type='application/json'>{\"a\": 1}</script>"),
    (html_errors, "<title>Fish & Chips < Chips & <b></title><p>a && b > &amp; & <textarea rows=1><div></textarea>"),
    (html_errors, "<svg><title>a</title></svg><!-- <title> & --><script>let a = '<title>' && 2 > 1</script><p title='<title> & >'>é > à</p>"),
    (html_errors, "<?xml version='1.0'?>\n<!DOCTYPE html>\n<html><?php-like & so?><p>a</p></html><frameset><frame src=a></frameset>"),
    (html_errors, "<a href=\"{{ url(\"a\") }}\">{{ b > c }}</a><script>let d = {{ e|tojson }};\nlet f = { g: {} };</script>"),
    (html_errors, "<p>{{ a < b ? 1 : 2 }}</p><script data-c='d < e' f=\"g > h\">if (a < b) { c() }</script>"),
    (html_errors, "<svg><style><![CDATA[ a { b: c } ]]></style><text><![CDATA[ a < b & <c> ]]></text></svg>"),
    (json_errors, '{"a": [1, 2.5e-3, null, true, "\\u00e9"], "b": {}}'),
    (json_errors, "1" * 10_000),
    (json_errors, '{"//": 1, "//": 2, "a": {"a": {"a": "a\\"}"}}, "b": [{"c": 1}, {"c": 1}], "d": "d", "e": "d"}'),
    (yaml_errors, "- {a: a, b: [a, a]}\n- {a: {a: a}}\n- ? [a]\n  : a\n  ? [b]\n  : a\n---\n1: a\n'1': b\n<<: {}\n<<: {}\n"),
    (yaml_errors, "a: &x {b: 1}\nc: *x\n---\n- !Ref thing\n- |\n  text: : :\n"),
    (yaml_errors, ""),
    (toml_errors, "[a.b]\nc = 2026-01-01T00:00:00Z\nd = [1, 2,]\n[[e]]\nf = '''x'''\n"),
]  # fmt: skip

BROKEN: list[tuple[Check, str, tuple[int, int], str]] = [
    (python_errors, "x = 1\ndef f(:\n    pass\n", (2, 7), "invalid syntax"),
    (python_errors, "if x:\n    y = (1,\n", (2, 9), "never closed"),
    (python_errors, "y = t'{x}'\ndef f[T](:\n    pass\n", (2, 10), ""),
    (python_errors, "return 1\n", (1, 1), "outside function"),
    (python_errors, "def f():\n  a\n b\n", (3, 3), "unindent"),
    (python_errors, "x = 'a\n", (1, 5), "unterminated string"),
    (python_errors, "x = 1\0", (1, 1), "null bytes"),
    (javascript_errors, "let é = 'é'; let x = ;\n", (1, 20), "syntax error"),
    (javascript_errors, "function f() {\n  return 1;\n", (2, 12), "missing }"),
    (javascript_errors, "const a = [1, 2;\nconst c = (4;\n", (1, 16), "missing ]"),
    (javascript_errors, "const a = <div>\n  <b>x</i>\n</div>;", (2, 3), "another name"),
    (javascript_errors, "let a;\ntry { a() }\n", (2, 1), "without its catch"),
    (javascript_errors, "function f() { await x; }", (1, 16), "await outside"),
    (javascript_errors, "async () => [].map((x) => { await x; });", (1, 29), "await outside"),
    (javascript_errors, "const a = 1, { b };", (1, 14), "without its value"),
    (javascript_errors, "const a;", (1, 7), "without its value"),
    (javascript_errors, "foo(a,, b)", (1, 7), "before a comma"),
    (javascript_errors, "let a = { b: 1, /* , */, c: 2 };", (1, 24), "before a comma"),
    (javascript_errors, "let a = 'x\ny';", (2, 1), "syntax error"),
    (javascript_errors, "while (a) { b(() => { continue; }); }", (1, 23), "continue outside"),
    (javascript_errors, "if (a) break;", (1, 8), "break outside"),
    (typescript_errors, "type A = import('é').B<T>;\nlet b: = import('é');", (2, 6), "syntax error"),
    (typescript_errors, "let y: A = { x: 1 ;\n", (1, 18), "missing }"),
    (typescript_errors, "interface A { x: }\n", (1, 16), "syntax error"),
    (tsx_errors, "const a = <div><span></div>;", (1, 1), "syntax error"),
    (javascript_errors, "const a = 1;\nlet b;\nclass a { }", (3, 7), "declared already"),
    (javascript_errors, "import a, { b } from 'a';\nimport { c as b } from 'c';", (2, 15), "declared already"),
    (javascript_errors, "const f = ({ a, b: [c] }) => {\n  const d = 1, c = 2;\n};", (2, 16), "declared already"),
    (javascript_errors, "try { } catch (e) { let e; }", (1, 25), "declared already"),
    (javascript_errors, "switch (a) { case 1: let b; case 2: let b; }", (1, 41), "declared already"),
    (javascript_errors, "var a;\nexport function b() { let c; }\nlet { d: a } = e;", (3, 10), "declared already"),
    (javascript_errors, "useEffect(() => { a(); } [b]);", (1, 11), "something is missing"),
    (javascript_errors, "let a, b;\n{ a, b = 1 } = c;", (2, 14), "syntax error"),
    (javascript_errors, "const a = <B style{c}/>;", (1, 11), "without its ="),
    (typescript_errors, "export type * from './a';\nlet a: = 1;", (2, 6), "syntax error"),
    (typescript_errors, "interface A<\n  // why\n  out T> { }\nclass B {\n  c( { }\n}", (5, 3), ""),
    (javascript_errors, "let a, b;\n{ a = {}, ...b } = c;", (2, 1), "begins with {"),
    (typescript_errors, "import type { A } from 'a';\nimport { type A } from 'b';", (2, 15), "declared already"),
    (typescript_errors, "export const a", (1, 14), "without its value"),
    (css_errors, "a { color: red; b { c: d }\n", (2, 1), "missing }"),
    (css_errors, "a {\n  color red;\n}", (2, 3), "without its :"),
    (css_errors, "a {\n  b: c(d)\n  e-f: g;\n}", (3, 3), "missing ; before"),
    (css_errors, "a { b: calc(1px; }\n", (1, 18), "missing )"),
    (css_errors, "a { b: 'c; }\n", (1, 8), "string is not closed"),
    (css_errors, "a { b: c }\n/* d", (2, 1), "comment is not closed"),
    (css_errors, "a { color: red; }\n}\n", (2, 1), "unexpected }"),
    (html_errors, "<p>\n<b>x</i></b>", (2, 5), "without its start"),
    (html_errors, "<main>\n  <div>\n    <ul><li>a</ul>\n</main>", (2, 3), "not closed"),
    (html_errors, '<div class="x>hi</div>', (1, 1), "syntax error"),
    (html_errors, "<title>é & > <\n</title><p>&</p><b>a</i></b>", (2, 21), "without its start"),
    (html_errors, "<p>a > b &\n<div class='a>b</p>", (2, 1), "syntax error"),
    (html_errors, "<p>é\n a < b</p><b></i></b>", (2, 4), "begins no tag"),
    (html_errors, "<svg><![CDATA[ < ]]>\n</svg><p>{{ a < b }} < c</p>", (2, 22), "begins no tag"),
    (html_errors, "<script>\nlet a = {{ b }} c;</script>", (2, 7), ""),
    (html_errors, "<title>a\n<p>b", (1, 1), "not closed"),
    (html_errors, "<p>a && b\n<script>a &&\n</script>", (2, 9), "syntax error"),
    (html_errors, "<p>a</p>\n<script>let a = ;</script>", (2, 15), "syntax error"),
    (html_errors, "<style>\n a { color: red \n</style>", (3, 1), "missing }"),
    (html_errors, "<script type=importmap>\n{'a'}</script>", (2, 2), "property name"),
    (json_errors, '{\n  "a": 1 "b"\n}', (2, 10), "delimiter"),
    (json_errors, '{"a": NaN}', (1, 7), "NaN is no JSON number"),
    (json_errors, '{"a": {"b": "a"},\n "\\u0061": 2}', (2, 2), "there already"),
    (yaml_errors, "a:\n  b: [c]\n  d: {}\n  b: 1\na: 2\n", (4, 3), "there already"),
    (yaml_errors, "- a: 1\n  ? [b]\n  : 1\n  a: 2\n", (4, 3), "there already"),
    (json_errors, "", (1, 1), "Expecting value"),
    (yaml_errors, "a: 1\n  b: 2\n", (2, 4), "mapping values"),
    (yaml_errors, "a: *nothing\n", (1, 4), "alias of no anchor"),
    (yaml_errors, "a: [1, 2\n", (2, 1), ""),
    (yaml_errors, "a: 1\nb: \x07\n", (2, 4), ""),
    (toml_errors, "a = 1\nb = \n", (2, 5), "Invalid value"),
    (toml_errors, "a = [1,", (1, 8), ""),
    (toml_errors, "a = 1\na = 2\n", (2, 6), "overwrite"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "text"), GOOD)
def test_nothing_is_wrong_with_good_code(check: Check, text: str) -> None:
    assert list(check(text)) == []


@pytest.mark.parametrize(("check", "text", "place", "told"), BROKEN)
def test_an_error_is_told_with_its_place(
    check: Check, text: str, place: tuple[int, int], told: str
) -> None:
    first = next(check(text))

    assert (first.line, first.column) == place
    assert told in first.message


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its compiler does not know these words")
@pytest.mark.parametrize("text", ["def f[0](x): pass\n", "class A[1]: pass\n", "type x[1] = 2\n"])
def test_what_python_knows_of_types_is_not_read_in_older_words(text: str) -> None:
    assert [error.line for error in python_errors(text)] == [1]


def test_a_comparison_declares_no_type() -> None:
    assert [error.line for error in python_errors("type x == 5\n")] == [1]


def test_errors_go_on_after_the_first_where_the_parser_can() -> None:
    found = list(javascript_errors("let a = [1;\nlet b = 2;\nlet c = (3;\n"))

    assert [str(error) for error in found] == ["1:11: missing ]", "3:11: missing )"]


def test_no_error_quotes_the_text() -> None:
    secret = "hunter" + "2" * 20
    for check, text, _, _ in BROKEN:
        for error in check(text.replace("x", secret)):
            assert secret not in error.message
