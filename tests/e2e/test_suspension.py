"""A suspended tenant is out at every door of the running stack within seconds, and comes back."""

from contextlib import ExitStack

import pytest

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.entrypoints.mcp_messages import legacy

pytestmark = pytest.mark.one_python

TENANT = "suspended-tenant"


def test_a_suspended_tenant_is_out_everywhere_within_seconds_and_comes_back(stack: Stack) -> None:
    with ExitStack() as opened:
        root = opened.enter_context(
            stack.client(stack.token("root", tenant="operators", role=Role.CPI_ADMIN))
        )
        somebody = opened.enter_context(
            stack.client(stack.token("somebody", tenant=TENANT, role=Role.VIEWER))
        )

        def told() -> set[tuple[int, str]]:
            answers = [
                somebody.get("/api/v1/vaults"),
                somebody.get("/api/v1/chat/conversations"),
                somebody.post("/mcp", json=legacy("ping").body),
            ]
            return {
                (answer.status_code, answer.json().get("error", {}).get("code", ""))
                for answer in answers
            }

        assert told() == {(200, "")}
        listed = root.get("/api/v1/tenants").json()["tenants"]
        assert {"id": TENANT, "state": "active"}.items() <= next(
            each for each in listed if each["id"] == TENANT
        ).items()
        [user] = root.get(f"/api/v1/tenants/{TENANT}/users").json()["users"]
        assert (user["user"], user["role"]) == ("somebody", "viewer")

        assert root.post(f"/api/v1/tenants/{TENANT}/suspend").status_code == 200
        wait_until(lambda: told() == {(403, "tenant_suspended")}, 30)

        assert root.post(f"/api/v1/tenants/{TENANT}/resume").status_code == 200
        wait_until(lambda: told() == {(200, "")}, 30)
