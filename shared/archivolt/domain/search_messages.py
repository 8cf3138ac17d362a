"""The sentences of searching: what a filter, a pattern or an order must look like (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

SEARCH_MESSAGES: Mapping[str, Message] = {
    "graph_cut": Message(
        "Only {kept} of {total} notes are shown; give a path, a directory or a tag to narrow it.",
        "Seules {kept} notes sur {total} sont montrées ; donnez un chemin, un dossier ou un tag.",
    ),
    "graph_needs_path": Message(
        "The graph around one note needs its path; give path, or leave scope out.",
        "Le graphe autour d'une note demande son chemin ; donnez path, ou retirez scope.",
    ),
    "invalid_date_range": Message(
        "{parameter} is not a range of dates; write 2026-01-01..2026-02-01, >2026-01-01 or 7d.",
        "{parameter} n'est pas une période ; écrivez 2026-01-01..2026-02-01, >2026-01-01 ou 7d.",
    ),
    "invalid_pattern": Message(
        "The pattern is not valid: {problem}; correct it, or search for it as plain text.",
        "Le motif n'est pas valide : {problem} ; corrigez-le, ou cherchez-le comme simple texte.",
    ),
    "invalid_size_range": Message(
        "{parameter} is not a range of sizes; write >10kb, <1mb or 10kb..2mb.",
        "{parameter} n'est pas une plage de tailles ; écrivez >10kb, <1mb ou 10kb..2mb.",
    ),
    "invalid_sort": Message(
        "sort is not known; write one of {expected}, with - in front for the descending order.",
        "sort n'est pas connu ; écrivez {expected}, avec - devant pour l'ordre décroissant.",
    ),
    "invalid_type": Message(
        "type is not known; write extensions such as pdf, or note, word, spreadsheet, presentation"
        ", mail or image, with commas between them.",
        "type n'est pas connu ; écrivez des extensions comme pdf, ou note, word, tableur,"
        " presentation, mail ou image, séparés par des virgules.",
    ),
    "rerank_unavailable": Message(
        "The model that orders the hits is down: they come in the order of the search itself.",
        "Le modèle qui ordonne les résultats est en panne : l'ordre est celui de la recherche.",
    ),
    "search_incomplete": Message(
        "Time ran out, so that there may be more to find; narrow the search with a filter.",
        "Le temps a manqué : il y a peut-être plus à trouver ; ajoutez un filtre.",
    ),
    "vectors_on_their_way": Message(
        "Some documents are found by their words alone as yet, and by their meaning soon.",
        "Des documents ne sont encore trouvés que par leurs mots, et bientôt par leur sens.",
    ),
}
