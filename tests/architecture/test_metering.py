"""Nobody reaches a provider but through what meters it (decision 23)."""

import ast
from pathlib import Path
from typing import get_type_hints

from archivolt.chat.providers import ChosenModel
from archivolt.governance.metered_models import MeteredModel
from tests.architecture.sources import ROOT, code_files, name_of, tree

SHARED = ROOT / "shared/archivolt"
PRODUCT = [path for path in code_files() if path.is_relative_to(SHARED)]
UNMETERED = {"OutboundChatModels", "StreamedChatModel", "ChatModels", "ToolFallback"}


def uses(path: Path, names: set[str]) -> set[str]:
    """Which of these names a module takes from others."""
    return {
        alias.name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    } & names


def called(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
        case _:
            return ""


def test_what_opens_providers_unmetered_is_known_to_adapters_and_the_meter_alone() -> None:
    found = {name_of(path): used for path in PRODUCT if (used := uses(path, UNMETERED))}
    outside = {name: used for name, used in found.items() if "/adapters/" not in name}

    assert outside == {
        "shared/archivolt/composition/chat.py": {"OutboundChatModels"},
        "shared/archivolt/governance/metered_models.py": {"ChatModels"},
    }


def test_the_models_of_a_deployment_are_built_within_the_meter() -> None:
    composition = tree(SHARED / "composition/chat.py")
    metered = [node for node in ast.walk(composition) if called(node) == "MeteredModels"]
    opened = [node for node in ast.walk(composition) if called(node) == "OutboundChatModels"]
    within = [node for each in metered for node in ast.walk(each)]

    assert opened
    assert all(node in within for node in opened)


def test_a_provider_of_vectors_is_asked_by_who_pays_and_by_nobody_else() -> None:
    known = {name_of(path): used for path in PRODUCT if (used := uses(path, {"RemoteEmbedder"}))}
    asked = [name_of(path) for path in PRODUCT if "with_key" in path.read_text(encoding="utf-8")]

    assert known == {"shared/archivolt/composition/remote_embedding.py": {"RemoteEmbedder"}}
    assert set(asked) - {"shared/archivolt/governance/settings.py"} == {
        "shared/archivolt/composition/embedding.py",
        "shared/archivolt/composition/remote_embedding.py",
    }
    [connected] = [
        node
        for node in ast.walk(tree(SHARED / "composition/embedding.py"))
        if called(node) == "partial" and "with_key" in ast.unparse(node)
    ]
    assert "pay=partial(accounts.paid, tenant)" in ast.unparse(connected)


def test_whoever_chooses_a_model_gets_a_metered_one() -> None:
    assert get_type_hints(ChosenModel)["model"] is MeteredModel


def test_a_reranker_is_asked_by_who_pays_and_by_nobody_else() -> None:
    known = {name_of(path) for path in PRODUCT if uses(path, {"reranker_for", "RemoteReranker"})}

    assert known == {
        "shared/archivolt/composition/metering.py",
        "shared/archivolt/composition/reranking.py",
    }
