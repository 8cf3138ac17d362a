"""Who leaves the running stack leaves nothing in it: no item, version, vector or log has a word.

Of a collection that stays the vector store keeps what was deleted in its own log of writes for a
while (docs/operations.md): what it answers with is looked at, not its files.
"""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from archivolt.adapters.erasure.inventory import KINDS
from archivolt.domain.identity import Role
from archivolt_local.environment import for_children
from archivolt_local.private_files import read_json
from tests.e2e.stack import Stack, wait_until

pytestmark = pytest.mark.one_python

API = "/api/v1"
TENANT = "leavers"
CANARY = "canaryquokka"
OF_OTHERS = "stayingwombat"
SHARED = "leavers shared"
SECONDS = 120


def test_who_erases_themselves_leaves_nothing_and_takes_a_receipt(stack: Stack) -> None:
    leaver = stack.token("lea", tenant=TENANT, role=Role.VIEWER)
    stays = stack.token("sam", tenant=TENANT, role=Role.TENANT_ADMIN)
    with stack.client(leaver) as http, stack.client(stays) as admin:
        fill(http, CANARY, vault="Notes-lea")
        fill(admin, OF_OTHERS, vault="Notes-sam")
        share(admin, http)
        for word, client, vault in ((CANARY, http, "Notes-lea"), (OF_OTHERS, admin, "Notes-sam")):
            wait_until(lambda c=client, w=word, v=vault: is_found(c, w, v), SECONDS, every=0.5)
            wait_until(lambda c=client, v=vault: is_compared(c, v), SECONDS, every=0.5)
        assert holds(stack, CANARY)
        others = holds(stack, OF_OTHERS)

        begun = http.delete(f"{API}/me", params={"confirm": "lea"})
        assert begun.status_code == 202, begun.text
        receipt = receipt_of(admin, begun.headers["location"])

        assert receipt["complete"] is True
        # What the index was at meanwhile, the second walk may have found: the last one did not.
        assert receipt["verified_at"]
        deleted = {each["store"]: each["deleted"] for each in receipt["stores"]}
        wanted = {"control", "conversations", "documents", "derived", "catalogue", "vectors"}
        assert wanted <= {store for store, number in deleted.items() if number}
        assert "lea" not in {receipt["subject"], receipt["asked_by"]}
        assert holds(stack, CANARY) == []
        assert len(holds(stack, OF_OTHERS)) >= len(others) - 2
        assert is_found(admin, OF_OTHERS, "Notes-sam")
        assert admin.get(f"{API}/vaults").json()["vaults"]


def test_a_tenant_that_is_erased_leaves_its_name_alone(stack: Stack) -> None:
    tenant, word = "ephemeral", "fleetingbilby"
    eve = stack.token("eve", tenant=tenant, role=Role.TENANT_ADMIN)
    with (
        stack.client(eve) as http,
        stack.client(stack.token("root", tenant="operators", role=Role.CPI_ADMIN)) as root,
    ):
        fill(http, word, vault="Notes-eve")
        change = {"chat_base_url": f"https://{word}.example/v1"}
        assert http.put(f"{API}/tenants/{tenant}/settings", json=change).status_code == 200
        wait_until(lambda: is_found(http, word, "Notes-eve"), SECONDS, every=0.5)

        begun = root.delete(f"{API}/tenants/{tenant}", params={"confirm": tenant})
        assert begun.status_code == 202, begun.text
        receipt = receipt_of(root, begun.headers["location"])

        assert receipt["complete"] is True
        assert holds(stack, word) == []
        # Its id stays with the receipt, and in the log of whoever had it erased.
        left = [
            place
            for place in holds(stack, tenant)
            if "ERASURE" not in place and "TENANT#operators#" not in place
        ]
        assert {place.partition(":")[2].strip() for place in left if place.startswith("arch")} <= {
            f"TENANT#{tenant} / STATE",
            f"TENANTS / {tenant}",
        }
        assert http.get(f"{API}/vaults").json()["error"]["code"] == "tenant_deleting"


def test_every_kind_of_item_in_the_stack_is_in_the_inventory(stack: Stack) -> None:
    known = {(f"archivolt-{kind.table}", kind.name) for kind in KINDS}
    met = {
        (table, item["pk"]["S"].partition("#")[0])
        for table in tables(stack)
        for item in items(stack, table)
    }

    assert met <= known
    assert met


def test_the_purge_tells_what_it_would_remove(stack: Stack) -> None:
    command = stack.command("retention", "--dry-run")
    done = subprocess.run(command, env=for_children(), capture_output=True, check=True)

    assert b"0 conversations would be removed" in done.stdout


def fill(http: httpx2.Client, word: str, *, vault: str) -> None:
    """Put a word into a note, a conversation, a skill, a tool's arguments and a setting."""
    assert http.get(f"{API}/vaults").status_code == 200
    wait_until(
        lambda: vault in [each["name"] for each in http.get(f"{API}/vaults").json()["vaults"]],
        SECONDS,
        every=0.5,
    )
    note = {"path": f"{word}.md", "content": f"# The {word}\n\nIt sleeps by day.\n"}
    assert http.post(f"{API}/file/{vault}", json=note).status_code == 201
    skill = {"id": word, "title": word, "prompt": f"Think of the {word}.", "keywords": [word]}
    assert http.post(f"{API}/ai/skills", json=skill).status_code in {200, 201}
    said = {"message": f"Where does the {word} sleep?", "stream": False}
    assert http.post(f"{API}/chat/messages", json=said).status_code == 200
    asked = {"vault": vault, "q": word}
    assert http.post(f"{API}/tools/search_fulltext", json=asked).status_code == 200
    token = {"name": word, "read_only": True}
    assert http.post(f"{API}/tokens", json=token).status_code in {200, 201}


def share(owner: httpx2.Client, other: httpx2.Client) -> None:
    """Have both in one vault, which stays."""
    assert owner.post(f"{API}/vaults", json={"name": SHARED}).status_code == 201
    member = owner.put(f"{API}/vaults/{SHARED}/members/lea", json={"role": "writer"})
    assert member.status_code == 200
    assert SHARED in [each["name"] for each in other.get(f"{API}/vaults").json()["vaults"]]


def is_found(http: httpx2.Client, word: str, vault: str) -> bool:
    """Tell whether a document is found by its meaning, which comes last."""
    body = {"q": word, "vault": vault, "mode": "dense", "threshold": 0.0}
    answer = http.post(f"{API}/tools/search_documents", json=body)
    return bool(answer.status_code == 200 and answer.json()["result"]["hits"])


def is_compared(http: httpx2.Client, vault: str) -> bool:
    """Tell whether a new vault's first comparison is over: an erasure gives it two seconds here."""
    return http.get(f"{API}/vault/{vault}/index").json()["last_sync"] is not None


def receipt_of(http: httpx2.Client, address: str) -> Mapping[str, Any]:
    wait_until(lambda: http.get(address).json()["state"] == "done", SECONDS, every=0.5)
    return http.get(address).json()


def tables(stack: Stack) -> list[str]:
    return stack.aws.tables.list_tables()["TableNames"]


def items(stack: Stack, table: str) -> list[dict[str, Any]]:
    pages = stack.aws.tables.get_paginator("scan").paginate(TableName=table)
    return [item for page in pages for item in page["Items"]]


def holds(stack: Stack, word: str) -> list[str]:
    """Return every place that has a word: items, versions of objects, vectors, messages, logs."""
    found = [
        f"{table}: {item['pk']['S']} / {item['sk']['S']}"
        for table in tables(stack)
        for item in items(stack, table)
        if word in json.dumps(item, default=str, ensure_ascii=False)
    ]
    found += [place for place, text in versions(stack) if word in text or word in place]
    found += [place for place, text in points(stack) if word in text]
    logs = [*stack.data.logs.glob("*.log"), *stack.root.glob("*.txt")]
    return found + [log.name for log in logs if word.encode() in log.read_bytes()]


def points(stack: Stack) -> list[tuple[str, str]]:
    """Return the points of every collection, and what they carry."""
    port = read_json(stack.data.stack)["vectors_port"]
    headers = {"api-key": str(read_json(stack.data.keys)["vectors"])}
    found: list[tuple[str, str]] = []
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{port}", headers=headers, trust_env=False
    ) as client:
        for each in client.get("/collections").json()["result"]["collections"]:
            asked = {"limit": 10_000, "with_payload": True}
            page = client.post(f"/collections/{each['name']}/points/scroll", json=asked).json()
            for point in page["result"]["points"]:
                payload = json.dumps(point["payload"], ensure_ascii=False)
                found.append((f"vectors: {each['name']}", payload))
    return found


def versions(stack: Stack) -> list[tuple[str, str]]:
    # The stubs have every field of an answer as one that may lack.
    objects: Any = stack.aws.objects
    [bucket] = [each["Name"] for each in objects.list_buckets()["Buckets"]]
    pages = objects.get_paginator("list_object_versions").paginate(Bucket=bucket)
    found: list[tuple[str, str]] = []
    for page in pages:
        found += [(f"mark {mark['Key']}", "") for mark in page.get("DeleteMarkers", [])]
        for version in page.get("Versions", []):
            body = objects.get_object(
                Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"]
            )["Body"]
            text = body.read().decode("utf-8", "replace")
            found.append((f"{version['Key']} {version['VersionId']}", text))
    return found
