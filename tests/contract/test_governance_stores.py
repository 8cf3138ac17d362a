"""What every store of settings, counts and audit promises."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from archivolt.adapters.dynamodb.audit import DynamoAuditLog
from archivolt.adapters.dynamodb.rates import DynamoRateCounter
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.tenant_settings import DynamoTenantSettings
from archivolt.adapters.dynamodb.user_settings import DynamoUserSettings
from archivolt.adapters.dynamodb.writes import Key, Put
from archivolt.domain.audit import AuditEntry
from archivolt.domain.errors import ConflictError, InvalidRequestError
from archivolt.domain.identity import UserId
from archivolt.domain.settings import TenantSettings
from archivolt.domain.user_settings import UserSettings
from archivolt.ports.audit import AuditLog
from archivolt.ports.governance import (
    RateCounter,
    TenantSettingsStore,
    UserSettingsStore,
)
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.contract.conftest import FAKE, NewTable, on_tables
from tests.fakes.governance import (
    InMemoryRates,
    InMemoryTenantSettings,
    InMemoryUserSettings,
    RecordingAudit,
)


@pytest.fixture
def settings(store: str, request: pytest.FixtureRequest) -> TenantSettingsStore:
    if store == FAKE:
        return InMemoryTenantSettings()
    return DynamoTenantSettings(request.getfixturevalue("new_table")("ControlTable"))


@pytest.fixture
def own_settings(store: str, request: pytest.FixtureRequest) -> UserSettingsStore:
    if store == FAKE:
        return InMemoryUserSettings()
    return DynamoUserSettings(request.getfixturevalue("new_table")("ControlTable"))


@pytest.fixture
def rates(store: str, request: pytest.FixtureRequest) -> RateCounter:
    if store == FAKE:
        return InMemoryRates()
    return DynamoRateCounter(request.getfixturevalue("new_table")("LedgerTable"))


def test_a_tenant_that_set_nothing_has_the_defaults(settings: TenantSettingsStore) -> None:
    assert settings.load(ACME) == TenantSettings()


def test_settings_are_kept_per_tenant(settings: TenantSettingsStore) -> None:
    chosen = TenantSettings(
        chat_enabled=False,
        chat_provider="openai",
        chat_model="modèle",
        chat_base_url="https://models.example/v1",
        chat_max_tokens_per_request=17,
        chat_allowed_providers=("openai", "mistral"),
        ai_default_provider="mistral",
        sealed_provider_keys={"mistral": "sealed"},
        provider_key_fingerprints={"mistral": "sha256:89ab"},
        ai_default_models={"mistral": "mistral-large-latest"},
        sealed_chat_api_key="sealed",
        chat_api_key_fingerprint="sha256:0123",
        sealed_embedding_api_key="sealed too",
        embedding_api_key_fingerprint="sha256:4567",
        embedding_api_key_origin="https://vectors.example",
        embedding_account="account-1",
        chat_monthly_budget_usd="500.00",
        chat_daily_tokens_per_user=0,
        chat_model_prices={"mine": {"input": "0", "output": "1.5"}},
    )
    settings.save(ACME, chosen)

    assert settings.load(ACME) == chosen
    assert settings.load(GLOBEX) == TenantSettings()


def test_a_users_settings_are_their_own(
    own_settings: UserSettingsStore,
) -> None:
    chosen = UserSettings(human_confirmation=True, human_confirmation_in_product=True)
    own_settings.change(ACME, ALICE, {"human_confirmation": True})
    changed = own_settings.change(ACME, ALICE, {"human_confirmation_in_product": True})

    assert changed == own_settings.change(ACME, ALICE, {}) == chosen
    assert own_settings.load(ACME, ALICE) == chosen
    assert own_settings.load(ACME, BOB) == own_settings.load(GLOBEX, ALICE) == UserSettings()


def test_saving_replaces_what_was_there(settings: TenantSettingsStore) -> None:
    settings.save(ACME, TenantSettings(chat_model="a", sealed_chat_api_key="sealed"))
    settings.save(ACME, TenantSettings(chat_model="b"))

    assert settings.load(ACME) == TenantSettings(chat_model="b")


@on_tables
def test_settings_saved_by_another_version_can_be_read(new_table: NewTable) -> None:
    table = new_table("ControlTable")
    stored = {**Key("TENANT#acme", "SETTINGS")._asdict(), "chat_model": "m", "of_the_future": 1}
    table.write(Put(item=stored))

    assert DynamoTenantSettings(table).load(ACME) == replace(TenantSettings(), chat_model="m")


def test_settings_are_saved_over_those_that_were_seen_alone(settings: TenantSettingsStore) -> None:
    seen = settings.load(ACME)
    settings.save(ACME, replace(seen, chat_model="first"), over=seen)

    with pytest.raises(ConflictError):
        settings.save(ACME, replace(seen, chat_model="second"), over=seen)

    now = settings.load(ACME)
    assert now.chat_model == "first"
    settings.save(ACME, replace(now, chat_model="third"), over=now)
    assert settings.load(ACME).chat_model == "third"
    settings.save(GLOBEX, TenantSettings(chat_model="g"), over=settings.load(GLOBEX))


@on_tables
def test_settings_from_before_they_were_counted_are_saved_over(new_table: NewTable) -> None:
    table = new_table("ControlTable")
    table.write(Put(item={"pk": f"TENANT#{ACME}", "sk": "SETTINGS", "chat_model": "m"}))
    store = DynamoTenantSettings(table)

    store.save(ACME, replace(store.load(ACME), chat_model="n"), over=store.load(ACME))

    assert store.load(ACME).chat_model == "n"


def test_calls_are_counted_per_key_and_window(rates: RateCounter) -> None:
    def count(key: str, window: int, *names: str) -> list[int]:
        counts = rates.add(key, names, window=window, expires_at=window + 60)
        assert counts.keys() == set(names)
        return list(counts.values())

    assert [count("a", 60, "calls") for _ in range(3)] == [[1], [2], [3]]
    assert count("a", 120, "calls") == [1]
    assert count("b", 60, "calls") == [1]
    assert count("a", 60, "calls", "tool:read_file") == [4, 1]
    assert count("a", 60, "tool:read_file") == [2]
    assert count("a", 60, "calls", "tool:list_vaults") == [5, 1]


@on_tables
def test_a_count_expires_some_time_after_its_window(new_table: NewTable) -> None:
    table = new_table("LedgerTable")
    DynamoRateCounter(table).add("a", ["calls"], window=60, expires_at=120)

    [item] = table.items("RATE#a")

    assert item["ttl"] == 120


def an_entry(at: datetime) -> AuditEntry:
    return AuditEntry(
        principal=principal(),
        action="read_file",
        at=at,
        outcome="ok",
        surface="mcp",
        milliseconds=12,
        arguments_digest="d" * 64,
        vault="notes",
        path="a.md",
        details={"size": "3"},
    )


@pytest.fixture
def audit(store: str, request: pytest.FixtureRequest) -> AuditLog:
    if store == FAKE:
        return RecordingAudit()
    return DynamoAuditLog(request.getfixturevalue("new_table")("AuditTable"))


NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)


def pages(
    audit: AuditLog, *, days: float = 190, until: datetime = NOON, limit: int, user: str = ""
) -> list[AuditEntry]:
    """Return the entries of all pages, each of which is short enough."""
    found: list[AuditEntry] = []
    cursor: str | None = None
    while True:
        page = audit.page(
            ACME,
            since=until - timedelta(days=days),
            until=until,
            user=UserId(user) if user else None,
            limit=limit,
            cursor=cursor,
        )
        assert len(page.entries) <= limit
        found += page.entries
        cursor = page.next_cursor
        if cursor is None:
            return found


def a_history(audit: AuditLog) -> list[AuditEntry]:
    """Write entries of half a year, some at one moment, and return them the newest first."""
    ages = [0.5, 1, 1, 3 * 60, 3 * 60, 13 * 60, 24 * 60, 45 * 1_440, 45 * 1_440 + 1, 180 * 1_440]
    entries = [
        replace(an_entry(NOON - timedelta(minutes=age)), milliseconds=number)
        for number, age in enumerate(ages)
    ]
    for entry in reversed(entries):
        audit.append(entry)
    audit.append(replace(entries[0], principal=principal(tenant=GLOBEX)))
    return entries


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_the_entries_of_a_tenant_are_read_back_the_newest_first(
    audit: AuditLog, limit: int
) -> None:
    written = a_history(audit)

    found = pages(audit, limit=limit)

    assert [entry.at for entry in found] == [entry.at for entry in written]
    assert sorted(found, key=lambda entry: entry.milliseconds) == written


def test_entries_of_a_time_are_read(audit: AuditLog) -> None:
    written = a_history(audit)

    assert pages(audit, days=0, limit=5) == []
    last_day = pages(audit, days=1, limit=5)
    assert [entry.milliseconds for entry in last_day][-1] == 6, "since is included"
    assert len(last_day) == 7
    before = pages(audit, until=written[5].at, limit=5)
    assert [entry.milliseconds for entry in before] == [6, 7, 8, 9], "until is not"
    assert {entry.milliseconds for entry in pages(audit, days=2 / 24, limit=5)} == {0, 1, 2}


def test_entries_of_one_person_are_read(audit: AuditLog) -> None:
    written = a_history(audit)
    of_bob = replace(written[4], principal=principal(BOB), milliseconds=99)
    audit.append(of_bob)

    assert pages(audit, limit=1, user=BOB) == [of_bob]
    assert len(pages(audit, limit=2)) == len(written) + 1


@pytest.mark.parametrize("cursor", ["x", "", "2026-13-45/", "2026-09-01", "0001-01-01/", "-1"])
def test_a_cursor_that_is_none_is_refused(audit: AuditLog, cursor: str) -> None:
    a_history(audit)

    with pytest.raises(InvalidRequestError) as refused:
        audit.page(ACME, since=NOON, until=NOON, limit=5, cursor=cursor)

    assert refused.value.code == "unknown_page"


def entries_of(table: DynamoTable, day: str) -> list[str]:
    return [item["at"] for item in table.items(f"TENANT#acme#{day}")]


@on_tables
def test_audit_entries_are_added_in_order_of_time_and_day(new_table: NewTable) -> None:
    table = new_table("AuditTable")
    log = DynamoAuditLog(table)
    noon = datetime(2026, 9, 1, 12, tzinfo=UTC)
    for minutes in (5, 0, 0):
        log.append(an_entry(noon + timedelta(minutes=minutes)))
    # Still the first of September elsewhere, the second by UTC.
    log.append(an_entry(datetime(2026, 9, 1, 23, tzinfo=timezone(-timedelta(hours=5)))))

    assert entries_of(table, "2026-09-01") == [
        "2026-09-01T12:00:00+00:00",
        "2026-09-01T12:00:00+00:00",
        "2026-09-01T12:05:00+00:00",
    ]
    assert entries_of(table, "2026-09-02") == ["2026-09-02T04:00:00+00:00"]


@on_tables
def test_an_audit_entry_says_who_did_what_and_nothing_of_the_content(new_table: NewTable) -> None:
    table = new_table("AuditTable")
    DynamoAuditLog(table).append(an_entry(datetime(2026, 9, 1, 12, tzinfo=UTC)))

    [item] = table.items("TENANT#acme#2026-09-01")

    del item["pk"], item["sk"]
    chain = ("lane", "number", "previous", "digest", "ttl")
    chain += ("who", "who_salt", "what", "what_salt")
    assert all(item.pop(name, None) is not None for name in chain)
    assert item == {
        "tenant": "acme",
        "user": "alice",
        "role": "viewer",
        "token_id": "token-of-acme-alice",
        "token_kind": "interactive",
        "action": "read_file",
        "at": "2026-09-01T12:00:00+00:00",
        "outcome": "ok",
        "surface": "mcp",
        "milliseconds": 12,
        "arguments_digest": "d" * 64,
        "vault": "notes",
        "path": "a.md",
        "details": {"size": "3"},
    }
