"""Has indexes made anew, tells it as JSON: `python -m archivolt_local.reindex_vaults TENANT VAULT`.

Either may be empty, for all. It runs with a function's environment and every right, as the stack's
own maintenance code does.
"""

import json
import sys
from typing import Any

from archivolt.bootstrap import Container
from archivolt.settings import load_settings


def reindex(container: Container, *, tenant: str = "", vault: str = "") -> list[dict[str, Any]]:
    """Ask for every vault of a tenant and of a name to be rebuilt, or of all.

    Return the `tenant`, the `name` and the `status` of each.
    """
    told: list[dict[str, Any]] = []
    for ref in container.vault_directory.all_refs():
        name = container.vault_directory.get(ref).name
        if (tenant and ref.tenant != tenant) or (vault and name != vault):
            continue
        # On behalf of a member, whoever it is: the worker asks for no more than the vault.
        member = container.vault_directory.members(ref)[0][0]
        status = container.index.sync.rebuilds.request(member, ref)
        told.append({"tenant": ref.tenant, "name": name, "status": status.value})
    return sorted(told, key=lambda one: (one["tenant"], one["name"]))


if __name__ == "__main__":
    print(json.dumps(reindex(Container(load_settings()), tenant=sys.argv[1], vault=sys.argv[2])))
