"""The one logger, and the rule for what may be logged: events, ids, counts, milliseconds.

Never content, prompts, paths' contents, arguments, tokens or keys.
"""

from aws_lambda_powertools import Logger

logger = Logger(service="archivolt")
