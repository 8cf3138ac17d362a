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

NOW = SystemClock().now()
MESSAGE = WebhookMessage(id="msg_1", event=WebhookEvent.RUN_ENDED, at=NOW, data={"run": "été"})
SECRET, OTHER = secret_text(bytes(range(32))), secret_text(bytes(32))
SIGNED = dict(signed_headers(MESSAGE, [OTHER, SECRET], now=NOW))
LATE = dict(signed_headers(MESSAGE, [SECRET], now=NOW - timedelta(minutes=6)))
# What a receiver is given with the secret, and whether it is genuine.
CASES: list[tuple[dict[str, str], str, bool]] = [
    (SIGNED, MESSAGE.body.decode(), True),
    (SIGNED, MESSAGE.body.decode() + " ", False),
    ({**SIGNED, "webhook-id": "msg_2"}, MESSAGE.body.decode(), False),
    (dict(signed_headers(MESSAGE, [OTHER], now=NOW)), MESSAGE.body.decode(), False),
    (LATE, MESSAGE.body.decode(), False),
    ({**SIGNED, "webhook-signature": "v1,"}, MESSAGE.body.decode(), False),
]


def test_the_receiver_in_python_takes_what_is_genuine() -> None:
    [example] = examples(RUNS_GUIDE, "python")
    defined: dict[str, Any] = {}
    exec(example.text, defined)  # noqa: S102  the guide's own

    for headers, body, genuine in CASES:
        assert defined["is_genuine"](SECRET, headers, body.encode()) is genuine


@pytest.mark.one_python
def test_the_receiver_in_javascript_takes_what_is_genuine(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    [example] = examples(RUNS_GUIDE, "js")
    (tmp_path / "receiver.mjs").write_text(example.text, encoding="utf-8")
    asked = json.dumps([[SECRET, headers, body] for headers, body, _ in CASES])
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

    assert json.loads(run.stdout) == [genuine for _, _, genuine in CASES]


def test_the_webhook_of_the_guide_is_one_the_route_takes() -> None:
    text = RUNS_GUIDE.read_text(encoding="utf-8")
    body = text.partition("PUT /api/v1/webhooks/team\n")[2].partition("\n→")[0]

    change = WebhookChange.model_validate_json(body)

    assert change.events == ["run.approval_required", "run.ended"]
