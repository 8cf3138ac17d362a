"""People with browsers in front of the pages of the tools function, and programs beside them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

from mangum import Mangum

from archivolt.domain.identity import Principal, Role
from archivolt.domain.oauth import LocalUser, Person
from archivolt.entrypoints.browser.services import BrowserServices
from archivolt.entrypoints.http.tools_app import create_handler
from archivolt.governance.oauth.connections import Connections
from archivolt.governance.sign_in.local import LocalSignIn
from archivolt.governance.sign_in.passwords import Cost, hashed
from archivolt.governance.sign_in.sessions import BrowserSessions
from archivolt.governance.throttle import Throttle
from archivolt.tools.by_hand import ByHand
from tests.builders import ACME, ALICE, BOB, principal
from tests.entrypoints.rest_api import Answer, LambdaProcess
from tests.entrypoints.rest_world import event_of, rest_services
from tests.fakes.governance import InMemoryRates, KnownTokens
from tests.fakes.oauth import InMemoryBrowserSessions, InMemoryLocalUsers
from tests.oauth import PUBLIC_URL, OAuthWorld
from tests.world import World

PASSWORD = "a password " + "of the test"
_KEPT = hashed(PASSWORD, Cost(n=2, r=1, p=1))
_FIELD = re.compile(r"<input ([^>]*)>|<button ([^>]*)>")
_ATTRIBUTE = re.compile(r'([a-z-]+)(?:="([^"]*)")?')

# Making the application takes longer than most tests: every world lends it its services.
_SERVING: dict[str, "BrowserWorld"] = {}


@cache
def _handler() -> Mangum:
    return create_handler(
        lambda: rest_services(_SERVING["now"], KnownTokens()), lambda: _SERVING["now"].services
    )


class BrowserWorld(World):
    """Alice and Bob of Acme have passwords; `oauth` has a client that registered."""

    def __init__(self) -> None:
        super().__init__()
        self.oauth = OAuthWorld(self.clock)
        self.marks = InMemoryBrowserSessions()
        self.users = InMemoryLocalUsers()
        for name in (ALICE, BOB):
            person = Person(tenant=ACME, user=name, role=Role.VIEWER)
            self.users.put(LocalUser(person=person, password=_KEPT))
        self.links = KnownTokens({"link": principal(ALICE)})
        self.greeted: list[Principal] = []
        self.services = self._services()
        self._process = LambdaProcess(_handler)

    def _services(self) -> BrowserServices:
        throttle = Throttle(InMemoryRates(), self.clock)
        return BrowserServices(
            public_url=PUBLIC_URL,
            token_verifier=KnownTokens(),
            clients=self.oauth.clients,
            tokens=self.oauth.tokens,
            connections=Connections(self.oauth.grants, self.clock, self.tenants),
            sessions=BrowserSessions(self.marks, self.clock),
            local=LocalSignIn(self.users, self.marks, self.links, throttle, self.clock),
            upstream=None,
            throttle=throttle,
            vaults=self.vaults,
            by_hand=ByHand(self.rate_limit, self.audit, self.clock),
            approvals=self.approvals,
            mcp_accounts=lambda: self.mcp_accounts.accounts,
            admit=self.admission.admit,
            greet=self.greeted.append,
        )

    def send(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Answer:
        """Return the answer to a request; `url` begins with a slash."""
        _SERVING["now"] = self
        return self._process.invoke(event_of(method, url, body, headers))

    def post(self, path: str, form: Mapping[str, str], **headers: str) -> Answer:
        """Return the answer to a program's form."""
        lines = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.send("POST", path, urlencode(form).encode(), lines)

    def authorize_url(self, **changed: str | None) -> str:
        """Return where the client sends a person."""
        return f"/oauth/authorize?{urlencode(self.oauth.parameters(**changed))}"


class Browser:
    """One browser: it keeps cookies, and sends the forms of the page it shows."""

    def __init__(self, world: BrowserWorld, language: str = "en") -> None:
        self.cookies: dict[str, str] = {}
        self._world = world
        self._language = language
        self._page = ""

    def get(self, url: str) -> Answer:
        """Return the page at an address of ours."""
        return self._shown(self._world.send("GET", _path(url), headers=self._headers()))

    def submit(
        self, path: str, fields: Mapping[str, str | Sequence[str]], **headers: str
    ) -> Answer:
        """Return the answer to a form as it was filled in."""
        lines = {
            **self._headers(),
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": PUBLIC_URL,
            **headers,
        }
        body = urlencode(fields, doseq=True).encode()
        return self._shown(self._world.send("POST", path, body, lines))

    def form(self, action: str) -> dict[str, str]:
        """Return the fields of a form of the page, as they are before anybody fills them in."""
        (text,) = re.findall(rf'<form [^>]*action="{PUBLIC_URL}{action}">(.*?)</form>', self._page)
        found: dict[str, str] = {}
        for matched in _FIELD.finditer(text):
            names = dict(_ATTRIBUTE.findall(matched.group(1) or ""))
            if names.get("type") in {"hidden", "text"} or "checked" in names:
                found[names["name"]] = unescape(names["value"])
        return found

    def sign_in(self, name: str = ALICE, password: str = PASSWORD, *, to: str = "") -> Answer:
        """Return the answer to somebody's name and password."""
        return self.submit("/oauth/sign-in", {"name": name, "password": password, "to": to})

    def decide(self, decision: str = "agree", **filled: str | Sequence[str]) -> Answer:
        """Return the answer to the consent page that is shown."""
        fields: dict[str, Any] = {**self.form("/oauth/authorize"), **filled, "decision": decision}
        return self.submit("/oauth/authorize", fields)

    def _headers(self) -> dict[str, str]:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Accept-Language": self._language, **({"Cookie": sent} if sent else {})}

    def _shown(self, answer: Answer) -> Answer:
        self._page = answer.body.decode()
        for morsel in SimpleCookie(answer.headers.get("set-cookie", "")).values():
            if morsel.value:
                self.cookies[morsel.key] = morsel.value
            else:
                self.cookies.pop(morsel.key, None)
        return answer


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
