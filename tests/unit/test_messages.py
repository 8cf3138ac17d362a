"""The table of sentences, and the language a caller asks for."""

import re
from collections.abc import Mapping

import pytest

from archivolt.domain.errors import ConflictError, InvalidRequestError, NotFoundError
from archivolt.domain.language import Message
from archivolt.domain.messages import MESSAGES, Language, language_of, message_for
from archivolt.domain.reasons import REASONS


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_both_languages_name_the_same_values(code: str) -> None:
    english, french = (set(re.findall(r"\{(\w+)\}", text)) for text in MESSAGES[code])

    assert english == french


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_sentence_ends_and_neither_language_is_missing(code: str) -> None:
    # S16 gives the sentence of a spent budget to the letter.
    if code != "budget_exceeded":
        assert all(text.endswith(".") for text in MESSAGES[code])
    assert MESSAGES[code].en != MESSAGES[code].fr


@pytest.mark.parametrize("table", [MESSAGES, REASONS], ids=["messages", "reasons"])
def test_codes_are_in_alphabetical_order(table: Mapping[str, Message]) -> None:
    assert list(table) == sorted(table)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_reason_is_told_in_the_language_of_its_sentence(reason: str) -> None:
    details = {"status": 401, "name": "x", "line": 3, "limit": 10}
    error = InvalidRequestError("invalid_path", reason=reason, **details)

    english, french = error.message(Language.EN), error.message(Language.FR)
    clause = REASONS[reason]
    assert clause.en != clause.fr
    assert clause.en.format_map(details) in english
    assert clause.fr.format_map(details) in french
    assert reason not in english + french


def test_what_a_foreign_service_says_is_shown_as_it_came() -> None:
    error = InvalidRequestError("provider_refused", provider="acme", reason="no {x}; 50 %")

    assert "(no {x}; 50 %)" in error.message(Language.FR)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, Language.EN),
        ("", Language.EN),
        ("fr", Language.FR),
        ("fr-CA,fr;q=0.9,en;q=0.8", Language.FR),
        ("de, fr;q=0.5, en;q=0.7", Language.EN),
        ("en;q=0.1, FR;q=0.2", Language.FR),
        ("fr;q=0, en", Language.EN),
        ("fr;q=zero", Language.EN),
        ("*", Language.EN),
    ],
)
def test_the_first_language_we_speak_is_taken(header: str | None, language: Language) -> None:
    assert language_of(header) is language


def test_an_error_speaks_the_callers_language_and_keeps_its_code() -> None:
    error = NotFoundError("vault_not_found", vault="Été")

    assert error.code == "vault_not_found"
    assert "Été" in error.message(Language.FR)
    assert error.message(Language.FR) != error.message(Language.EN)


def test_a_missing_value_never_hides_the_error() -> None:
    assert "?" in ConflictError("file_exists").message(Language.EN)


def test_braces_in_a_value_are_shown_as_they_are() -> None:
    assert "{x}" in message_for("file_exists", Language.EN, {"path": "{x}"})
