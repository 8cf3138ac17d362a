"""`ModelCatalogue` from `table.json`, read when it is first asked."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import DEFAULT_CONTEXT_TOKENS
from archivolt.domain.usage import ModelPrice
from archivolt.ports.model_catalogue import ModelCapabilities

# A name may end in a date, a number of an edition, or "latest"; Ollama's in a size.
_EDITION: Final = re.compile(r"(?:-(?:latest|\d{3,8}|\d{4}-\d{2}-\d{2})|:[\w.-]+)$")
# The vendors of OpenRouter's names whose models are listed under a provider's.
_VENDORS: Final = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google": "gemini",
    "mistralai": "mistral",
    "openai": "openai",
}
# It reads what it is given whole, and costs nothing.
_NO_WINDOW: Final = 10_000_000
_Entry = dict[str, Any]


class ModelTable:
    """Knows the models of the table, their editions, and families by their names."""

    def capabilities(self, provider: str, model: str) -> ModelCapabilities:
        """Return what a model can do; of an unknown one only that it chats."""
        entry = self._entry(provider, model)
        name = model.lower().rpartition("/")[2]
        families = (each for each in self._families if fnmatchcase(name, each["name"]))
        return _capabilities(entry or next(families, {"can": ["chat"]}))

    def context_tokens(self, provider: str, model: str) -> int:
        """Return how many tokens a model takes; of an unknown one, `DEFAULT_CONTEXT_TOKENS`."""
        if provider == "embedded":
            return _NO_WINDOW
        name = model.lower().rpartition("/")[2]
        windows = (each for each in self._table["windows"] if fnmatchcase(name, each["name"]))
        return next(windows, {"tokens": DEFAULT_CONTEXT_TOKENS})["tokens"]

    def models(self, provider: str) -> Mapping[str, ModelCapabilities]:
        """Return the models of a provider that people choose from, the best known first."""
        return {each["id"]: _capabilities(each) for each in self._providers.get(provider, [])}

    def price(self, provider: str, model: str) -> ModelPrice:
        """Return what a model costs, behind a gateway what it costs at its vendor.

        Raises:
            InvalidRequestError: `model_price_unknown`.

        """
        entry = self._entry(provider, model) or self._vendors_entry(model) or {}
        if "input" not in entry:
            raise InvalidRequestError("model_price_unknown", model=model, provider=provider)
        return ModelPrice(input=Decimal(entry["input"]), output=Decimal(entry["output"]))

    def _entry(self, provider: str, model: str) -> _Entry | None:
        listed = self._providers.get(provider, [])
        vendor, _, name = model.partition("/")
        if provider == "openrouter" and vendor in _VENDORS:
            # A free or otherwise marked edition has another price.
            listed, model = self._providers[_VENDORS[vendor]], name.replace(":", "/")
        # OpenRouter writes the numbers of Anthropic's models with a point.
        known = model.replace(".", "-") if vendor == "anthropic" else model
        names = (known, _EDITION.sub("", known))
        return next((each for each in listed if each["id"] in names), None)

    def _vendors_entry(self, model: str) -> _Entry | None:
        """Return the dearest model of a name, whoever is named as its provider."""
        found = [self._entry(provider, model) for provider in self._providers]
        priced = [each for each in found if each and "input" in each]
        return max(priced, key=lambda each: Decimal(each["output"]), default=None)

    @property
    def _providers(self) -> dict[str, list[_Entry]]:
        return self._table["providers"]

    @property
    def _families(self) -> list[_Entry]:
        return self._table["families"]

    @cached_property
    def _table(self) -> dict[str, Any]:
        text = files("archivolt.adapters.models").joinpath("table.json").read_text(encoding="utf-8")
        return json.loads(text)


def _capabilities(entry: _Entry) -> ModelCapabilities:
    return ModelCapabilities(**dict.fromkeys(entry["can"], True))
