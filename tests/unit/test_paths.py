"""The one resolver of paths: what is plainly inside a vault is taken, anything else refused."""

import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_PATH_BYTES
from archivolt.domain.paths import (
    ROOT,
    VaultPath,
    parents_of,
    resolve_directory,
    resolve_path,
    vault_uri,
)
from archivolt.domain.reasons import REASONS
from archivolt.domain.vault import vault_name

ATTACKS = [
    "",
    ".",
    "..",
    "../secret.md",
    "a/../../secret.md",
    "a/..",
    "a/./b",
    "./a",
    ".. /a",
    " ../a",
    "a/.. /b",
    "..\\secret.md",
    "a\\..\\..\\b",
    "\\\\server\\share",
    "C:\\Windows",
    "/etc/passwd",
    "//etc/passwd",
    "a//b",
    "a/",
    "....//a",
    "%2e%2e/a",
    "%2E%2e%2Fa",
    "..%2fa",
    "%2e%2e%5ca",
    "a/%2e%2e/b",
    "%252e%252e%252fa",
    "%25252e%25252e%25252fa",
    "..%252f..%252fa",
    "..%c0%afa",
    "%c0%ae%c0%ae/a",
    "%e0%80%ae%e0%80%ae/a",
    "..%25c0%25afa",
    "%u002e%u002e%u2215a",
    "a\x00.md",
    "a%00.md",
    "\x00",
    "a\n.md",
    "a\x7f.md",
    "a\x85.md",
    "\u2025/a",
    "\uff0e\uff0e/a",
    "\u2024\u2024/a",
    "\ufe52\ufe52/a",
    "..\u2215a",
    "..\u2044a",
    "..\uff0fa",
    "..\uff3ca",
    "..\u29f8a",
    "..\ufe68a",
    "a\u202e.md",
    "\ufeffa.md",
    "a\u200b.md",
    "a\u2028b.md",
    "\ud800.md",
    "vault://other/a.md",
    "vault:/a.md",
    "file:///etc/passwd",
    "s3://bucket/key",
    "https://example.org/a.md",
    "a" * 256,
    "é" * 128,
    "a/" * 500 + "b",
    " a.md",
    "a.md ",
    "a /b",
]
ODD_NAMES = [
    "[[.md",
    "%.md",
    "100%.md",
    "%41.md",
    "à+b (1).md",
    "Été 2026/à+b (1).md",
    "..md",
    "...",
    "a..b.md",
    ".obsidian/app.json",
    "a.",
    "~",
    "~/a.md",
    "-rf",
    "a:b.md",
    "C:",
    "a?b*c|d<e>f.md",
    "a\"b'c.md",
    "a&b=c#d.md",
    "{x}.md",
    "👩‍👩‍👧‍👦 family.md",
    "日本語/メモ.md",
    "привет.md",
    "a b/c d.md",
    "e" * 252 + ".md",
    "é" * 126 + ".md",
    "CON",
]


@pytest.mark.parametrize(
    "attack", ATTACKS, ids=[quote(a.encode("utf-8", "replace"))[:40] for a in ATTACKS]
)
def test_what_is_not_plainly_inside_the_vault_is_refused(attack: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        resolve_path(attack)
    assert caught.value.code == "invalid_path"
    assert caught.value.details["reason"] in REASONS


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_name_is_taken_as_it_is(name: str) -> None:
    assert resolve_path(name) == name


def test_both_unicode_forms_of_a_name_are_one_path() -> None:
    assert resolve_path(unicodedata.normalize("NFD", "créer.md")) == "créer.md"


def test_a_path_as_long_as_allowed_is_taken_and_one_byte_more_is_not() -> None:
    longest = "/".join(["a" * 99] * 9)
    assert len(longest) == MAX_PATH_BYTES - 1
    assert resolve_path(longest + "b")

    with pytest.raises(InvalidRequestError):
        resolve_path(longest + "bc")


@pytest.mark.parametrize("raw", ["", "/", "."])
def test_the_root_has_three_spellings(raw: str) -> None:
    assert resolve_directory(raw) == ROOT


def test_a_directory_may_end_in_a_slash_but_only_in_one() -> None:
    assert resolve_directory("a/b/") == "a/b"
    with pytest.raises(InvalidRequestError):
        resolve_directory("a/b//")


@given(st.text(max_size=40))
def test_whatever_is_taken_stays_below_the_vault(raw: str) -> None:
    try:
        path = resolve_path(raw)
    except InvalidRequestError:
        return
    names = path.split("/")
    assert path == unicodedata.normalize("NFC", raw)
    assert not {"", ".", ".."}.intersection(names)
    assert resolve_path(path) == path


def test_the_parents_of_a_path_are_its_directories_from_outside_in() -> None:
    assert parents_of(VaultPath("a/b/c.md")) == ["a", "a/b"]
    assert parents_of(VaultPath("c.md")) == []


def test_a_uri_carries_any_name_in_characters_of_a_uri() -> None:
    uri = vault_uri("Été 100%", "à+b (1)/[[.md", fragment="page 2")

    assert uri == "vault://%C3%89t%C3%A9%20100%25/%C3%A0%2Bb%20%281%29/%5B%5B.md#page%202"


@pytest.mark.parametrize("name", ["Notes", "Été 2026", "100%", "a.b_c-d", "日本語", "n" * 64])
def test_a_vault_may_have_any_plain_name(name: str) -> None:
    assert vault_name(unicodedata.normalize("NFD", name)) == name


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", "a/b", "a\\b", "a\x00", "a\n", " a", "a ", "n" * 65, "a\u202eb", "\ud800"],
)
def test_a_vault_name_that_could_mislead_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_vault_name") as caught:
        vault_name(name)
    assert caught.value.details["reason"] in REASONS
