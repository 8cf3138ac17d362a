"""The step texts a person sees while a tool runs (O33 to O42, O61); the French is the source's."""

from collections.abc import Mapping

from archivolt.domain.messages import Message

STEP_LABELS: Mapping[str, Message] = {
    "ai.step.list_all_files": Message("Files listed", "Fichiers listés"),
    "ai.step.list_directory": Message(
        "Directory explored: {path}", "Répertoire exploré : {chemin}"
    ),
    "ai.step.list_vaults": Message("List of vaults consulted", "Liste des vaults consultée"),
    "ai.step.read_file": Message("File read: {path}", "Fichier lu : {chemin}"),
    "ai.step.read_file_raw": Message("File read: {path}", "Fichier lu : {chemin}"),
    "ai.step.search_documents": Message(
        "Search in the documents: {q}", "Recherche dans les documents : {q}"
    ),
    "ai.step.search_fulltext": Message("Search in the vault: {q}", "Recherche dans le vault : {q}"),
}


def step_label(tool: str) -> Message:
    """Return the step text of a tool.

    Raises:
        KeyError: The tool has none: every tool needs one.

    """
    return STEP_LABELS[f"ai.step.{tool}"]
