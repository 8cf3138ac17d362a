"""Lists, suspends and resumes tenants: `python -m archivolt_local.tenant_records list|suspend|…`.

It runs with a function's environment and every right, as the stack's own maintenance code does: the
way back in when nobody is left who could resume a tenant over the API.
"""

import json
import sys
from collections.abc import Sequence
from typing import Final

from archivolt.adapters.system.clock import SystemClock
from archivolt.bootstrap import Container
from archivolt.composition.tenancy import tenant_directory
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId
from archivolt.domain.messages import Language
from archivolt.domain.tenancy import Tenant, TenantState
from archivolt.domain.tenancy_limits import MAX_TENANTS
from archivolt.ports.tenancy import TenantDirectory
from archivolt.settings import load_settings

_STATES: Final = {"suspend": TenantState.SUSPENDED, "resume": TenantState.ACTIVE}


def change(directory: TenantDirectory, arguments: Sequence[str]) -> dict[str, object]:
    """Do one thing, and return the tenants it is about, or the `problem` that keeps it from it."""
    action, *names = arguments
    try:
        if action in _STATES:
            now = SystemClock().now()
            found = [directory.set_state(TenantId(names[0]), _STATES[action], now)]
        else:
            found = list(_all(directory))
    except (NotFoundError, ConflictError) as error:
        return {"problem": error.message(Language.EN)}
    return {"tenants": [{"id": each.id, "state": each.state.value} for each in found]}


def _all(directory: TenantDirectory) -> Sequence[Tenant]:
    found: list[Tenant] = []
    while page := directory.tenants(limit=MAX_TENANTS, after=found[-1].id if found else ""):
        found += page
    return found


if __name__ == "__main__":
    print(json.dumps(change(tenant_directory(Container(load_settings())), sys.argv[1:])))
