"""The tools of the product, one file per family."""

from archivolt.tools.catalogue.advanced_search import search_advanced
from archivolt.tools.catalogue.backups import diff_backup, list_backups, restore_backup
from archivolt.tools.catalogue.checking import run_check
from archivolt.tools.catalogue.creating import create_directory, create_file
from archivolt.tools.catalogue.deleting import delete_directory, delete_file
from archivolt.tools.catalogue.editing import append_to_file, edit_file
from archivolt.tools.catalogue.linking import get_backlinks, get_graph
from archivolt.tools.catalogue.moving import move_path, rename_directory, rename_file
from archivolt.tools.catalogue.navigation import list_all_files, list_directory, list_vaults
from archivolt.tools.catalogue.path_search import search_paths
from archivolt.tools.catalogue.reading import read_file, read_file_raw
from archivolt.tools.catalogue.recent import list_recent
from archivolt.tools.catalogue.replacing import replace_in_files
from archivolt.tools.catalogue.searching import search_documents, search_fulltext
from archivolt.tools.catalogue.syncing import sync_documents
from archivolt.tools.catalogue.tags import list_tags, suggest_tags
from archivolt.tools.catalogue.web import fetch_url, web_search
from archivolt.tools.registry import Registry


def native_tools() -> Registry:
    """Return the product's tools: the catalogue's (O33 to O60), then its own (decision 7)."""
    return Registry(
        [
            list_vaults,
            list_directory,
            list_all_files,
            read_file,
            read_file_raw,
            get_backlinks,
            list_backups,
            diff_backup,
            get_graph,
            search_fulltext,
            search_advanced,
            search_paths,
            list_tags,
            suggest_tags,
            list_recent,
            web_search,
            fetch_url,
            create_file,
            create_directory,
            edit_file,
            append_to_file,
            restore_backup,
            rename_file,
            rename_directory,
            move_path,
            replace_in_files,
            delete_file,
            delete_directory,
            search_documents,
            sync_documents,
            run_check,
        ]
    )
