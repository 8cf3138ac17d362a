"""The sentences about webhooks (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

WEBHOOK_MESSAGES: Mapping[str, Message] = {
    "webhook_failing": Message(
        "{webhook} took no message for {days} days and is turned off; mend it and turn it on.",
        "{webhook} n'a pris aucun message en {days} jours et est coupé ; réparez-le, rallumez-le.",
    ),
    "webhook_gone": Message(
        "{webhook} answered that it takes no messages any more (410) and is turned off.",
        "{webhook} a répondu qu'il ne prend plus de messages (410) et est coupé.",
    ),
    "webhook_insecure": Message(
        "Give an https address: {host} is not among the hosts that this deployment calls without.",
        "Donnez une adresse https : {host} n'est pas des hôtes que ce déploiement appelle sans.",
    ),
    "webhook_not_delivered": Message(
        "The message did not reach {webhook}: {reason}.",
        "Le message n'a pas atteint {webhook} : {reason}.",
    ),
    "webhook_not_found": Message(
        "There is no webhook {webhook}; list those there are with GET /api/v1/webhooks.",
        "Il n'y a pas de webhook {webhook} ; listez ceux qui existent par GET /api/v1/webhooks.",
    ),
    "webhook_url_missing": Message(
        "A new webhook needs its url.",
        "Un nouveau webhook demande son url.",
    ),
    "webhooks_too_many": Message(
        "There are {limit} webhooks already; remove one first.",
        "Il y a déjà {limit} webhooks ; retirez-en un d'abord.",
    ),
}
