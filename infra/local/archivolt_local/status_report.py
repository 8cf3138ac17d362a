"""Writes the running stack's state as JSON: `python -m archivolt_local.status_report QUEUE…`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from archivolt.bootstrap import Container
from archivolt.domain.redaction import redact
from archivolt.domain.vault import VaultRef
from archivolt.ports.index_runs import IndexRun
from archivolt.settings import load_settings
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.redrive_queues import dead_letters

_SHOWN: Final = 10


def report(container: Container, queues: Sequence[str]) -> dict[str, Any]:
    """Return the vaults of every tenant with the state of their index, and the queues."""
    aws = StackClients(container.settings.aws_endpoint_url, container.settings.aws_endpoint_url)
    vaults = [_vault(container, ref) for ref in container.vault_directory.all_refs()]
    return {
        "vaults": sorted(vaults, key=lambda vault: (vault["tenant"], vault["name"])),
        "queues": [_queue(aws, name) for name in sorted(queues)],
    }


def _vault(container: Container, ref: VaultRef) -> dict[str, Any]:
    counts = container.catalogue.counts(ref)
    run = container.index.sync.runs.get(ref)
    return {
        "tenant": ref.tenant,
        "name": container.vault_directory.get(ref).name,
        "files": sum(counts.values()),
        "states": {state.value: number for state, number in counts.items() if number},
        "attention": [
            {"path": redact(entry.path).text, "state": entry.state.value, "reason": entry.reason}
            for entry in container.catalogue.unindexed(ref, limit=_SHOWN)
        ],
        "last_sync": run.compared_at.isoformat() if run.compared_at else None,
        "rebuild": _rebuild(run),
    }


def _rebuild(run: IndexRun) -> dict[str, Any] | None:
    if run.rebuild_since is None:
        return None
    return {"since": run.rebuild_since.isoformat(), "done": run.rebuilt}


def _queue(aws: StackClients, name: str) -> dict[str, Any]:
    url = aws.queues.get_queue_url(QueueName=name)["QueueUrl"]
    found = aws.queues.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return {
        "name": name,
        "waiting": int(found["ApproximateNumberOfMessages"]),
        "in_work": int(found["ApproximateNumberOfMessagesNotVisible"]),
        "dead": dead_letters(aws.queues, name),
    }


if __name__ == "__main__":
    print(json.dumps(report(Container(load_settings()), sys.argv[1:])))
