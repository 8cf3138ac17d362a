"""How long ago something was, in words."""

from datetime import timedelta

import pytest

from archivolt.domain.ages import spoken_age
from archivolt.domain.language import Language
from tests.fakes.clock import START


@pytest.mark.parametrize(
    ("ago", "english", "french"),
    [
        (timedelta(seconds=-5), "just now", "à l'instant"),
        (timedelta(seconds=59), "just now", "à l'instant"),
        (timedelta(minutes=1), "a minute ago", "il y a une minute"),
        (timedelta(minutes=59), "59 minutes ago", "il y a 59 minutes"),
        (timedelta(hours=1), "an hour ago", "il y a une heure"),
        (timedelta(hours=23), "23 hours ago", "il y a 23 heures"),
        (timedelta(days=1), "yesterday", "hier"),
        (timedelta(days=6), "6 days ago", "il y a 6 jours"),
        (timedelta(days=8), "a week ago", "il y a une semaine"),
        (timedelta(days=29), "4 weeks ago", "il y a 4 semaines"),
        (timedelta(days=31), "a month ago", "il y a un mois"),
        (timedelta(days=364), "12 months ago", "il y a 12 mois"),
        (timedelta(days=366), "a year ago", "il y a un an"),
        (timedelta(days=800), "2 years ago", "il y a 2 ans"),
    ],
)
def test_an_age_is_told_in_words(ago: timedelta, english: str, french: str) -> None:
    assert spoken_age(START - ago, START, Language.EN) == english
    assert spoken_age(START - ago, START, Language.FR) == french
