"""Delivers messages by a state machine (`infra/statemachines/webhook_delivery.asl.json`).

An execution is named after its message and its webhook: to start it twice is to start it once.
"""

import json
from typing import Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.adapters.stepfunctions.engine import StatesClient
from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import WebhookMessage

_TAKEN: Final = "ExecutionAlreadyExists"


class StepFunctionsDeliveries:
    """A `WebhookDeliveries` of one state machine."""

    def __init__(self, client: StatesClient, machine_arn: str) -> None:
        self._client = client
        self._machine = machine_arn

    def start(self, tenant: TenantId, webhook_id: str, message: WebhookMessage) -> None:
        """Have a message delivered to a webhook."""
        task = {
            "tenant": tenant,
            "webhook": webhook_id,
            "message": {
                "id": message.id,
                "event": message.event.value,
                "at": message.at.isoformat(),
                "data": message.data,
            },
        }
        try:
            with translated():
                self._client.start_execution(
                    stateMachineArn=self._machine,
                    name=f"{message.id}-{webhook_id}",
                    input=json.dumps(task),
                )
        except ClientError as error:
            if code_of(error) != _TAKEN:
                raise
