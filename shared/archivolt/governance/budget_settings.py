"""The settings that bound what a tenant spends (S12, S15), as an administrator changes them."""

from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from archivolt.domain import spending_limits as limits
from archivolt.domain.limits import MAX_MODEL_NAME_CHARS

PAYS_FOR_VECTORS: Final = frozenset({"chat_monthly_budget_usd", "chat_model_prices"})
"""What may let vectors be made that were not paid for."""

Dollars = Annotated[
    Decimal, Field(ge=0, le=limits.MAX_BUDGET_DOLLARS, decimal_places=6, allow_inf_nan=False)
]
ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL_NAME_CHARS)]


class PriceOfModel(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: Dollars
    output: Dollars


def _digits(dollars: Decimal) -> str:
    return f"{dollars:f}"


def _plain(prices: dict[str, PriceOfModel]) -> dict[str, dict[str, str]]:
    return {
        model: {"input": _digits(price.input), "output": _digits(price.output)}
        for model, price in prices.items()
    }


class BudgetsChange(BaseModel):
    """What may be spent, and what models cost that no table knows."""

    chat_monthly_budget_usd: Annotated[Dollars, AfterValidator(_digits)] | None = Field(
        default=None,
        description="What the tenant may spend on models in a month of UTC, in US dollars: no call"
        " is made whose worst case does not fit. Null: no budget, 0: nothing that costs.",
    )
    chat_daily_tokens_per_user: int | None = Field(
        default=None,
        ge=0,
        le=limits.MAX_DAILY_TOKENS,
        description="How many tokens, sent and received, a user may use in a day of UTC.",
    )
    chat_model_prices: Annotated[dict[ModelName, PriceOfModel], AfterValidator(_plain)] | None = (
        Field(
            default=None,
            max_length=limits.MAX_PRICED_MODELS,
            description="What models of your own endpoint cost, in US dollars for a million tokens:"
            ' `{"my-model": {"input": 0.5, "output": 1.5}}`. A model without a price is refused;'
            " zero has to be said. They come before the prices we know.",
        )
    )
