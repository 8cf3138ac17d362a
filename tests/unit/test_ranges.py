"""Ranges of moments and sizes, as people write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.messages import Language
from archivolt.domain.ranges import Range, moment_range, size_range

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def moments(text: str) -> tuple[str | None, str | None]:
    found = moment_range(text, now=NOW, parameter="created")
    return _told(found.least), _told(found.most)


def _told(moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", None, None),
        ("2026-01-01", "2026-01-01T00:00:00", "2026-01-01T23:59:59"),
        ("2026-02", "2026-02-01T00:00:00", "2026-02-28T23:59:59"),
        ("2025-12", "2025-12-01T00:00:00", "2025-12-31T23:59:59"),
        ("2025", "2025-01-01T00:00:00", "2025-12-31T23:59:59"),
        ("2026-01-01..2026-02-01", "2026-01-01T00:00:00", "2026-02-01T23:59:59"),
        ("2026-02-01 .. 2026-01-01", "2026-01-01T00:00:00", "2026-02-01T23:59:59"),
        ("2026-01..", "2026-01-01T00:00:00", None),
        ("..2026-01", None, "2026-01-31T23:59:59"),
        (">2026-01-01", "2026-01-02T00:00:00", None),
        (">= 2026-01-01", "2026-01-01T00:00:00", None),
        ("<2026-01-01", None, "2025-12-31T23:59:59"),
        ("<=2026-01-01", None, "2026-01-01T23:59:59"),
        ("since 2026-01-01", "2026-01-01T00:00:00", None),
        ("depuis hier", "2026-03-17T00:00:00", None),
        ("after 2025", "2026-01-01T00:00:00", None),
        ("avant 2026-01", None, "2025-12-31T23:59:59"),
        (">2026-03-18T10:00:00+02:00", "2026-03-18T08:00:01", None),
        ("2026-03-18T10:00Z..", "2026-03-18T10:00:00", None),
        ("7d", "2026-03-11T15:30:00", None),
        ("last 7 days", "2026-03-11T15:30:00", None),
        ("the past 2 weeks", "2026-03-04T15:30:00", None),
        ("last week", "2026-03-11T15:30:00", None),
        ("7 derniers jours", "2026-03-11T15:30:00", None),
        ("Les 3 dernières semaines", "2026-02-25T15:30:00", None),
        ("la semaine dernière", "2026-03-11T15:30:00", None),
        ("24h", "2026-03-17T15:30:00", None),
        ("30d..7d", "2026-02-16T15:30:00", "2026-03-11T15:30:00"),
        ("7d..30d", "2026-02-16T15:30:00", "2026-03-11T15:30:00"),
        ("..1y", None, "2025-03-18T15:30:00"),
        ("today", "2026-03-18T00:00:00", "2026-03-18T23:59:59"),
        ("aujourd\u2019hui", "2026-03-18T00:00:00", "2026-03-18T23:59:59"),
        ("yesterday", "2026-03-17T00:00:00", "2026-03-17T23:59:59"),
        ("this week", "2026-03-16T00:00:00", None),
        ("ce mois", "2026-03-01T00:00:00", None),
        ("cette année", "2026-01-01T00:00:00", None),
    ],
)
def test_moments_are_read_as_people_write_them(
    text: str, least: str | None, most: str | None
) -> None:
    assert moments(text) == (least, most)


@pytest.mark.parametrize(
    "text",
    [
        *("soon", ">7d", "<last week", "2026-13", "2026-02-30", "0000", "9999", "999999y"),
        *("..x", "1..2", "2026-01-01T99:00", ">", "=2026", "7 dogs", "2026-01-01..soon", "last 7"),
    ],
)
def test_what_is_no_range_of_moments_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        moment_range(text, now=NOW, parameter="created")

    assert caught.value.code == "invalid_date_range"
    assert "created" in caught.value.message(Language.FR)
    assert "2026-01-01.." in caught.value.message(Language.EN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Range()),
        ("0", Range(0, 0)),
        ("1234", Range(1234, 1234)),
        ("10kb", Range(10_000, 10_999)),
        ("1,5 Mo", Range(1_500_000, 1_599_999)),
        ("2kib", Range(2_048, 3_071)),
        (">10kb", Range(least=10_001)),
        (">= 10 ko", Range(least=10_000)),
        ("<1MB", Range(most=999_999)),
        ("<= 1 Gio", Range(most=1_073_741_824)),
        ("10kb..2mb", Range(10_000, 2_000_000)),
        ("2mb..10kb", Range(10_000, 2_000_000)),
        ("..100 octets", Range(most=100)),
        ("100 bytes..", Range(least=100)),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, expected: Range) -> None:
    assert size_range(text, parameter="size") == expected


@pytest.mark.parametrize("text", ["big", "-1", "10tb", ">", "5i", "1.2.3", "10 kb mb", "1e9"])
def test_what_is_no_range_of_sizes_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        size_range(text, parameter="size")

    assert caught.value.code == "invalid_size_range"
    assert ">10kb" in caught.value.message(Language.EN)
    assert "size" in caught.value.message(Language.FR)


@given(
    st.text(max_size=40) | st.from_regex(r"[<>=]{0,2} ?[0-9-]{1,12}[a-z ]{0,5}(\.\.)?[0-9dT:-]*")
)
def test_any_text_is_a_range_or_refused(text: str) -> None:
    for read in (
        lambda: moment_range(text, now=NOW, parameter="modified"),
        lambda: size_range(text, parameter="size"),
    ):
        try:
            found = read()
        except InvalidRequestError:
            continue
        assert found.least is None or found.most is None or found.least <= found.most + 1
