"""The pages on which a person agrees to what an agent wants to change, or does not.

What is shown comes from documents and agents: as text, with a mark for what would not be seen.
"""

from typing import Final, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from archivolt.domain.display import on_one_line, plainly
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.messages import Language, Message
from archivolt.domain.tool import JsonObject
from archivolt.entrypoints.browser import approval_texts as texts
from archivolt.entrypoints.browser.markup import Markup, element, joined
from archivolt.entrypoints.browser.pages import page, paragraphs
from archivolt.entrypoints.browser.services import BrowserServices, BrowserServicesOf
from archivolt.entrypoints.browser.session import (
    Fields,
    field,
    form_of,
    hidden_token,
    require_own_form,
    require_signed_in,
    sent_to,
)
from archivolt.entrypoints.browser.texts import SIGNED_IN_AS
from archivolt.entrypoints.http.errors import language_for
from archivolt.governance.sign_in.sessions import SignedIn
from archivolt.ports.confirmations import ProposalState
from archivolt.tools.approvals import AwaitedChange
from archivolt.tools.previews import IN_VAULT, more_affected

_WAITING: Final = "/approve/waiting"
_ONE: Final = "/approve/{confirmation}"
_APPROVE: Final = "approve"
_DECLINE: Final = "decline"


def approval_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes of the pages."""

    async def waiting(request: Request) -> Response:
        return await run_in_threadpool(_waiting, services(), request)

    async def show(request: Request) -> Response:
        return await run_in_threadpool(_shown, services(), request)

    async def answer(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_answered, services(), request, fields)

    return [
        Route(_WAITING, waiting, methods=["GET"]),
        Route(_ONE, show, methods=["GET"]),
        Route(_ONE, answer, methods=["POST"]),
    ]


def _waiting(services: BrowserServices, request: Request) -> Response:
    by, language = require_signed_in(request, services), language_for(request)
    with services.by_hand.doing(by.principal, "list_confirmations"):
        changes = services.approvals.waiting(by.principal)
    entries = [_linked(services, change) for change in changes]
    nothing = element("p", texts.WAITING_NONE.spoken(language))
    title = texts.WAITING.spoken(language)
    return page(title, language, _who(by, language), *(entries or [nothing]))


def _linked(services: BrowserServices, change: AwaitedChange) -> Markup:
    link = element(
        "a",
        plainly(str(change.preview["summary"])),
        href=services.address(f"/approve/{change.id}"),
    )
    return element("p", link)


def _shown(services: BrowserServices, request: Request) -> Response:
    by, language = require_signed_in(request, services), language_for(request)
    confirmation = _id_in(request)
    with services.by_hand.doing(by.principal, "show_confirmation", confirmation=confirmation):
        change = services.approvals.show(by.principal, confirmation)
        may_answer = services.approvals.takes_an_answer(change)
    content = [_who(by, language), _asking(change, language), *_preview(change.preview, language)]
    if may_answer:
        content.append(_form(services, by, change, language))
    else:
        content.append(element("p", _outcome(change).spoken(language), role="status"))
    other = element("a", texts.WAITING.spoken(language), href=services.address(_WAITING))
    return page(texts.APPROVAL.spoken(language), language, *content, element("p", other))


def _answered(services: BrowserServices, request: Request, fields: Fields) -> Response:
    by = require_own_form(request, services, fields)
    confirmation, answer = _id_in(request), field(fields, "answer")
    if answer not in {_APPROVE, _DECLINE}:
        raise InvalidRequestError("unreadable_request")
    approvals = services.approvals
    act = approvals.approve if answer == _APPROVE else approvals.decline
    action = f"{answer}_confirmation"
    with services.by_hand.doing(by.principal, action, confirmation=confirmation):
        act(by.principal, confirmation)
    return sent_to(services.address(f"/approve/{confirmation}"))


def _id_in(request: Request) -> str:
    return str(request.path_params["confirmation"])


def _who(by: SignedIn, language: Language) -> Markup:
    return element("p", SIGNED_IN_AS.spoken(language).format(user=plainly(by.person.user)))


def _asking(change: AwaitedChange, language: Language) -> Markup:
    if not change.program:
        return element("p", texts.ASKED.spoken(language))
    named = texts.ASKED_BY.spoken(language)
    return element("p", named.format(program=on_one_line(change.program)))


def _preview(preview: JsonObject, language: Language) -> list[Markup]:
    affected = cast("list[JsonObject]", preview["affected"])
    diff, note = str(preview["diff"]), str(preview.get("note") or "")
    # Proposals of before an update name no vault.
    vault = on_one_line(str(preview.get("vault") or ""))
    more = more_affected(preview, language)
    shown = [element("p", IN_VAULT.spoken(language).format(vault=vault))] if vault else []
    shown.append(element("p", element("strong", plainly(str(preview["summary"])))))
    if affected:
        shown.append(element("ul", *(_affected(one, language) for one in affected)))
    if more:
        shown.append(element("p", more))
    if note:
        shown.append(element("p", plainly(note), class_="warning"))
    if diff:
        shown.append(element("pre", element("code", plainly(diff)), tabindex="0"))
    return shown


def _affected(affected: JsonObject, language: Language) -> Markup:
    path, new_path = plainly(str(affected["path"])), affected.get("new_path")
    change = texts.CHANGES[str(affected["change"])].spoken(language)
    target = f" → {plainly(str(new_path))}" if new_path else ""
    reason = affected.get("explanation")
    why = f" ({plainly(str(reason))})" if reason else ""
    return element("li", joined(f"{change} — ", element("bdi", path), f"{target}{why}"))


def _form(
    services: BrowserServices, by: SignedIn, change: AwaitedChange, language: Language
) -> Markup:
    until = texts.UNTIL.spoken(language).format(
        until=change.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    )
    answers = [(_DECLINE, texts.DECLINE)]
    if change.approved:
        said = texts.APPROVED
    else:
        said = texts.CONSEQUENCE
        answers.insert(0, (_APPROVE, texts.APPROVE))
    buttons = [
        element("button", label.spoken(language), type="submit", name="answer", value=answer)
        for answer, label in answers
    ]
    return element(
        "form",
        hidden_token(by),
        paragraphs(said.spoken(language), until),
        *buttons,
        method="post",
        action=services.address(f"/approve/{change.id}"),
    )


def _outcome(change: AwaitedChange) -> Message:
    known = {
        ProposalState.DONE: texts.DONE,
        ProposalState.DECLINED: texts.DECLINED,
        ProposalState.RUNNING: texts.RUNNING,
    }
    return known.get(change.state, texts.EXPIRED)
