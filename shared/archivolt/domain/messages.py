"""The sentence behind every code, in English and French (decision 8).

A test holds this table to the codes used in the source and to the values each raise passes.
"""

from collections.abc import Mapping

from archivolt.domain.change_messages import CHANGE_MESSAGES
from archivolt.domain.chat_messages import CHAT_MESSAGES
from archivolt.domain.confirmation_messages import CONFIRMATION_MESSAGES
from archivolt.domain.document_messages import DOCUMENT_MESSAGES
from archivolt.domain.erasure_messages import ERASURE_MESSAGES
from archivolt.domain.federation_messages import FEDERATION_MESSAGES
from archivolt.domain.language import Language, Message
from archivolt.domain.oauth_messages import OAUTH_MESSAGES
from archivolt.domain.reasons import REASONS
from archivolt.domain.run_messages import RUN_MESSAGES
from archivolt.domain.schedule_messages import SCHEDULE_MESSAGES
from archivolt.domain.search_messages import SEARCH_MESSAGES
from archivolt.domain.tenancy_messages import TENANCY_MESSAGES
from archivolt.domain.token_messages import TOKEN_MESSAGES
from archivolt.domain.web_messages import WEB_MESSAGES
from archivolt.domain.webhook_messages import WEBHOOK_MESSAGES

_MESSAGES: Mapping[str, Message] = {
    "address_not_allowed": Message(
        "The host {host} is not on the public Internet, and this deployment does not allow it.",
        "L'hôte {host} n'est pas sur l'Internet public, et ce déploiement ne l'autorise pas.",
    ),
    "conflict": Message(
        "This has changed meanwhile; read it again and retry.",
        "Cela a changé entre-temps ; relisez puis réessayez.",
    ),
    "content_too_large": Message(
        "The content has {size} bytes and the limit is {limit}; split it, or upload it as a file.",
        "Le contenu fait {size} octets, la limite est {limit} ; découpez-le ou téléversez-le.",
    ),
    "content_type_not_json": Message(
        "Send the body as JSON, with Content-Type: application/json.",
        "Envoyez le corps en JSON, avec Content-Type: application/json.",
    ),
    "destructive_tools_off": Message(
        "The owner of the vault {vault} does not allow tools that move or delete; ask them.",
        "Le propriétaire du coffre {vault} interdit aux outils de déplacer et de supprimer ; "
        "demandez-le-lui.",
    ),
    "directory_not_found": Message(
        "There is no directory {path} in this vault; list its parent to see what is there.",
        "Il n'y a pas de dossier {path} dans ce coffre ; listez son parent pour voir son contenu.",
    ),
    "file_exists": Message(
        "{path} already exists; choose another name or edit the existing file.",
        "{path} existe déjà ; choisissez un autre nom ou modifiez le fichier existant.",
    ),
    "file_not_found": Message(
        "There is no file {path} in this vault; list the directory to see what is there.",
        "Il n'y a pas de fichier {path} dans ce coffre ; listez le dossier pour voir son contenu.",
    ),
    "file_not_text": Message(
        "{path} is not a text file; read it raw or search its extracted text.",
        "{path} n'est pas un fichier texte ; lisez-le brut ou cherchez dans son texte extrait.",
    ),
    "file_too_large": Message(
        "{path} has {size} bytes and the limit here is {limit}; read it in parts.",
        "{path} fait {size} octets et la limite ici est {limit} ; lisez-le par parties.",
    ),
    "forbidden": Message(
        "Your role does not allow this; ask an administrator.",
        "Votre rôle ne le permet pas ; demandez à un administrateur.",
    ),
    "internal": Message(
        "Something went wrong on our side; retry, and report the request id if it persists.",
        "Une erreur s'est produite de notre côté ; réessayez et signalez l'identifiant de requête.",
    ),
    "human_confirmation_required": Message(
        "A person has to agree to this change first; give them the approval_url of its proposal,"
        " then apply it again.",
        "Une personne doit d'abord accepter ce changement ; donnez-lui l'approval_url de la"
        " proposition, puis appliquez de nouveau.",
    ),
    "invalid_arguments": Message(
        "The arguments are not valid: {problem}.",
        "Les arguments ne sont pas valides : {problem}.",
    ),
    "invalid_path": Message(
        "This path is not accepted ({reason}); give a path inside the vault such as notes/idea.md.",
        "Ce chemin n'est pas accepté ({reason}) ; donnez un chemin du coffre, ex. notes/idee.md.",
    ),
    "invalid_request": Message(
        "The request is not valid: {problem}.",
        "La requête n'est pas valide : {problem}.",
    ),
    "invalid_token": Message(
        "The access token is not valid; sign in again.",
        "Le jeton d'accès n'est pas valide ; reconnectez-vous.",
    ),
    "invalid_vault_name": Message(
        "This vault name is not accepted ({reason}); use 1 to 64 characters without slashes.",
        "Ce nom de coffre n'est pas accepté ({reason}) ; 1 à 64 caractères sans barre oblique.",
    ),
    "last_owner": Message(
        "{user} is the only owner of this vault; make somebody else an owner first.",
        "{user} est seul propriétaire de ce coffre ; nommez d'abord un autre propriétaire.",
    ),
    "meaning_unavailable": Message(
        "Search by meaning is down: these hits were found by their words alone.",
        "La recherche par le sens est en panne : ces résultats viennent des mots seuls.",
    ),
    "member_not_found": Message(
        "{user} is not a member of this vault; list its members to see who is.",
        "{user} n'est pas membre de ce coffre ; listez ses membres pour les voir.",
    ),
    "method_not_allowed": Message(
        "This address does not answer to this method; see the allowed ones in Allow.",
        "Cette adresse n'accepte pas cette méthode ; voyez celles permises dans Allow.",
    ),
    "missing_token": Message(
        "Send an access token in the Authorization header, as Bearer.",
        "Envoyez un jeton d'accès dans l'en-tête Authorization, en Bearer.",
    ),
    "not_found": Message(
        "There is nothing at this address.",
        "Il n'y a rien à cette adresse.",
    ),
    "origin_not_allowed": Message(
        "Web pages of this origin may not call; ask an administrator to allow it.",
        "Les pages de cette origine ne peuvent pas appeler ; demandez à un administrateur.",
    ),
    "owner_required": Message(
        "Only an owner of the vault {vault} may do this; ask one.",
        "Seul un propriétaire du coffre {vault} peut le faire ; demandez-le-lui.",
    ),
    "path_taken": Message(
        "{path} is both a file and a directory this way; choose another name.",
        "{path} serait à la fois un fichier et un dossier ; choisissez un autre nom.",
    ),
    "person_required": Message(
        "This takes a person's own sign-in; with this token, use the tools instead.",
        "Il faut ici la connexion d'une personne ; avec ce jeton, utilisez les outils.",
    ),
    "range_not_satisfiable": Message(
        "{path} has {size} bytes: ask for a range inside it.",
        "{path} fait {size} octets : demandez une plage à l'intérieur.",
    ),
    "rate_limited": Message(
        "Too many calls; retry in {retry_after} seconds.",
        "Trop d'appels ; réessayez dans {retry_after} secondes.",
    ),
    "request_too_large": Message(
        "The request has {size} bytes and the limit is {limit}; use an upload for large files.",
        "La requête fait {size} octets et la limite est {limit} ; téléversez les gros fichiers.",
    ),
    "result_continues": Message(
        "Cut to fit: call again with {argument} = {position} to read on.",
        "Coupé pour tenir : rappelez avec {argument} = {position} pour lire la suite.",
    ),
    "result_cut": Message(
        "Cut to fit: {kept} of {total} are shown; ask for less to see each whole.",
        "Coupé pour tenir : {kept} sur {total} affichés ; demandez moins pour tout voir.",
    ),
    "secret_unreadable": Message(
        "A stored secret cannot be read; set it again in the settings.",
        "Un secret enregistré est illisible ; ressaisissez-le dans les paramètres.",
    ),
    "tenant_not_found": Message(
        "There is no tenant {tenant} that you administer.",
        "Il n'y a pas d'organisation {tenant} que vous administriez.",
    ),
    "tool_not_found": Message(
        "There is no tool {tool}; list the tools to see the names.",
        "Il n'y a pas d'outil {tool} ; listez les outils pour voir leurs noms.",
    ),
    "unavailable": Message(
        "A service we depend on does not answer; retry the same in a moment.",
        "Un service dont nous dépendons ne répond pas ; réessayez la même chose dans un moment.",
    ),
    "unknown_page": Message(
        "There is no such page; start again from the first.",
        "Cette page n'existe pas ; reprenez depuis la première.",
    ),
    "unreadable_request": Message(
        "The request cannot be read; send a complete, well-formed one.",
        "La requête est illisible ; envoyez-en une complète et bien formée.",
    ),
    "vault_exists": Message(
        "A vault named {vault} already exists in your organisation; choose another name.",
        "Un coffre nommé {vault} existe déjà dans votre organisation ; choisissez un autre nom.",
    ),
    "vault_not_found": Message(
        "There is no vault {vault} among yours; list the vaults to see their names.",
        "Aucun coffre {vault} parmi les vôtres ; listez les coffres pour voir leurs noms.",
    ),
    "vault_read_only": Message(
        "You may read the vault {vault} but not change it; ask its owner.",
        "Vous pouvez lire le coffre {vault} mais pas le modifier ; demandez à son propriétaire.",
    ),
    "words_unavailable": Message(
        "Search by words is down: these hits were found by their meaning alone.",
        "La recherche par mots est en panne : ces résultats viennent du sens seul.",
    ),
}

MESSAGES: Mapping[str, Message] = dict(
    sorted(
        {
            **_MESSAGES,
            **CHANGE_MESSAGES,
            **CHAT_MESSAGES,
            **CONFIRMATION_MESSAGES,
            **DOCUMENT_MESSAGES,
            **ERASURE_MESSAGES,
            **FEDERATION_MESSAGES,
            **OAUTH_MESSAGES,
            **RUN_MESSAGES,
            **SCHEDULE_MESSAGES,
            **SEARCH_MESSAGES,
            **TENANCY_MESSAGES,
            **TOKEN_MESSAGES,
            **WEB_MESSAGES,
            **WEBHOOK_MESSAGES,
        }.items()
    )
)
"""Every code's sentence, in alphabetical order."""


def message_for(code: str, language: Language, details: Mapping[str, object]) -> str:
    """Return the sentence of `code`; an unknown code or a missing value never raises."""
    message = MESSAGES.get(code, MESSAGES["internal"])
    values = {**details}
    for name in ("reason", "problem"):
        if name in details:
            values[name] = reason_for(str(details[name]), language, details)
    return message.spoken(language).format_map(_Quoted(values))


def reason_for(reason: str, language: Language, details: Mapping[str, object]) -> str:
    """Return the clause of a code of `REASONS`; what is no code is returned as it is."""
    clause = REASONS.get(reason)
    return reason if clause is None else clause.spoken(language).format_map(_Quoted(details))


class _Quoted(dict[str, object]):
    """Details for `str.format_map`; what is missing shows as `?` instead of raising."""

    def __missing__(self, key: str) -> str:
        return "?"


def language_of(accept_language: str | None) -> Language:
    """Return the first language of an `Accept-Language` header that we speak (default English).

    Quality values are honoured (RFC 9110 §12.5.4); an unreadable header counts as absent.
    """
    wishes: list[tuple[float, int, str]] = []
    for position, part in enumerate((accept_language or "").split(",")):
        tag, _, quality = part.strip().partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            continue
        wishes.append((-weight, position, tag.strip().lower().split("-")[0]))
    for negative_weight, _, tag in sorted(wishes):
        if negative_weight < 0 and tag in {Language.EN, Language.FR}:
            return Language(tag)
    return Language.EN
