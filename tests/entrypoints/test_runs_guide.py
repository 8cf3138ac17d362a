"""The guide's receivers of webhooks, in two languages, take what we sign and nothing else."""

import json
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.webhook import WebhookEvent, WebhookMessage, secret_text, signed_headers
from archivolt.governance.webhook_changes import WebhookChange
from tests.guide import RUNS_GUIDE, examples

SECRET, OTHER = secret_text(bytes(range(32))), secret_text(bytes(32))


def cases() -> list[tuple[dict[str, str], str, bool]]:
    """Return what a receiver is given with the secret, signed at this moment; is it genuine?"""
    now = SystemClock().now()
    message = WebhookMessage(id="msg_1", event=WebhookEvent.RUN_ENDED, at=now, data={"run": "été"})
    body = message.body.decode()

    def signed(secrets: list[str], ago: timedelta = timedelta()) -> dict[str, str]:
        return dict(signed_headers(message, secrets, now=now - ago))

    genuine = signed([OTHER, SECRET])
    return [
        (genuine, body, True),
        (genuine, body + " ", False),
        ({**genuine, "webhook-id": "msg_2"}, body, False),
        (signed([OTHER]), body, False),
        (signed([SECRET], timedelta(minutes=6)), body, False),
        ({**genuine, "webhook-signature": "v1,"}, body, False),
    ]


def test_the_receiver_in_python_takes_what_is_genuine() -> None:
    [example] = examples(RUNS_GUIDE, "python")
    defined: dict[str, Any] = {}
    exec(example.text, defined)  # noqa: S102  the guide's own

    for headers, body, genuine in cases():
        assert defined["is_genuine"](SECRET, headers, body.encode()) is genuine


@pytest.mark.one_python
def test_the_receiver_in_javascript_takes_what_is_genuine(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    [example] = examples(RUNS_GUIDE, "js")
    (tmp_path / "receiver.mjs").write_text(example.text, encoding="utf-8")
    given = cases()
    asked = json.dumps([[SECRET, headers, body] for headers, body, _ in given])
    (tmp_path / "asks.mjs").write_text(
        'import { isGenuine } from "./receiver.mjs";\n'
        f"const asked = {asked};\n"
        "const said = asked.map(([s, h, b]) => isGenuine(s, h, Buffer.from(b)));\n"
        "console.log(JSON.stringify(said));\n",
        encoding="utf-8",
    )

    run = subprocess.run(
        [node, str(tmp_path / "asks.mjs")], capture_output=True, text=True, check=True, timeout=60
    )

    assert json.loads(run.stdout) == [genuine for _, _, genuine in given]


def test_the_webhook_of_the_guide_is_one_the_route_takes() -> None:
    text = RUNS_GUIDE.read_text(encoding="utf-8")
    body = text.partition("PUT /api/v1/webhooks/team\n")[2].partition("\n→")[0]

    change = WebhookChange.model_validate_json(body)

    assert change.events == ["run.approval_required", "run.ended"]
