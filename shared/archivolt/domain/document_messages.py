"""The sentences about documents: why one is not indexed, or not wholly (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

DOCUMENT_MESSAGES: Mapping[str, Message] = {
    "document_broken": Message(
        "This document is damaged and cannot be read; store a working copy.",
        "Ce document est endommagé et illisible ; déposez une copie intacte.",
    ),
    "document_encrypted": Message(
        "This document is protected by a password; store it without one.",
        "Ce document est protégé par un mot de passe ; déposez-le sans.",
    ),
    "document_inflates": Message(
        "This document grows too large when unpacked; store a smaller one.",
        "Ce document devient trop gros une fois décompressé ; déposez-en un plus petit.",
    ),
    "document_not_read_yet": Message(
        "This document is still to be read for the index; ask again in a moment.",
        "Ce document reste à lire pour l'index ; redemandez dans un instant.",
    ),
    "document_too_large": Message(
        "This document is over the 100 MB that are indexed; split it into smaller ones.",
        "Ce document dépasse les 100 Mo indexables ; divisez-le en plusieurs plus petits.",
    ),
    "document_too_much_text": Message(
        "This document has more than {limit} characters of text; store it in parts.",
        "Ce document a plus de {limit} caractères de texte ; déposez-le en parties.",
    ),
    "document_too_slow": Message(
        "This document takes too long to read; store a simpler or smaller one.",
        "Ce document est trop long à lire ; déposez-en un plus simple ou plus petit.",
    ),
    "document_without_text": Message(
        "This document has no text; store one that has, if you expected some.",
        "Ce document n'a pas de texte ; déposez-en un qui en a, si vous en attendiez.",
    ),
    "documents_need_ocr": Message(
        "Not searched, since they are scans or images and text recognition (OCR) is not set up:"
        " {count} document(s).",
        "Absents de la recherche, car ce sont des numérisations ou des images et la reconnaissance"
        " de texte (OCR) n'est pas installée : {count} document(s).",
    ),
    "documents_pending": Message(
        "Found by their words already, and by their meaning soon: {count} document(s).",
        "Déjà trouvés par leurs mots, et bientôt par leur sens : {count} document(s).",
    ),
    "documents_unread": Message(
        "Not searched, since they are too large or could not be read: {count} document(s); the"
        " index of the vault says which and why.",
        "Absents de la recherche, car trop gros ou illisibles : {count} document(s) ; l'index du"
        " coffre dit lesquels et pourquoi.",
    ),
    "documents_without_text": Message(
        "Not searched, since they have no text: {count} document(s).",
        "Absents de la recherche, faute de texte : {count} document(s).",
    ),
    "embedding_budget_spent": Message(
        "Nothing is searched by meaning, as the month's budget has no room for it; what waits"
        " follows when it renews, or when an administrator raises chat_monthly_budget_usd.",
        "Rien n'est cherché par le sens, car le budget du mois ne le permet plus ; la suite vient"
        " à son renouvellement, ou si un administrateur relève chat_monthly_budget_usd.",
    ),
    "embedding_price_unknown": Message(
        "Nothing is searched by meaning: there is a budget, and nobody said what the vectors cost;"
        " an administrator does in chat_model_prices, the deployment in EMBEDDING_PRICE.",
        "Rien n'est cherché par le sens : il y a un budget, et nul n'a dit ce que coûtent les"
        " vecteurs ; un administrateur le fait dans chat_model_prices, le déploiement dans"
        " EMBEDDING_PRICE.",
    ),
    "embedding_key_missing": Message(
        "Nothing is searched by meaning, as its provider needs a key; an administrator gives one"
        " in the settings (embedding_api_key).",
        "Rien n'est cherché par le sens, car son fournisseur demande une clé ; un administrateur"
        " en donne une dans les paramètres (embedding_api_key).",
    ),
    "embedding_key_refused": Message(
        "Nothing is searched by meaning, as its provider refuses the key; an administrator gives"
        " another in the settings (embedding_api_key).",
        "Rien n'est cherché par le sens, car son fournisseur refuse la clé ; un administrateur en"
        " donne une autre dans les paramètres (embedding_api_key).",
    ),
    "embedding_key_unused": Message(
        "This deployment has its vectors made by no provider and takes no key for one.",
        "Ce déploiement ne confie ses vecteurs à aucun fournisseur et ne prend pas de clé.",
    ),
    "ocr_needed": Message(
        "This is a scan or an image; ask your administrator to set up text recognition (OCR), or"
        " store a copy with a text layer.",
        "C'est une numérisation ou une image ; demandez à votre administrateur la reconnaissance"
        " de texte (OCR), ou déposez une copie avec du texte.",
    ),
    "pages_unread": Message(
        "Some pages are images that were not read; store a copy with a text layer, or in parts.",
        "Des pages sont des images non lues ; déposez une copie avec du texte, ou en parties.",
    ),
    "unsupported_format": Message(
        "This format is kept but cannot be read; store a PDF, Office, web or text file.",
        "Ce format est conservé mais illisible ; déposez un fichier PDF, Office, web ou texte.",
    ),
}
