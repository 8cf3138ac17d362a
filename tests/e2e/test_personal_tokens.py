"""Personal access tokens on the running stack: through the front door, to REST and MCP."""

import base64

from tests.e2e.stack import Stack
from tests.entrypoints.mcp_messages import legacy


def test_a_personal_token_opens_every_door_until_it_is_revoked(stack: Stack) -> None:
    with stack.client() as person:
        made = person.post("/api/v1/tokens", json={"name": "agent", "read_only": True})
        assert made.status_code == 201
        token, owner = made.json()["token"], made.json()["user"]
        basic = base64.b64encode(f"{owner}:{token}".encode()).decode()
        stranger = base64.b64encode(f"somebody:{token}".encode()).decode()

        def statuses(header: str) -> list[int]:
            with stack.client("") as http:
                headers = {"Authorization": header}
                mcp = http.post("/mcp", json=legacy("ping").body, headers=headers)
                rest = http.get("/api/v1/vaults", headers=headers)
                return [mcp.status_code, rest.status_code]

        assert statuses(f"Bearer {token}") == [200, 200]
        assert statuses(f"Basic {basic}") == [200, 200]
        assert statuses(f"Basic {stranger}") == [401, 401]
        assert statuses(f"Bearer {token[:-1]}") == [401, 401]

        assert person.delete(f"/api/v1/tokens/{made.json()['id']}").status_code == 204

    # The front door has kept its answer: it is the functions that refuse.
    assert statuses(f"Bearer {token}") == [401, 401]
