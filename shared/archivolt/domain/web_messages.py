"""The sentences of the tools that read the web (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

WEB_MESSAGES: Mapping[str, Message] = {
    "web_address_invalid": Message(
        "{url} cannot be read as a page ({reason}); give a full http or https address.",
        "{url} ne peut être lue comme page ({reason}) ; donnez une adresse http ou https complète.",
    ),
    "web_page_refused": Message(
        "{url} answers {status}; check the address, or read another page.",
        "{url} répond {status} ; vérifiez l'adresse ou lisez une autre page.",
    ),
    "web_page_too_large": Message(
        "The page is over {limit} bytes, or compressed without being asked; read a smaller one.",
        "La page dépasse {limit} octets, ou arrive compressée ; lisez-en une plus petite.",
    ),
    "web_page_unavailable": Message(
        "{url} cannot be reached just now; try again later, or read another page.",
        "{url} est injoignable pour l'instant ; réessayez plus tard ou lisez une autre page.",
    ),
    "web_page_unreadable": Message(
        "{url} has no text that can be read ({kind}); read a page, a text or a PDF file.",
        "{url} n'a pas de texte lisible ({kind}) ; lisez une page, un texte ou un fichier PDF.",
    ),
    "web_search_not_configured": Message(
        "Web search is not set up here: an administrator sets ARCHIVOLT_SEARXNG_URL. A page whose "
        "address is known can be read with fetch_url.",
        "La recherche web n'est pas configurée ici : un administrateur définit "
        "ARCHIVOLT_SEARXNG_URL. Une page dont l'adresse est connue se lit avec fetch_url.",
    ),
    "web_search_unavailable": Message(
        "The search engine does not answer as it should; try again later.",
        "Le moteur de recherche ne répond pas comme prévu ; réessayez plus tard.",
    ),
    "web_secret_refused": Message(
        "{argument} holds a secret, which would leave this workspace; take it out.",
        "{argument} contient un secret, qui quitterait cet espace ; retirez-le.",
    ),
}
