"""What was used, over HTTP: one's own, the team's, the tenant's; and a budget's 429."""

from httpx2 import Response
from starlette.testclient import TestClient

from archivolt.domain.identity import Role
from archivolt.ports.chat_model import ModelTurn
from tests.builders import GLOBEX, principal
from tests.chat_world import ChatWorld
from tests.entrypoints.test_chat_http import chat_application
from tests.fakes.clock import START
from tests.fakes.governance import KnownTokens
from tests.fakes.models import ScriptedModel

CHAT = "/api/v1/chat"
MONTH, DAY = f"{START:%Y-%m}", f"{START:%Y-%m-%d}"
CALLERS = {
    "alice": principal("alice"),
    "=bob": principal("=bob"),
    "devops": principal("dora", role=Role.DEVOPS),
    "admin": principal("ada", role=Role.TENANT_ADMIN),
    "root": principal("root", tenant=GLOBEX, role=Role.CPI_ADMIN),
    "other": principal("olga", tenant=GLOBEX, role=Role.TENANT_ADMIN),
}
ROW = {"calls": 1, "input_tokens": 1_000, "output_tokens": 100, "cost_usd": "0.0012"}


def http(world: ChatWorld) -> TestClient:
    return TestClient(chat_application(world, KnownTokens(CALLERS)))


def bearer(name: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **headers}


def answering() -> ChatWorld:
    return ChatWorld(
        ScriptedModel(ModelTurn(text="Under the mat.", input_tokens=1_000, output_tokens=100))
    )


def say(client: TestClient, by: str, **headers: str) -> Response:
    message = {"message": "Where is it?", "stream": False}
    return client.post(f"{CHAT}/messages", json=message, headers=bearer(by, **headers))


def test_everybody_sees_what_they_used_and_what_is_left() -> None:
    world = answering()
    world.allow(chat_monthly_budget_usd="500", chat_daily_tokens_per_user=1_000_000)
    with http(world) as client:
        assert say(client, "alice").status_code == 200
        say(client, "=bob")
        own = client.get(f"{CHAT}/usage", headers=bearer("alice")).json()

    assert own == {
        **ROW,
        "period": MONTH,
        "budget_usd": "500.00",
        "remaining_usd": "499.9976",
        "renews_at": "2026-10-01T00:00:00Z",
        "daily_tokens": {
            "limit": 1_000_000,
            "remaining": 998_900,
            "renews_at": "2026-09-02T00:00:00Z",
        },
        "users": 1,
        "by_user": [{**ROW, "user": "alice"}],
        "by_model": [{**ROW, "provider": "openai", "model": "m-1"}],
        "by_day": [{**ROW, "day": DAY}],
    }


def test_an_administrator_sees_who_used_it_and_a_team_only_how_much() -> None:
    with http(answering()) as client:
        for name in ("alice", "=bob"):
            say(client, name)
        tenant = f"{CHAT}/usage/tenant"
        seen = {name: client.get(tenant, headers=bearer(name)) for name in CALLERS}
        named = client.get(f"{tenant}?tenant=acme", headers=bearer("root")).json()
        foreign = client.get(f"{tenant}?tenant=acme", headers=bearer("other"))
        nobody = client.get(f"{tenant}?tenant=a%2Fb", headers=bearer("root"))

    assert [each["user"] for each in seen["admin"].json()["by_user"]] == ["=bob", "alice"]
    team = seen["devops"].json()
    assert (team["by_user"], team["users"], team["calls"]) == ([], 2, 2)
    assert team["by_model"] == seen["admin"].json()["by_model"]
    assert seen["alice"].status_code == 403
    assert seen["root"].json()["calls"] == 0
    assert named == seen["admin"].json()
    assert (foreign.status_code, nobody.status_code) == (404, 404)


def test_a_table_for_spreadsheets_holds_no_formula() -> None:
    with http(answering()) as client:
        say(client, "=bob")
        asked = client.get(f"{CHAT}/usage/tenant?format=csv", headers=bearer("admin"))
        accepted = client.get(f"{CHAT}/usage/tenant", headers=bearer("admin", Accept="text/csv"))

    assert asked.headers["content-type"] == "text/csv; charset=utf-8"
    assert f'filename="usage-{MONTH}.csv"' in asked.headers["content-disposition"]
    amounts = "1,1000,100,0.0012"
    assert asked.text.splitlines() == [
        "period,by,name,calls,input_tokens,output_tokens,cost_usd",
        f"{MONTH},total,,{amounts}",
        f"{MONTH},user,'=bob,{amounts}",
        f"{MONTH},model,openai/m-1,{amounts}",
        f"{MONTH},day,{DAY},{amounts}",
    ]
    assert accepted.text == asked.text


def test_another_month_is_told_without_a_budget_of_today() -> None:
    world = answering()
    world.allow(chat_monthly_budget_usd="500")
    with http(world) as client:
        say(client, "alice")
        world.clock.advance(days=40)
        past = client.get(f"{CHAT}/usage?period={MONTH}", headers=bearer("alice")).json()
        wrong = client.get(f"{CHAT}/usage?period=2026-13", headers=bearer("alice"))

    assert (past["calls"], past["budget_usd"], past["remaining_usd"]) == (1, None, None)
    assert wrong.status_code == 422


def test_an_exhausted_budget_is_a_429_in_the_callers_language_with_what_is_left() -> None:
    world = answering()
    world.allow(chat_monthly_budget_usd="0.001")
    with http(world) as client:
        french = say(client, "alice", **{"Accept-Language": "fr"})
        english = say(client, "alice")
        edit = client.post("/api/v1/ai/improve", json={"text": "A"}, headers=bearer("alice"))
        listed = client.get(f"{CHAT}/conversations", headers=bearer("alice")).json()

    error = french.json()["error"]
    assert (french.status_code, error["code"]) == (429, "budget_exceeded")
    assert error["message"] == "Budget mensuel de tokens dépassé"
    assert error["details"]["remaining_usd"] == error["details"]["budget_usd"] == "0.001"
    assert error["details"]["renews_at"] == "2026-10-01T00:00:00+00:00"
    assert english.json()["error"]["message"] == "Monthly token budget exceeded"
    assert (edit.status_code, edit.json()["error"]["code"]) == (429, "budget_exceeded")
    assert listed["conversations"] == []


def test_usage_is_part_of_the_chat_and_off_with_it() -> None:
    app = chat_application(answering(), KnownTokens(CALLERS), enabled=False)
    with TestClient(app) as client:
        for path in ("usage", "usage/tenant"):
            assert client.get(f"{CHAT}/{path}", headers=bearer("admin")).status_code == 404
