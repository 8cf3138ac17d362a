"""A receiver of webhooks as its owner would write it: from the specification, not our code."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any


def verified(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float, tolerance: float = 300
) -> dict[str, Any] | None:
    """Return what a message says, None if it is not signed with the secret, or not of now."""
    moment = headers["webhook-timestamp"]
    key = base64.standard_b64decode(secret.split("whsec_", 1)[1])
    signed = b".".join([headers["webhook-id"].encode(), moment.encode(), body])
    expected = base64.standard_b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = [each.partition(",") for each in headers["webhook-signature"].split(" ")]
    right = any(
        version == "v1" and hmac.compare_digest(signature.encode(), expected)
        for version, _, signature in given
    )
    if not right or abs(now - int(moment)) > tolerance:
        return None
    return json.loads(body)
