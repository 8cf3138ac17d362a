"""What an administrator may say of budgets and prices."""

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from archivolt.domain.identity import Role
from archivolt.domain.settings import TenantSettings
from archivolt.domain.usage import Budgets, ModelPrice
from archivolt.governance.settings import SettingsChange, SettingsService
from tests.builders import ACME, principal
from tests.fakes.governance import InMemoryTenantSettings, ReversibleBox
from tests.fakes.tenancy import InMemoryTenants

ADMIN = principal("ada", role=Role.TENANT_ADMIN)


def changed(*changes: dict[str, Any]) -> TenantSettings:
    service = SettingsService(InMemoryTenantSettings(), ReversibleBox(), InMemoryTenants())
    for change in changes:
        parsed = SettingsChange.model_validate_json(json.dumps(change))
        service.change(ADMIN, ACME, parsed)
    return service.show(ADMIN, ACME)


def test_nothing_is_bounded_unless_somebody_says_so() -> None:
    assert TenantSettings().budgets == Budgets()
    assert TenantSettings().price_of("gpt-4o") is None


@pytest.mark.parametrize(
    ("dollars", "micros"),
    [(500.00, 500_000_000), ("0.000001", 1), (0, 0), (1_000, 1_000_000_000), ("1E+2", 100_000_000)],
)
def test_a_budget_is_exact_to_the_micro_dollar(dollars: float | str, micros: int) -> None:
    assert changed({"chat_monthly_budget_usd": dollars}).budgets.monthly_micros == micros


def test_null_takes_a_budget_back() -> None:
    settings = changed(
        {"chat_monthly_budget_usd": 5, "chat_daily_tokens_per_user": 0},
        {"chat_monthly_budget_usd": None, "chat_daily_tokens_per_user": None},
    )

    assert settings == TenantSettings()


def test_a_price_may_be_zero_and_has_to_be_said() -> None:
    prices = {"mine": {"input": 0, "output": 0}, "theirs": {"input": 0.5, "output": "1.5"}}
    settings = changed({"chat_model_prices": prices})

    assert settings.price_of("mine") == ModelPrice(input=Decimal(0), output=Decimal(0))
    assert settings.price_of("theirs") == ModelPrice(input=Decimal("0.5"), output=Decimal("1.5"))
    assert settings.price_of("others") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"chat_monthly_budget_usd": -1},
        {"chat_monthly_budget_usd": "0.0000001"},
        {"chat_monthly_budget_usd": "NaN"},
        {"chat_monthly_budget_usd": 10_000_000_000},
        {"chat_daily_tokens_per_user": -1},
        {"chat_daily_tokens_per_user": 1.5},
        {"chat_model_prices": {"mine": {"input": 1}}},
        {"chat_model_prices": {"mine": {"input": -1, "output": 1}}},
        {"chat_model_prices": {"": {"input": 1, "output": 1}}},
        {"chat_model_prices": {f"m{n}": {"input": 1, "output": 1} for n in range(101)}},
    ],
)
def test_what_is_no_budget_and_no_price_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SettingsChange.model_validate_json(json.dumps(wrong))
