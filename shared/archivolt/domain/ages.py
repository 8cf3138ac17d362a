"""How long ago something was, in words."""

from datetime import datetime
from typing import Final

from archivolt.domain.language import Language, Message

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_JUST_NOW: Final = Message("just now", "à l'instant")
_YESTERDAY: Final = Message("yesterday", "hier")
# From the longest: how many seconds it has, one of it, several.
_AGES: Final = (
    (365 * _DAY, Message("a year ago", "il y a un an"), Message("{n} years ago", "il y a {n} ans")),
    (
        30 * _DAY,
        Message("a month ago", "il y a un mois"),
        Message("{n} months ago", "il y a {n} mois"),
    ),
    (
        7 * _DAY,
        Message("a week ago", "il y a une semaine"),
        Message("{n} weeks ago", "il y a {n} semaines"),
    ),
    (_DAY, _YESTERDAY, Message("{n} days ago", "il y a {n} jours")),
    (
        _HOUR,
        Message("an hour ago", "il y a une heure"),
        Message("{n} hours ago", "il y a {n} heures"),
    ),
    (
        _MINUTE,
        Message("a minute ago", "il y a une minute"),
        Message("{n} minutes ago", "il y a {n} minutes"),
    ),
)


def spoken_age(moment: datetime, now: datetime, language: Language) -> str:
    """Return how long before `now` a moment is, such as `3 days ago`; the future is `just now`."""
    seconds = (now - moment).total_seconds()
    for unit, one, several in _AGES:
        count = int(seconds // unit)
        if count >= 1:
            return (one if count == 1 else several).spoken(language).format(n=count)
    return _JUST_NOW.spoken(language)
