"""The registry is held to the catalogue of the source (O33 to O61), both ways."""

from typing import NamedTuple

import pytest

from archivolt.domain.tool import Risk, Surface
from archivolt.tools.catalogue import native_tools

READ, WRITE, DANGEROUS = Risk.READ, Risk.WRITE, Risk.DANGEROUS


class Source(NamedTuple):
    """A tool as the source has it; the parameters in its order."""

    code: str
    risk: Risk
    parameters: str
    french: str


CATALOGUE = {
    "list_vaults": Source("O33", READ, "", "Liste des vaults consultée"),
    "list_directory": Source("O34", READ, "vault,path", "Répertoire exploré : {chemin}"),
    "list_all_files": Source("O35", READ, "vault,dir,limit,recursive", "Fichiers listés"),
    "read_file": Source("O36", READ, "vault,path", "Fichier lu : {chemin}"),
    "read_file_raw": Source("O37", READ, "vault,path", "Fichier lu : {chemin}"),
    "get_backlinks": Source("O38", READ, "vault,path", "Backlinks analysés"),
    "list_backups": Source("O39", READ, "vault,path", "Sauvegardes consultées"),
    "diff_backup": Source(
        "O40",
        READ,
        "vault,path,version,compare_with",
        "Comparaison de sauvegarde : {chemin}",
    ),
    "get_graph": Source("O41", READ, "vault,path,depth,scope,tag", "Graphe du vault consulté"),
    "search_fulltext": Source("O42", READ, "q,vault,tag,limit", "Recherche dans le vault : {q}"),
    "search_advanced": Source(
        "O43",
        READ,
        "q,vault,tag,limit,offset,sort,case_sensitive,whole_word,regex,include_paths,"
        "exclude_paths,created,modified,size",
        "Recherche dans le vault : {q}",
    ),
    "search_paths": Source("O44", READ, "q,vault", "Chemins recherchés : {q}"),
    "list_tags": Source("O45", READ, "vault", "Tags consultés"),
    "suggest_tags": Source("O46", READ, "q,vault,limit", "Tags suggérés pour {q}"),
    "list_recent": Source("O47", READ, "vault,limit,mode", "Fichiers récents consultés"),
    "web_search": Source(
        "O48",
        READ,
        "query,max_results,category,language,page",
        "Recherche sur le web : {query}",
    ),
    "fetch_url": Source("O49", READ, "url", "Page web consultée : {url}"),
    "create_file": Source("O50", WRITE, "vault,path,content", "Fichier proposé : {chemin}"),
    "create_directory": Source("O51", WRITE, "vault,path", "Dossier proposé : {chemin}"),
    "edit_file": Source("O52", WRITE, "vault,path,content", "Fichier modifié : {chemin}"),
    "append_to_file": Source("O53", WRITE, "vault,path,content", "Fichier complété : {chemin}"),
    "restore_backup": Source("O54", WRITE, "vault,path,version", "Sauvegarde restaurée : {chemin}"),
    "rename_file": Source("O55", DANGEROUS, "vault,path,new_name", "Fichier renommé : {chemin}"),
    "rename_directory": Source(
        "O56", DANGEROUS, "vault,path,new_name", "Dossier renommé : {chemin}"
    ),
    "move_path": Source(
        "O57", DANGEROUS, "vault,source_path,destination_dir", "Élément déplacé : {chemin}"
    ),
    "replace_in_files": Source(
        "O58",
        DANGEROUS,
        "find,replace,vault,case_sensitive,whole_word,regex,include_paths,exclude_paths,"
        "replace_all,dry_run",
        "Remplacements : {motif}",
    ),
    "delete_file": Source("O59", DANGEROUS, "vault,path", "Fichier supprimé : {chemin}"),
    "delete_directory": Source(
        "O60", DANGEROUS, "vault,path,recursive", "Dossier supprimé : {chemin}"
    ),
}
WEB = {"web_search", "fetch_url"}
# The product's own, a family apart (decision 7), as far as they are built.
OWN = {"run_check", "search_documents", "sync_documents"}
# What may stand beside the source's parameters: reading on in reads, the version in changes.
MORE_OF_READS = {"offset", "limit", "after"}
MORE_OF_CHANGES = {"etag"}

SPECS = {tool.name: tool.spec for tool in native_tools()}

every_tool = pytest.mark.parametrize("name", CATALOGUE)


def test_the_registry_has_the_twenty_eight_tools_of_the_source_and_our_own() -> None:
    assert len(SPECS.keys() - OWN) == len(CATALOGUE) == 28
    assert SPECS.keys() == CATALOGUE.keys() | OWN
    assert [source.code for source in CATALOGUE.values()] == [f"O{n}" for n in range(33, 61)]


@every_tool
def test_a_tool_takes_the_parameters_of_the_source_and_hardly_more(name: str) -> None:
    spec = SPECS[name]
    source = [part for part in CATALOGUE[name].parameters.split(",") if part]
    more = MORE_OF_READS if spec.risk is READ else MORE_OF_CHANGES

    assert set(source) <= set(spec.parameters["properties"])
    assert set(spec.parameters["properties"]) - set(source) <= more


@every_tool
def test_what_stands_beside_the_sources_parameters_may_be_left_out(name: str) -> None:
    spec = SPECS[name]

    assert set(spec.parameters.get("required", [])) <= set(CATALOGUE[name].parameters.split(","))


@every_tool
def test_a_tool_has_the_risk_of_the_source_and_asks_for_confirmation_by_it(name: str) -> None:
    spec = SPECS[name]

    assert spec.risk is CATALOGUE[name].risk
    assert spec.requires_confirmation is (spec.risk is not READ)


@every_tool
def test_a_tool_is_for_every_door_but_the_web_is_never_for_mcp(name: str) -> None:
    allowed = {Surface.IN_APP} if name in WEB else {Surface.IN_APP, Surface.MCP}

    assert SPECS[name].scopes == allowed


@every_tool
def test_a_steps_text_is_the_sources_in_french_and_has_an_english_twin(name: str) -> None:
    label = SPECS[name].label

    assert label.fr == CATALOGUE[name].french
    assert label.en
    assert label.en != label.fr
    assert label.en.count("{") == label.fr.count("{")


def test_tools_come_reads_first_then_changes_then_our_own() -> None:
    order = [name for name in SPECS if name not in OWN]

    risks = [list(Risk).index(SPECS[name].risk) for name in order]
    assert risks == sorted(risks)
    assert [name for name in SPECS if name in OWN] == list(SPECS)[-len(OWN) :]
