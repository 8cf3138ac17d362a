"""The sentences of confirmations: what keeps a proposed change from being made (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

CONFIRMATION_MESSAGES: Mapping[str, Message] = {
    "confirmation_ambiguous": Message(
        "Give apply_{tool} either a confirmation_token alone, or the arguments of the change.",
        "Donnez à apply_{tool} un confirmation_token seul, ou bien les arguments du changement.",
    ),
    "confirmation_declined": Message(
        "This change was declined and stays undone; propose another one.",
        "Ce changement a été refusé et ne sera pas fait ; proposez-en un autre.",
    ),
    "confirmation_done": Message(
        "This change is done already; propose the opposite one to undo it.",
        "Ce changement est déjà fait ; proposez le changement inverse pour l'annuler.",
    ),
    "confirmation_expired": Message(
        "This confirmation has expired; if the change is not made, propose it again.",
        "Cette confirmation a expiré ; si le changement n'est pas fait, proposez-le de nouveau.",
    ),
    "confirmation_invalid": Message(
        "This confirmation token is not valid for this call; propose the change again.",
        "Ce jeton de confirmation ne vaut pas pour cet appel ; proposez de nouveau le changement.",
    ),
    "confirmation_needless": Message(
        "The tool {tool} changes nothing and needs no confirmation; call it directly.",
        "L'outil {tool} ne modifie rien et se passe de confirmation ; appelez-le directement.",
    ),
    "confirmation_not_found": Message(
        "You have no change that waits under this address.",
        "Aucun changement ne vous attend à cette adresse.",
    ),
    "confirmation_required": Message(
        "The tool {tool} changes documents: propose it, show the preview, then apply it.",
        "L'outil {tool} modifie des documents : proposez, montrez l'aperçu, puis appliquez.",
    ),
    "confirmation_running": Message(
        "This change is being made; apply it again in {retry_after} seconds to get its outcome.",
        "Ce changement est en cours ; appliquez-le de nouveau dans {retry_after} secondes.",
    ),
    "confirmation_unasked": Message(
        "confirmation_token required: call propose_{tool} first, show its preview to the user,"
        " then call apply_{tool} with the token it returned.",
        "confirmation_token requis : appelez d'abord propose_{tool}, montrez l'aperçu à la"
        " personne, puis appelez apply_{tool} avec le jeton reçu.",
    ),
}
