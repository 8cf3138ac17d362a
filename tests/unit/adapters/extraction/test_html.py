import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.adapters.extraction.html_page import HtmlExtractor
from archivolt.ingestion.splitting import split


def markdown(html: str) -> str:
    return HtmlExtractor().extract(html.encode(), name="a.html").markdown


def test_a_page_becomes_headings_paragraphs_and_lists() -> None:
    page = """<!DOCTYPE html><html><head><title>Été &amp; co</title><style>x{}</style></head><body>
    <h1>Big <em>title</em></h1><p>Hello <b>you</b>,<br>how   are you?</p>
    <h2>List</h2><ul><li>one<ul><li>nested</li></ul></li><li>two</ul><ol><li>a<li>b</ol>
    <blockquote><p>said</p></blockquote><hr><script>var x = "</p>";</script></body></html>"""
    assert markdown(page) == (
        "# Big title\n\nHello you,\nhow are you?\n\n## List\n\n- one\n  - nested\n- two\n1. a\n2. b"
        "\n\n> said"
    )
    assert HtmlExtractor().extract(page.encode(), name="").title == "Été & co"


def test_code_keeps_its_lines() -> None:
    assert markdown("<pre><code>if x:\n    y &lt; 1\n</code></pre>") == "```\nif x:\n    y < 1\n```"
    assert markdown("<pre>```</pre>") == "````\n```\n````"
    assert markdown("use <code>x</code>") == "use `x`"


def test_tables_are_tables() -> None:
    page = """<table><caption>Cap</caption><thead><tr><th>A<th>B|C</thead>
    <tr><td>1<br>2</td><td><p>x</p><p>y</p></td></tr><tr></tr></table>after"""
    assert markdown(page) == "Cap\n\n| A | B\\|C |\n|---|---|\n| 1 2 | x y |\n\nafter"


def test_a_table_in_a_cell_is_text_and_layout_is_no_table() -> None:
    inner = "<table><tr><td>x</td><td>y</td></tr></table>"
    assert markdown(f"<table><tr><td>{inner}</td><td>z</td></tr></table>").startswith("| x y | z |")
    assert markdown("<table><tr><td>one</td></tr><tr><td>two</td></tr></table>") == "one\n\ntwo"
    assert markdown("<table><tr><td><h2>T</h2>text</td></tr></table>") == "## T\n\ntext"


def test_links_to_the_web_are_kept_and_no_others() -> None:
    page = '<a href="https://a.example/b?c=1&amp;d">here</a> <a href="javascript:x()">bad</a>'
    assert markdown(page) == "[here](https://a.example/b?c=1&d) bad"
    assert markdown("<a href='/x'>home</a> <img src=x alt='a picture'>") == "home a picture"


def test_what_people_do_not_read_is_left_out() -> None:
    page = "<svg><title>no</title><svg>no</svg>no</svg><template>no</template><!-- no --><?no?>yes"
    assert markdown(page) == "yes"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<head><title/><script src="a.js"/><style type="x"/></head><h1>A</h1><p>b', "# A\n\nb"),
        ("<p>a<iframe src='x' /><p>b<textarea/><p>c", "a\n\nb\n\nc"),
        ("<svg/>a<title />b<svg><title>no</title></svg>", "ab"),
        ("<p>a<code/> b<a id='x'/> c<h2/><p>d</p><pre/><ul/>e", "a b c\n\nd\n\ne"),
        # In HTML, these have content.
        ("<script src=a/>no</script><p>b", "b"),
        ('<script src="a" />no</script><p>b', "b"),
        ("<a href=http://x/>here</a>", "[here](http://x/)"),
    ],
)
def test_elements_that_xml_closes_at_once_hide_nothing(page: str, text: str) -> None:
    assert markdown(page) == text


def test_text_is_not_taken_for_structure() -> None:
    page = "<p># no heading</p><p>```</p><p>&lt;!-- page 9 --&gt;</p><p>nor this<br>---<br>x</p>"
    (passage,) = split(markdown(page), budget=100, count=len)
    assert passage.headings == ()
    assert passage.page is None


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a < b && c > d", "a < b && c > d"),
        ("<p title='a>b'>x", "x"),
        ('<p title="it\'s">x', "x"),
        ("x <b", "x"),
        ("<div title='x>text <b>bold", "text bold"),
        ("&eacute;&#233;&#xe9;&nbsp;&unknown; &amp", "ééé &unknown; &"),
        ("<!-->x", "x"),
        ("<!-- never closed", ""),
        ("<ul><li></ul></li></b></table></td>x", "x"),
        ("</p><//><>x", "<>x"),
        ("", ""),
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(page: str, text: str) -> None:
    assert markdown(page).lstrip("- ") == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>été".encode("cp1252"), "été"),
        ("<meta charset='windows-1251'><p>мир".encode("cp1251"), "мир"),
        (
            "<meta http-equiv=x content='text/html; charset=Shift_JIS'><p>日本".encode("shift_jis"),
            "日本",
        ),
        ("<p>été".encode("utf-16"), "été"),
        (b"\xef\xbb\xbf<p>x", "x"),
        (b"<meta charset=rot13><p>\xe9", "é"),
        (b"<meta charset=nonsense><p>\xe9", "é"),
        (b"<meta charset=iso-8859-1><p>\x80", "€"),
        ("<!doctype html><p>été".encode("utf-16-le"), "été"),
        ("<!doctype html><p>été".encode("utf-16-be"), "été"),
        (b"<meta charset=utf-16><p>\xe9", "é"),
        (b"<meta charset=idna><p>\xe9", "é"),
        (b"<meta charset=unicode_escape><p>\xe9 C:\\temp", "é C:\\temp"),
        (b"<meta charset=undefined><p>\xe9", "é"),
        ("<meta charset=x-sjis><p>①日本".encode("cp932"), "①日本"),
        ('<?xml version="1.0" encoding="iso-8859-2"?><p>Łódź'.encode("iso-8859-2"), "Łódź"),
    ],
)
def test_a_page_is_read_in_its_encoding(data: bytes, text: str) -> None:
    assert HtmlExtractor().extract(data, name="").markdown == text


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 100_000 + "end",
        "<" * 300_000,
        "<a " * 100_000,
        "<a " * 100_000 + ">",
        '<a ">" ' * 50_000,
        "<a '\">" * 50_000,
        "<!--" * 100_000,
        "<script>" * 50_000,
        "<ul><li>x" * 50_000,
        "<ol>" + "<li>x" * 100_000,
        "<table><tr><td>x" * 50_000,
        "<a href=http://x>y" * 50_000,
        "&amp" * 100_000,
        "<blockquote>x" * 50_000,
        "<pre>`" * 50_000,
        "<h1>x" * 50_000,
        "<table><tr>" + "<td>x" * 100_000,
        "<svg>" * 100_000,
        "<title/>" * 20_000,
        "<script/><style/>" * 10_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_pages_cost_seconds_at_most(hostile: str) -> None:
    start = time.process_time()
    markdown(hostile)
    assert time.process_time() - start < 5


_PIECES = re.findall(
    "<[^>]*>|[^ ]+|  ",
    "<p> </p> <td> <table> </table> <tr> <li> <ul> </ul> <pre> </pre> <h2> </h2> <code> </a>"
    " <a href='http://x'> <br/> <!-- --> <script> </script> <svg> </svg> &lt; < \" '    word",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=30))
def test_no_page_fails_and_visible_words_stay(pieces: list[str]) -> None:
    hiding = {"<script>", "<svg>", "<!--", "'", '"', "<"}
    text = markdown("".join(pieces))
    if not hiding & set(pieces):
        assert text.count("word") == pieces.count("word")
