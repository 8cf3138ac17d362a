"""The sentences about tenants and their people (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

TENANCY_MESSAGES: Mapping[str, Message] = {
    "own_tenant": Message(
        "You cannot suspend your own organisation: nobody of it could resume it.",
        "Vous ne pouvez pas suspendre votre propre organisation : plus personne n'y entrerait.",
    ),
    "own_user": Message(
        "You cannot suspend yourself; ask another administrator.",
        "Vous ne pouvez pas vous suspendre vous-même ; demandez à un autre administrateur.",
    ),
    "provider_key_not_found": Message(
        "The settings hold no key for {provider}; give one in chat_api_key or chat_provider_keys.",
        "Les paramètres n'ont aucune clé pour {provider} ; donnez-en une dans chat_api_key ou"
        " chat_provider_keys.",
    ),
    "tenant_deleting": Message(
        "This organisation is being deleted, and nobody can come in any more.",
        "Cette organisation est en cours de suppression, et plus personne ne peut y entrer.",
    ),
    "tenant_exists": Message(
        "There is a tenant {tenant} already; choose another id.",
        "Il existe déjà une organisation {tenant} ; choisissez un autre identifiant.",
    ),
    "tenant_going": Message(
        "The tenant {tenant} is being deleted, or is deleted; that cannot be taken back.",
        "L'organisation {tenant} est supprimée ou en voie de l'être ; c'est sans retour.",
    ),
    "tenant_suspended": Message(
        "Your organisation is suspended; its data is kept. Ask who runs this service.",
        "Votre organisation est suspendue ; ses données sont conservées. Demandez à l'exploitant.",
    ),
    "user_deleting": Message(
        "Your account is being deleted, and you cannot come in until that is done.",
        "Votre compte est en cours de suppression ; vous ne pouvez pas entrer d'ici là.",
    ),
    "user_going": Message(
        "What is held of {user} is being deleted; that cannot be taken back.",
        "Les données de {user} sont en cours de suppression ; c'est sans retour.",
    ),
    "user_not_found": Message(
        "Nobody called {user} was seen in this organisation; list its users to see who was.",
        "Aucun utilisateur {user} n'a été vu dans cette organisation ; listez les utilisateurs.",
    ),
    "user_suspended": Message(
        "Your access is suspended; ask an administrator of your organisation.",
        "Votre accès est suspendu ; demandez à un administrateur de votre organisation.",
    ),
}
