"""What the shell tells the stack: the only reader of the process environment in this package."""

import os
from collections.abc import Mapping

from archivolt.settings import Settings

_KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "JAVA_HOME",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)
_DECIDED_BY_THE_STACK = frozenset({"aws_endpoint_url", "tmpdir"})


def variables() -> Mapping[str, str]:
    """Return the environment of this process."""
    return dict(os.environ)  # noqa: TID251  the composition root of the local stack


def for_children() -> dict[str, str]:
    """Return what every process of the stack inherits: how to run, never what to connect to."""
    ours = variables()
    return {name: ours[name] for name in _KEPT if name in ours}


def product_settings() -> dict[str, str]:
    """Return the product's settings that the shell gives; the stack's own values win over them."""
    known = {name.upper() for name in Settings.model_fields if name not in _DECIDED_BY_THE_STACK}
    return {name: value for name, value in variables().items() if name in known}
