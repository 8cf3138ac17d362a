"""Tokens by the model's own tokenizer: proved with the libraries where they are installed.

The tokenizers are trained here, on a few sentences.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archivolt.adapters.tokens import exact
from archivolt.adapters.tokens.exact import ExactTokenCounter
from archivolt.composition.tokens import token_counter
from archivolt.ingestion.splitting import split
from archivolt.settings import MissingSettingError

SENTENCES = [
    f"The llamas number {n} cross the wooden bridge at noon, été comme hiver." for n in range(200)
]
DOCUMENT = "# Llamas\n\n" + "\n\n".join(" ".join(SENTENCES[n : n + 9]) for n in range(0, 200, 9))


def sentencepiece_file(folder: Path) -> Path:
    package: Any = pytest.importorskip("sentencepiece")
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(folder / "toy"),
        vocab_size=90,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return folder / "toy.model"


def json_file(folder: Path) -> Path:
    package: Any = pytest.importorskip("tokenizers")
    tokenizer = package.Tokenizer(package.models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = package.pre_tokenizers.Whitespace()
    trainer = package.trainers.BpeTrainer(vocab_size=120, special_tokens=["[UNK]", "[CLS]"])
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.enable_truncation(max_length=16)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.mark.parametrize("file_of", [sentencepiece_file, json_file])
def test_a_passage_fills_the_budget_by_the_models_own_count(
    tmp_path: Path, file_of: Callable[[Path], Path]
) -> None:
    count = token_counter(str(file_of(tmp_path)))
    passages = split(DOCUMENT, budget=300, count=count)
    sizes = [count(passage.text) for passage in passages]
    assert max(sizes) <= 300
    assert max(sizes) > 200
    assert sum(sizes) > 1_000
    assert "hiver." in passages[-1].text


@pytest.mark.parametrize("file_of", [sentencepiece_file, json_file])
def test_neither_a_long_text_nor_a_broken_one_is_cut(
    tmp_path: Path, file_of: Callable[[Path], Path]
) -> None:
    count = token_counter(str(file_of(tmp_path)))
    assert count(" ".join(["llamas"] * 1_000)) >= 1_000
    assert count("llamas \ud83d\x00") >= count("llamas")
    assert count("") <= 2


def test_another_file_is_another_recipe(tmp_path: Path) -> None:
    ids = set[str]()
    for number in range(2):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(number))
        ids.add(ExactTokenCounter(file).id)
    assert len(ids) == 2
    assert token_counter("").id == ""


@pytest.mark.parametrize(
    ("name", "missing"),
    [("absent.model", "not there"), ("toy.txt", "neither"), ("toy.json", "tokenizers")],
)
def test_what_cannot_count_says_so_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, missing: str
) -> None:
    monkeypatch.setattr(exact, "find_spec", _nothing)
    for present in ("toy.txt", "toy.json"):
        (tmp_path / present).write_text("{}")
    with pytest.raises(MissingSettingError, match=missing):
        token_counter(str(tmp_path / name))


def _nothing(_: str) -> None:
    return None
