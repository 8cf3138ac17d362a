"""Vectors from a provider are metered and budgeted as answers are (S15): a tenant's, no user's.

Who has no budget left keeps the search by words, and documents wait for their vectors.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from archivolt.domain.errors import BudgetExceededError, InvalidRequestError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import FREE, Account, ModelPrice, Tokens
from archivolt.governance.metering import Meter
from archivolt.governance.request_size import estimated_tokens
from archivolt.ports.governance import TenantSettingsStore
from archivolt.ports.model_catalogue import ModelCatalogue

# What a tokenizer puts around a text.
_AROUND: Final = 8
# What left may have been read, and counted.
_CHARGED_REASONS: Final = frozenset({"provider_silent", "provider_connection"})
T = TypeVar("T")


class EmbeddingAccounts:
    """Pays for the vectors of tenants, at one provider's price.

    Args:
        meter: Meters the calls.
        settings: The tenants' budgets, and their own prices.
        catalogue: Knows prices.
        provider: The provider's name.
        model: Its model.
        price: What the deployment says a million tokens cost in dollars; None: it says nothing.

    """

    def __init__(
        self,
        meter: Meter,
        settings: TenantSettingsStore,
        catalogue: Callable[[], ModelCatalogue],
        *,
        provider: str,
        model: str,
        price: ModelPrice | None,
    ) -> None:
        self._meter = meter
        self._settings = settings
        self._catalogue = catalogue
        self._provider = provider
        self._model = model
        self._price = price

    def paid(
        self,
        tenant: TenantId,
        texts: Sequence[str],
        ask: Callable[[], T],
        used: Callable[[T], int],
    ) -> T:
        """Return the answer to one call, which is paid for.

        Args:
            tenant: Who pays.
            texts: What is sent.
            ask: Makes the call.
            used: Tells how many tokens an answer says it took; 0: it says nothing.

        Raises:
            UnavailableError: `embedding_budget_spent`, `embedding_price_unknown`; or as `ask`.

        """
        account = self._account(tenant)
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        worst = Tokens(input=size + _AROUND * len(texts), output=0)
        estimate = Tokens(input=estimated_tokens(size), output=0)
        try:
            reservation = self._meter.reserve(account, worst, sent=True)
        except BudgetExceededError as error:
            raise UnavailableError("embedding_budget_spent") from error
        try:
            answer = ask()
        except UnavailableError as error:
            if error.details.get("reason") in _CHARGED_REASONS:
                self._meter.settle(account, reservation, estimate)
            else:
                self._meter.give_back(reservation)
            raise
        told = used(answer)
        self._meter.settle(account, reservation, Tokens(input=told, output=0) if told else estimate)
        return answer

    def _account(self, tenant: TenantId) -> Account:
        settings = self._settings.load(tenant)
        price = settings.price_of(self._model) or self._price or self._known_price()
        if price is None and settings.budgets.monthly_micros is not None:
            raise UnavailableError("embedding_price_unknown")
        return Account(
            tenant=tenant,
            user=UserId(""),
            provider=self._provider,
            model=self._model,
            price=price or FREE,
            # What each user may have a day is no limit of what all of them have together.
            budgets=replace(settings.budgets, daily_tokens=None),
        )

    def _known_price(self) -> ModelPrice | None:
        try:
            return self._catalogue().price(self._provider, self._model)
        except InvalidRequestError:
            return None
