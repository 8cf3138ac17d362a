"""What a person is told of a budget."""

from archivolt.domain.messages import Language, message_for
from archivolt.domain.stream import Notice
from archivolt.domain.usage import BudgetWarning, micros_to_dollars


def budget_notice(warning: BudgetWarning, language: Language) -> Notice:
    """Return the notice that little of a month's budget is left."""
    values = {
        "percent": warning.spent * 100 // warning.budget,
        "spent_usd": micros_to_dollars(warning.spent),
        "budget_usd": micros_to_dollars(warning.budget),
    }
    return Notice(code="budget_low", message=message_for("budget_low", language, values))
