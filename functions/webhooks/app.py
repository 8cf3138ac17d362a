"""The webhooks function: tells tenants' receivers what happens to their runs."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.webhooks import build_webhooks

handler = build_webhooks(lambda: container().webhooks.delivery)
