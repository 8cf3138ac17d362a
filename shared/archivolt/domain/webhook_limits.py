"""The limits of webhooks, beside `limits`."""

from typing import Final

MAX_WEBHOOKS: Final = 10
# With the id of a message it names an execution, of at most 80 characters (AWS Step Functions
# API reference, "StartExecution").
MAX_WEBHOOK_ID_CHARS: Final = 40
# Standard Webhooks 1.0, "Signature scheme": a random secret of 24 to 64 bytes.
WEBHOOK_SECRET_BYTES: Final = 32
# For how long the secret before goes on signing beside a new one.
WEBHOOK_BOTH_SECRETS_SECONDS: Final = 86_400
# Standard Webhooks 1.0, "Request timeouts": 15 to 30 seconds.
WEBHOOK_SECONDS: Final = 15.0
# A webhook that took nothing for so long is turned off with the next message that is given up.
WEBHOOK_FAILING_DAYS: Final = 5
