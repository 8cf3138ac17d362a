"""How usage is shown: as JSON, and as a table for spreadsheets."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, Self

from pydantic import BaseModel, Field

from archivolt.domain.usage import Usage, micros_to_dollars
from archivolt.governance.usage import Allowance, UsageReport

_COLUMNS: Final = ("period", "by", "name", "calls", "input_tokens", "output_tokens", "cost_usd")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


class UsageRow(BaseModel):
    """Calls to providers, their tokens, and what they cost in US dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: str = Field(description="In decimal digits, exactly.")


class UsageOfUser(UsageRow):
    """What one user used; null is the index of the tenant's documents."""

    user: str | None


class UsageOfModel(UsageRow):
    """What one model was used for."""

    provider: str
    model: str


class UsageOfDay(UsageRow):
    """What was used on a day of UTC."""

    day: str


class DailyTokens(BaseModel):
    """The caller's own tokens of today."""

    limit: int | None
    remaining: int | None
    renews_at: datetime


class UsageBody(UsageRow):
    """What was used in a month of UTC."""

    period: str = Field(description="As `2026-11`.")
    budget_usd: str | None = Field(description="The tenant's for this month; null: none is set.")
    remaining_usd: str | None = Field(
        description="What is left of it, without what is set aside for calls under way."
    )
    renews_at: datetime | None = Field(description="When the budget renews.")
    daily_tokens: DailyTokens | None = Field(default=None, description="Of your own usage alone.")
    users: int = Field(description="How many people used something.")
    by_user: list[UsageOfUser] = Field(description="Empty for who may not see whose it was.")
    by_model: list[UsageOfModel]
    by_day: list[UsageOfDay]

    @classmethod
    def of(cls, report: UsageReport) -> Self:
        """Return a report as it is shown."""
        usage, budget = report.usage, report.budget
        return cls(
            period=report.period,
            **_row(usage.total),
            budget_usd=_dollars(budget and budget.limit),
            remaining_usd=_dollars(budget and budget.left),
            renews_at=budget and budget.renews_at,
            daily_tokens=report.daily and _daily(report.daily),
            users=report.users,
            by_user=[
                UsageOfUser(user=user or None, **_row(each.total))
                for user, each in sorted((report.by_user or {}).items())
            ],
            by_model=[
                UsageOfModel(provider=of.provider, model=of.model, **_row(each))
                for of, each in usage.by_model.items()
            ],
            by_day=[UsageOfDay(day=day, **_row(each)) for day, each in usage.by_day.items()],
        )

    def table(self) -> str:
        """Return the same as CSV: a row for the whole, one a user, a model, a day."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\r\n")
        rows.writerow(_COLUMNS)
        for by, name, row in self._rows():
            amounts = (row.calls, row.input_tokens, row.output_tokens, row.cost_usd)
            rows.writerow((self.period, by, _cell(name), *amounts))
        return text.getvalue()

    def _rows(self) -> Iterator[tuple[str, str, UsageRow]]:
        yield "total", "", self
        for user in self.by_user:
            yield "user", user.user or "", user
        for model in self.by_model:
            yield "model", f"{model.provider}/{model.model}", model
        for day in self.by_day:
            yield "day", day.day, day


def _row(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": micros_to_dollars(usage.micros),
    }


def _dollars(micros: int | None) -> str | None:
    return None if micros is None else micros_to_dollars(micros)


def _daily(allowance: Allowance) -> DailyTokens:
    return DailyTokens(
        limit=allowance.limit, remaining=allowance.left, renews_at=allowance.renews_at
    )


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULAS) else text
