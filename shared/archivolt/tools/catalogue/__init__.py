"""The tools of the product, one file per family."""

from archivolt.tools.catalogue.navigation import list_all_files, list_directory, list_vaults
from archivolt.tools.catalogue.reading import read_file, read_file_raw
from archivolt.tools.catalogue.searching import search_documents, search_fulltext
from archivolt.tools.registry import Registry


def native_tools() -> Registry:
    """Return the product's tools: the catalogue's (O33 to O42), then its own (decision 7)."""
    return Registry(
        [
            list_vaults,
            list_directory,
            list_all_files,
            read_file,
            read_file_raw,
            search_fulltext,
            search_documents,
        ]
    )
