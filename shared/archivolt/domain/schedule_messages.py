"""The sentences of scheduled runs and of standing permissions (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

SCHEDULE_MESSAGES: Mapping[str, Message] = {
    "no_standing_permission": Message(
        "Nobody is there to agree to this, and no standing permission of the schedule covers it;"
        " it was not done.",
        "Personne n'est là pour l'approuver, et aucune autorisation permanente de la planification"
        " ne le couvre ; ce n'est pas fait.",
    ),
    "permission_not_found": Message(
        "This schedule has no such permission.",
        "Cette planification n'a pas cette autorisation.",
    ),
    "permission_tool": Message(
        "{tool} changes nothing in a vault that a standing permission could cover; name others.",
        "{tool} ne change rien dans un coffre qu'une autorisation puisse couvrir ; nommez-en"
        " d'autres.",
    ),
    "permissions_too_many": Message(
        "A schedule has at most {limit} permissions; revoke one.",
        "Une planification a au plus {limit} autorisations ; révoquez-en une.",
    ),
    "schedule_busy": Message(
        "No run was started: the one of the time before is not over.",
        "Aucune exécution lancée : celle de la fois précédente n'est pas terminée.",
    ),
    "schedule_expression": Message(
        "This is no timetable: write at(2026-12-01T08:00:00), rate(1 day) or"
        " cron(0 8 ? * MON-FRI *).",
        "Ce n'est pas un horaire : écrivez at(2026-12-01T08:00:00), rate(1 day) ou"
        " cron(0 8 ? * MON-FRI *).",
    ),
    "schedule_never": Message(
        "This timetable never fires from now on; name a moment to come.",
        "Cet horaire ne se produit plus ; indiquez un moment à venir.",
    ),
    "schedule_not_found": Message(
        "There is no such schedule among yours.",
        "Cette planification n'existe pas parmi les vôtres.",
    ),
    "schedule_too_often": Message(
        "Two runs of a schedule are at least {minutes} minutes apart; choose a wider timetable.",
        "Deux exécutions d'une planification sont espacées d'au moins {minutes} minutes ;"
        " élargissez l'horaire.",
    ),
    "schedules_too_many": Message(
        "You have {limit} schedules; delete one.",
        "Vous avez {limit} planifications ; supprimez-en une.",
    ),
    "standing_permission_expired": Message(
        "The standing permission for this has expired; it was not done.",
        "L'autorisation permanente pour cela a expiré ; ce n'est pas fait.",
    ),
    "standing_permission_used_up": Message(
        "The standing permission for this is used up; it was not done.",
        "L'autorisation permanente pour cela est épuisée ; ce n'est pas fait.",
    ),
    "time_zone_unknown": Message(
        "There is no time zone {zone}; write one like Europe/Paris.",
        "Le fuseau horaire {zone} n'existe pas ; écrivez par exemple Europe/Paris.",
    ),
}
