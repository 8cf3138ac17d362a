"""What a user chose for themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """What applies to the next request of a user; it may tighten what their tenant chose.

    With `human_confirmation` a change by their agents takes their yes; with
    `human_confirmation_in_product`, one given in the product.
    """

    human_confirmation: bool = False
    human_confirmation_in_product: bool = False
