"""The sentences of agent runs: why one is over, and what cannot be done with it (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

RUN_MESSAGES: Mapping[str, Message] = {
    "answered": Message(
        "The run has answered.",
        "L'exécution a rendu sa réponse.",
    ),
    "approval_expired": Message(
        "Nobody decided on this change in time; it was not made.",
        "Personne ne s'est prononcé à temps sur ce changement ; il n'a pas été fait.",
    ),
    "approval_decided": Message(
        "This change was decided on already ({state}); read the run again.",
        "Ce changement est déjà tranché ({state}) ; relisez l'exécution.",
    ),
    "approval_not_found": Message(
        "No such change waits in this run: it was edited, or never was; read the run again.",
        "Aucun changement de ce nom n'attend ici, ou il a été modifié ; relisez l'exécution.",
    ),
    "idempotency_key_reused": Message(
        "This idempotency key was used for another run; send a new one.",
        "Cette clé d'idempotence a servi à une autre exécution ; envoyez-en une nouvelle.",
    ),
    "run_cancelled": Message(
        "The run was cancelled.",
        "L'exécution a été annulée.",
    ),
    "run_cost_cap": Message(
        "Stopped: the run's cap of {limit} micro-dollars leaves no room for another answer.",
        "Arrêt : le plafond de {limit} micro-dollars de l'exécution ne permet plus de réponse.",
    ),
    "run_declined": Message(
        "Stopped: a change that the run proposed was declined.",
        "Arrêt : un changement proposé par l'exécution a été refusé.",
    ),
    "run_failed": Message(
        "The run broke off on our side; start it again, and report its id if that persists.",
        "L'exécution s'est rompue de notre côté ; relancez-la, ou signalez son id.",
    ),
    "run_not_found": Message(
        "There is no such run among yours.",
        "Cette exécution n'existe pas parmi les vôtres.",
    ),
    "run_over": Message(
        "This run is over ({status}); start another one.",
        "Cette exécution est terminée ({status}) ; lancez-en une autre.",
    ),
    "run_provider_down": Message(
        "Stopped: the provider has not answered for {limit} seconds; start the run again later.",
        "Arrêt : le fournisseur ne répond plus depuis {limit} secondes ; relancez plus tard.",
    ),
    "run_stopped": Message(
        "Stopped ({code}).",
        "Arrêt ({code}).",
    ),
    "run_token_ended": Message(
        "Stopped: the token that the run was started with was revoked, or is over.",
        "Arrêt : le jeton qui a lancé l'exécution est révoqué, ou expiré.",
    ),
    "run_vault_lost": Message(
        "Stopped: a vault that the run works in is no longer open to who started it.",
        "Arrêt : un coffre de l'exécution n'est plus ouvert à la personne qui l'a lancée.",
    ),
    "runs_too_many": Message(
        "You have {limit} runs that are not over; wait for one to end, or cancel one.",
        "Vous avez {limit} exécutions en cours ; attendez la fin de l'une, ou annulez-en une.",
    ),
    "runs_unavailable": Message(
        "This deployment runs no agents; its state machine is not set up.",
        "Ce déploiement n'exécute pas d'agents ; sa machine à états n'est pas installée.",
    ),
}
