"""The one logger, and the rule for what may be logged: events, ids, counts, milliseconds.

Never content, prompts, paths' contents, arguments, tokens or keys.
"""

import traceback
from collections.abc import Mapping
from typing import Final

from aws_lambda_powertools import Logger

logger = Logger(service="archivolt")

_NAMESPACE: Final = "archivolt"


def failure(error: BaseException) -> dict[str, str]:
    """Return what may be logged of an error: its kind and place; its message may hold content."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return {"error": type(error).__name__, "place": place}


def measured(values: Mapping[str, float]) -> None:
    """Give numbers to the metrics of CloudWatch, as one line of the log."""
    # Few functions measure anything: the others do not pay for the import.
    from aws_lambda_powertools import Metrics  # noqa: PLC0415  few measure
    from aws_lambda_powertools.metrics import MetricUnit  # noqa: PLC0415  few measure

    metrics = Metrics(namespace=_NAMESPACE, service="archivolt")
    for name, value in values.items():
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
    metrics.flush_metrics()
