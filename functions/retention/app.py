"""The retention function: what is over age is removed, once a day."""

from functools import cache

from archivolt.bootstrap import container
from archivolt.composition.retention import RetentionContainer
from archivolt.entrypoints.events.retention import build_retention

retention = cache(lambda: RetentionContainer(container()))

handler = build_retention(lambda: retention().sweep, lambda: container().clock)
