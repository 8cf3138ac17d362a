"""What a person wants, as far as a few patterns can tell; everything else is a question."""

import re
from enum import Enum, auto

from archivolt.adapters.extractive.words import plain

_MOST_WORDS = 10


class Intent(Enum):
    """What to do about a message."""

    GREETING = auto()
    THANKS = auto()
    ABOUT_ITSELF = auto()
    VAULTS = auto()
    QUESTION = auto()


_PATTERNS = {
    Intent.GREETING: (
        r"(bonjour|bonsoir|salut|coucou|hello|hi|hey|good (morning|afternoon|evening))"
        r"( (a tous|tout le monde|there|all|everyone|archivolt|toi|you))?( ca va| how are you)?"
    ),
    Intent.THANKS: (
        r"(un grand |many )?(merci|thanks|thank you|thx)( (beaucoup|bien|a lot|so much))?"
    ),
    Intent.ABOUT_ITSELF: (
        r"(help|aide|a l aide)( me| moi)?|(who|what) are you|what can you do( for me)?"
        r"|qui es tu|tu es qui|que (peux tu|sais tu) faire|que peut on te demander"
        r"|comment (ca|cela) (marche|fonctionne)|how does (this|it) work"
    ),
    Intent.VAULTS: (
        r"((please )?(list|show)( me)?( all)?( of)?( my| the)? (vaults|documents|files))"
        r"|(what|which) (vaults|documents|files)"
        r"( do i have| are there| can (i|you) (see|read)| do you (have|know|see))?"
        r"|what( is| s|s| do i have)? in (my|the) (vaults?|documents|files)"
        r"|(peux tu )?(liste|lister|listez|montre|montrer|montrez)( moi)?( tous)? (mes|les|nos)"
        r" (coffres|vaults|documents|fichiers)"
        r"|(quels|quelles)( sont)?( mes| les| nos)? (coffres|vaults|documents|fichiers)"
        r"( ai je| as tu| j ai| y a t il| vois tu| connais tu)?"
        r"|(qu y a t il|qu est ce qu il y a|il y a quoi|que contien\w+|que trouve t on)"
        r"( dans)? (mon|mes|le|les|nos) (coffres?|vaults?|documents|fichiers)"
    ),
}
_GREETING_FIRST = re.compile(r"(bonjour|bonsoir|salut|coucou|hello|hi|hey)( archivolt)? ")
_MATCHERS = {intent: re.compile(pattern) for intent, pattern in _PATTERNS.items()}


def intent_of(message: str) -> Intent:
    """Return what a message wants; only short messages are anything but a question."""
    words = plain(message)
    if words.count(" ") < _MOST_WORDS:
        # Who greets may ask something all the same.
        for said in (words, _GREETING_FIRST.sub("", words)):
            for intent, matcher in _MATCHERS.items():
                if matcher.fullmatch(said):
                    return intent
    return Intent.QUESTION
