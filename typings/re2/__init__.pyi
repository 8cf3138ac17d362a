"""google-re2 1.1, as far as the product uses it: patterns are text, what they look at is bytes."""

import re

class error(Exception): ...  # noqa: N801, N818  the library's own name

class Options:
    case_sensitive: bool
    log_errors: bool
    never_nl: bool

def compile(pattern: str, options: Options | None = None) -> re.Pattern[bytes]: ...  # noqa: A001
def escape(pattern: str) -> str: ...
