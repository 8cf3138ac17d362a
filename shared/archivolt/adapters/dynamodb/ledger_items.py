"""The items of the ledger table: where they are, and what is in them."""

from collections.abc import Mapping
from typing import Any, Final

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.values import Item
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import ModelOfProvider, Reservation, Tokens, Usage, UsageOf

# A day's usage is under `d:2026-11-30:calls`, a model's under `m:openai/gpt-4o:calls`.
_FIELDS: Final = {
    "calls": "calls",
    "in": "input_tokens",
    "out": "output_tokens",
    "micros": "micros",
}
_DAY, _MODEL = "d", "m"


def pk_of(tenant: TenantId) -> str:
    """Return the partition of a tenant."""
    return f"TENANT#{tenant}"


def held_key(reservation: Reservation) -> Key:
    """Return where a reservation is: in the order in which they expire."""
    expiry = to_number(reservation.expires_at)
    return Key(pk_of(reservation.tenant), f"HELD#{expiry:020d}#{reservation.id}")


def month_key(tenant: TenantId, month: str) -> Key:
    """Return where the usage of a tenant in a month is."""
    return Key(pk_of(tenant), f"MONTH#{month}")


def user_prefix(month: str) -> str:
    """Return what the sort keys of all users in a month begin with."""
    return f"USER#{month}#"


def user_key(tenant: TenantId, user: UserId, month: str) -> Key:
    """Return where the usage of a user in a month is."""
    return Key(pk_of(tenant), f"{user_prefix(month)}{user}")


def held_item(reservation: Reservation) -> Item:
    """Return the item of a reservation."""
    return {
        **held_key(reservation)._asdict(),
        "id": reservation.id,
        "user": reservation.user,
        "conversation": reservation.conversation,
        "provider": reservation.provider,
        "model": reservation.model,
        "in": reservation.worst.input,
        "out": reservation.worst.output,
        "micros": reservation.micros,
        "made_at": to_number(reservation.made_at),
        "expires_at": to_number(reservation.expires_at),
        "sent": reservation.sent,
    }


def reservation_in(item: Mapping[str, Any], tenant: TenantId) -> Reservation:
    """Return the reservation of an item."""
    return Reservation(
        id=item["id"],
        tenant=tenant,
        user=UserId(item["user"]),
        conversation=item["conversation"],
        provider=item["provider"],
        model=item["model"],
        worst=Tokens(input=item["in"], output=item["out"]),
        micros=item["micros"],
        made_at=from_number(item["made_at"]),
        expires_at=from_number(item["expires_at"]),
        sent=item["sent"],
    )


def usage_changes(reservation: Reservation, used: Tokens, micros: int) -> dict[str, int]:
    """Return what a call adds to the usage of its day and of its model."""
    added = {"calls": 1, "in": used.input, "out": used.output, "micros": micros}
    names = (
        f"{_DAY}:{reservation.day}",
        f"{_MODEL}:{reservation.provider}/{reservation.model}",
    )
    return {f"{name}:{field}": amount for name in names for field, amount in added.items()}


def usage_in(item: Mapping[str, Any]) -> UsageOf:
    """Return the usage that an item holds."""
    found: dict[str, dict[str, dict[str, int]]] = {_DAY: {}, _MODEL: {}}
    for attribute, amount in item.items():
        kind, _, rest = attribute.partition(":")
        name, _, field = rest.rpartition(":")
        if kind in found and name:
            found[kind].setdefault(name, {})[_FIELDS[field]] = int(amount)
    by_day = {day: Usage(**amounts) for day, amounts in sorted(found[_DAY].items())}
    by_model = {_model(name): Usage(**amounts) for name, amounts in sorted(found[_MODEL].items())}
    return UsageOf(total=sum(by_day.values(), Usage()), by_model=by_model, by_day=by_day)


def _model(name: str) -> ModelOfProvider:
    provider, _, model = name.partition("/")
    return ModelOfProvider(provider=provider, model=model)
