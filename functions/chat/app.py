"""The chat function: `/api/v1/chat/*`, an ASGI application behind the Lambda Web Adapter."""

from archivolt.bootstrap import container
from archivolt.entrypoints.http.chat_app import LazyChatApp

app = LazyChatApp(lambda: container().chat_services)
