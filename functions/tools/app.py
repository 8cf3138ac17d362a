"""The tools function: everything under `/api/v1` but chat, `/healthz`, and the pages for people."""

from archivolt.bootstrap import container
from archivolt.entrypoints.http.tools_app import create_handler

handler = create_handler(
    lambda: container().rest_services, lambda: container().tools.browser_services
)
