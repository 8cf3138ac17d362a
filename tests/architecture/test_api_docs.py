"""docs/api.md says what the code says."""

from scripts.generate_api_docs import TARGET, render


def test_the_api_page_is_what_make_docs_writes() -> None:
    written = TARGET.read_text(encoding="utf-8")

    assert written == render(), "run `make docs`"


def test_the_api_page_has_every_section_and_tool() -> None:
    page = render()

    for wanted in ("### `POST /mcp`", "### `search_documents`", "### `POST /api/v1/chat/messages`"):
        assert wanted in page
