"""docs/api.md says what the code says."""

from typing import NoReturn

from archivolt.entrypoints.http.openapi import product_openapi
from archivolt.entrypoints.http.tools_app import create_tools_app
from scripts.generate_api_docs import TARGET, render


def test_the_api_page_is_what_make_docs_writes() -> None:
    written = TARGET.read_text(encoding="utf-8")

    assert written == render(), "run `make docs`"


def test_the_api_page_has_every_section_and_tool() -> None:
    page = render()

    for wanted in ("### `POST /mcp`", "### `search_documents`", "### `POST /api/v1/chat/messages`"):
        assert wanted in page


def no_services() -> NoReturn:
    raise LookupError("a description of routes needs no services")


def test_the_api_page_has_every_route() -> None:
    page = render()
    paths = product_openapi(create_tools_app(no_services))["paths"]

    for path, methods in paths.items():
        for method in methods:
            assert f"### `{method.upper()} {path}`" in page
