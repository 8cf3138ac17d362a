"""A user's first request, at each door of the running stack, gives them a vault of their own."""

from collections.abc import Callable

import httpx2
import pytest

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.entrypoints.mcp_messages import modern

pytestmark = pytest.mark.one_python

API = "/api/v1"
Door = Callable[[httpx2.Client], int]


def rest(http: httpx2.Client) -> int:
    return http.get(f"{API}/vaults").status_code


def mcp(http: httpx2.Client) -> int:
    sent = modern("tools/list")
    return http.post("/mcp", json=sent.body, headers=sent.headers).status_code


def chat(http: httpx2.Client) -> int:
    return http.get(f"{API}/chat/conversations").status_code


@pytest.mark.parametrize("door", [rest, mcp, chat], ids=lambda door: door.__name__)
def test_who_is_new_has_a_vault_and_it_is_synchronised(stack: Stack, door: Door) -> None:
    user, tenant = f"new-by-{door.__name__}", "newcomers"
    with stack.client(stack.token(user, tenant=tenant, role=Role.VIEWER)) as http:
        assert door(http) == 200
        wait_until(
            lambda: stack.vault_status(f"Notes-{user}", http).get("last_sync") is not None,
            120,
            every=0.2,
        )
        [vault] = http.get(f"{API}/vaults").json()["vaults"]
        assert (vault["name"], vault["role"]) == (f"Notes-{user}", "owner")
        note = {"path": "first.md", "content": "# Llamas\n"}
        assert http.post(f"{API}/file/{vault['name']}", json=note).status_code == 201
