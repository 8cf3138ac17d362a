"""The one logger, and the rule for what may be logged: events, ids, counts, milliseconds.

Never content, prompts, paths' contents, arguments, tokens or keys.
"""

import traceback

from aws_lambda_powertools import Logger

logger = Logger(service="archivolt")


def failure(error: BaseException) -> dict[str, str]:
    """Return what may be logged of an error: its kind and place; its message may hold content."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return {"error": type(error).__name__, "place": place}
