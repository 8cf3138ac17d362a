"""The step texts a person sees while a tool runs (O33 to O60, O61); the French is the source's."""

from collections.abc import Mapping

from archivolt.domain.messages import Message

STEP_LABELS: Mapping[str, Message] = {
    "ai.step.get_backlinks": Message("Backlinks analysed", "Backlinks analysés"),
    "ai.step.list_backups": Message("Backups consulted", "Sauvegardes consultées"),
    "ai.step.diff_backup": Message(
        "Backup compared: {path}", "Comparaison de sauvegarde : {chemin}"
    ),
    "ai.step.get_graph": Message("Graph of the vault consulted", "Graphe du vault consulté"),
    "ai.step.search_advanced": Message("Search in the vault: {q}", "Recherche dans le vault : {q}"),
    "ai.step.search_paths": Message("Paths searched: {q}", "Chemins recherchés : {q}"),
    "ai.step.list_tags": Message("Tags consulted", "Tags consultés"),
    "ai.step.suggest_tags": Message("Tags suggested for {q}", "Tags suggérés pour {q}"),
    "ai.step.list_recent": Message("Recent files consulted", "Fichiers récents consultés"),
    "ai.step.web_search": Message("Web search: {query}", "Recherche sur le web : {query}"),
    "ai.step.fetch_url": Message("Web page consulted: {url}", "Page web consultée : {url}"),
    "ai.step.create_file": Message("File proposed: {path}", "Fichier proposé : {chemin}"),
    "ai.step.create_directory": Message("Directory proposed: {path}", "Dossier proposé : {chemin}"),
    "ai.step.edit_file": Message("File changed: {path}", "Fichier modifié : {chemin}"),
    "ai.step.append_to_file": Message("File extended: {path}", "Fichier complété : {chemin}"),
    "ai.step.restore_backup": Message("Backup restored: {path}", "Sauvegarde restaurée : {chemin}"),
    "ai.step.rename_file": Message("File renamed: {path}", "Fichier renommé : {chemin}"),
    "ai.step.rename_directory": Message("Directory renamed: {path}", "Dossier renommé : {chemin}"),
    "ai.step.move_path": Message("Item moved: {path}", "Élément déplacé : {chemin}"),
    "ai.step.replace_in_files": Message("Replacements: {pattern}", "Remplacements : {motif}"),
    "ai.step.delete_file": Message("File deleted: {path}", "Fichier supprimé : {chemin}"),
    "ai.step.delete_directory": Message("Directory deleted: {path}", "Dossier supprimé : {chemin}"),
    "ai.step.list_all_files": Message("Files listed", "Fichiers listés"),
    "ai.step.list_directory": Message(
        "Directory explored: {path}", "Répertoire exploré : {chemin}"
    ),
    "ai.step.list_vaults": Message("List of vaults consulted", "Liste des vaults consultée"),
    "ai.step.read_file": Message("File read: {path}", "Fichier lu : {chemin}"),
    "ai.step.read_file_raw": Message("File read: {path}", "Fichier lu : {chemin}"),
    "ai.step.run_check": Message("Code checked: {path}", "Code vérifié : {chemin}"),
    "ai.step.run_status": Message("Run consulted", "Exécution consultée"),
    "ai.step.start_run": Message("Run proposed", "Exécution proposée"),
    "ai.step.search_documents": Message(
        "Search in the documents: {q}", "Recherche dans les documents : {q}"
    ),
    "ai.step.sync_documents": Message(
        "Update of the index requested", "Mise à jour de l'index demandée"
    ),
    "ai.step.search_fulltext": Message("Search in the vault: {q}", "Recherche dans le vault : {q}"),
}


def step_label(tool: str) -> Message:
    """Return the step text of a tool.

    Raises:
        KeyError: The tool has none: every tool needs one.

    """
    return STEP_LABELS[f"ai.step.{tool}"]
