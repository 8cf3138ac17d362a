"""What names of models tell, and the ids their vectors are kept under."""

from dataclasses import replace

import pytest

from archivolt.adapters.embedding.models import (
    UNMEASURED_THRESHOLD,
    EmbeddingModel,
    known_model,
)


@pytest.mark.parametrize("name", ["@cf/baai/bge-m3", "BAAI/bge-m3", "bge-m3:latest"])
def test_a_model_is_known_whoever_publishes_it(name: str) -> None:
    known = known_model(name)
    assert (known.dimension, known.threshold, known.max_tokens) == (1024, 0.65, 8_192)


def test_e5_is_told_which_text_is_a_question() -> None:
    known = known_model("intfloat/multilingual-e5-large")
    assert (known.dimension, known.query_prefix, known.passage_prefix) == (
        1024,
        "query: ",
        "passage: ",
    )


def test_of_an_unknown_model_nothing_is_assumed_but_a_threshold() -> None:
    known = known_model("toy")
    assert (known.dimension, known.threshold) == (0, UNMEASURED_THRESHOLD)


def test_whatever_changes_the_vectors_changes_the_id() -> None:
    model = EmbeddingModel(provider="openai", name="toy", dimension=8)
    others = [replace(model, provider="cloudflare"), replace(model, name="b")]
    others += [replace(model, dimension=9)]
    assert len({each.id for each in [model, *others]}) == 4
    assert replace(model, threshold=0.1).id == model.id
