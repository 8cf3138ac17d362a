"""Browsers in which somebody signed in. The cookie holds a secret, we hold its digest."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta

from archivolt.domain.identity import Principal
from archivolt.domain.limits import BROWSER_SESSION_SECONDS
from archivolt.domain.oauth import BrowserSession, Person
from archivolt.domain.token_forms import SECRET_CHARS, digest_of, random_text
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import BrowserSessionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """Somebody in a browser. `form_token` has to come with each of its forms."""

    session: BrowserSession
    form_token: str

    @property
    def person(self) -> Person:
        """Who it is."""
        return self.session.person

    @property
    def principal(self) -> Principal:
        """Who acts there: a person, by their own hand."""
        return self.session.principal()

    def sent(self, form_token: str) -> bool:
        """Tell whether a form is of a page that this browser was given."""
        return hmac.compare_digest(self.form_token.encode(), form_token.encode("utf-8", "replace"))


class BrowserSessions:
    """Begins, finds and ends sessions."""

    def __init__(self, store: BrowserSessionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begin(self, person: Person) -> str:
        """Return the secret of a new session, for the browser's cookie."""
        secret = random_text(SECRET_CHARS)
        until = self._clock.now() + timedelta(seconds=BROWSER_SESSION_SECONDS)
        self._store.add(BrowserSession(digest=digest_of(secret), person=person, expires_at=until))
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """Return who signed in where this secret is; None: nobody, or too long ago."""
        session = self._store.find(digest_of(secret)) if secret else None
        if session is None or session.expires_at <= self._clock.now():
            return None
        # Derived from the secret: who cannot read the cookie cannot make one, and none is kept.
        token = hashlib.sha256(f"form:{secret}".encode()).hexdigest()
        return SignedIn(session=session, form_token=token)

    def end(self, secret: str) -> None:
        """End a session, at once."""
        self._store.remove(digest_of(secret))
