"""The sentences about erasures (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

ERASURE_MESSAGES: Mapping[str, Message] = {
    "erasure_not_found": Message(
        "There is no receipt of that id that you may see.",
        "Aucun reçu que vous puissiez voir ne porte cet identifiant.",
    ),
    "erasure_unconfirmed": Message(
        "This cannot be undone. Repeat the name to confirm it (confirm={name}).",
        "C'est irréversible. Répétez le nom pour confirmer (confirm={name}).",
    ),
    "last_owner_of": Message(
        "{user} is the only owner of vaults that others use: {vaults}. Name another owner of each,"
        " or delete them first.",
        "{user} est seul propriétaire d'espaces que d'autres utilisent : {vaults}. Nommez-en un"
        " autre propriétaire, ou supprimez-les d'abord.",
    ),
    "own_tenant_erased": Message(
        "You cannot delete your own organisation; another administrator of the service can.",
        "Vous ne pouvez pas supprimer votre propre organisation ; un autre administrateur du"
        " service le peut.",
    ),
    "personal_vault": Message(
        "{vault} is your personal vault: it goes with your account. Delete its files instead.",
        "{vault} est votre espace personnel : il est supprimé avec votre compte. Supprimez plutôt"
        " ses fichiers.",
    ),
}
