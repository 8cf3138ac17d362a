"""The tools function: everything under `/api/v1` but chat, and `/healthz`."""

from archivolt.bootstrap import container
from archivolt.entrypoints.http.tools_app import create_handler

handler = create_handler(lambda: container().rest_services)
