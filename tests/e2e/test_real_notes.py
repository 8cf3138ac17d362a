"""Real documentation in French on the running stack: all of it indexed, and found by asking."""

import tarfile
from pathlib import Path

import pytest

from tests.e2e.conftest import NewStack
from tests.e2e.stack import Stack, wait_until

PAGES = Path(__file__).parents[3] / "shared/data/vaults/react-docs-fr.tar.gz"
ARRAYS = "Comment mettre à jour un tableau dans l'état ?"
LISTS = "Comment afficher une liste ?"
EFFECTS = "Pourquoi mes Effets s'exécutent-ils deux fois ?"
ANSWERS = {
    ARRAYS: "learn/updating-arrays-in-state.md",
    LISTS: "learn/rendering-lists.md",
    EFFECTS: "learn/synchronizing-with-effects.md",
}

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.one_python,
    pytest.mark.skipif(not PAGES.exists(), reason="real data is outside the repository"),
]


def paths(stack: Stack, question: str) -> list[str]:
    return [hit["path"] for hit in stack.search(question)]


def cited(stack: Stack, question: str) -> list[str]:
    with stack.client() as http:
        body = {"message": question, "stream": False}
        answer = http.post("/api/v1/chat/messages", json=body)
    assert answer.status_code == 200, answer.text
    return [citation["path"] for citation in answer.json()["citations"]]


def is_found_by_words(stack: Stack, files: int) -> bool:
    """Tell whether the index holds every page; vectors may follow, on a busy machine for long."""
    states = stack.vault_status("docs").get("states", {})
    assert set(states) <= {"pending", "indexed"}, states
    return sum(states.values()) == files


def test_every_page_is_indexed_and_found_by_asking_and_stays_so(
    new_stack: NewStack, tmp_path: Path
) -> None:
    with tarfile.open(PAGES) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "react-docs-fr"
    pages = sum(1 for _ in folder.rglob("*.md"))
    stack = new_stack({"docs": folder}).start()

    wait_until(lambda: is_found_by_words(stack, pages), 240, every=0.5)
    for question, page in ANSWERS.items():
        assert page in paths(stack, question)[:3]
        assert page in cited(stack, question)

    (folder / ANSWERS[ARRAYS]).unlink()
    (folder / ANSWERS[LISTS]).rename(folder / "à lire.md")
    wait_until(lambda: "à lire.md" in paths(stack, LISTS)[:3])
    wait_until(lambda: is_found_by_words(stack, pages - 1), every=0.5)
    stack.stop()
    stack.start()

    assert is_found_by_words(stack, pages - 1)
    assert ANSWERS[ARRAYS] not in paths(stack, ARRAYS)
    assert ANSWERS[LISTS] not in paths(stack, LISTS)
    assert "à lire.md" in paths(stack, LISTS)[:3]
    assert ANSWERS[EFFECTS] in paths(stack, EFFECTS)[:3]
