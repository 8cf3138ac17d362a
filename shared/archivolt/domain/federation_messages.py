"""The sentences about MCP servers of others (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

FEDERATION_MESSAGES: Mapping[str, Message] = {
    "mcp_account_not_found": Message(
        "You have no account connected to {server}; connect one first.",
        "Vous n'avez pas de compte relié à {server} ; reliez-en un d'abord.",
    ),
    "mcp_call_cut": Message(
        "The connection to {server} broke during the call ({reason}); ask again.",
        "La connexion à {server} s'est rompue pendant l'appel ({reason}) ; redemandez.",
    ),
    "mcp_call_timeout": Message(
        "{server} gave no answer within {limit} seconds; ask for less, or try again later.",
        "{server} n'a pas répondu en {limit} secondes ; demandez moins ou réessayez plus tard.",
    ),
    "mcp_client_needed": Message(
        "{server} takes no program that it does not know: an administrator has to register"
        " Archivolt there, for {address}, and give its client_id.",
        "{server} n'accepte pas de programme inconnu : un administrateur doit y inscrire Archivolt,"
        " pour {address}, et donner son client_id.",
    ),
    "mcp_input_required": Message(
        "{server} asks something before it goes on; answer it in the conversation.",
        "{server} pose une question avant de continuer ; répondez dans la conversation.",
    ),
    "mcp_list_too_large": Message(
        "{server} lists {tools} tools in {size} bytes, too many to offer; name some in expose.",
        "{server} liste {tools} outils en {size} octets, c'est trop ; nommez-en dans expose.",
    ),
    "mcp_outcome_unknown": Message(
        "Whether {server} did this is not known ({reason}): look before you ask for it again.",
        "On ignore si {server} l'a fait ({reason}) : vérifiez avant de le redemander.",
    ),
    "mcp_parameter_missing": Message(
        "{server} needs {name}; give it with PUT /api/v1/mcp/{server}.",
        "{server} demande {name} ; donnez-le par PUT /api/v1/mcp/{server}.",
    ),
    "mcp_parameter_unusable": Message(
        "{name} cannot be set for {server}; leave it out.",
        "{name} ne peut être réglé pour {server} ; retirez-le.",
    ),
    "mcp_server_not_found": Message(
        "There is no MCP server {server}; list those there are with GET /api/v1/mcp.",
        "Il n'y a pas de serveur MCP {server} ; listez ceux qui existent par GET /api/v1/mcp.",
    ),
    "mcp_server_unavailable": Message(
        "The MCP server {server} cannot be used just now ({reason}); it is tried again later.",
        "Le serveur MCP {server} est inutilisable pour l'instant ({reason}) ; à réessayer.",
    ),
    "mcp_servers_too_many": Message(
        "There are {limit} servers of your own already; remove one first.",
        "Il y a déjà {limit} serveurs à vous ; retirez-en un d'abord.",
    ),
    "mcp_sign_in_needed": Message(
        "{server} asks for your own account: connect it at {address}, then ask again.",
        "{server} demande votre propre compte : reliez-le sur {address}, puis redemandez.",
    ),
    "mcp_sign_in_over": Message(
        "This sign-in is over, or somebody else began it; begin anew.",
        "Cette connexion est terminée, ou un autre l'a commencée ; recommencez.",
    ),
    "mcp_sign_in_refused": Message(
        "{server} did not let you in ({reason}); begin anew.",
        "{server} ne vous a pas laissé entrer ({reason}) ; recommencez.",
    ),
    "mcp_sign_in_unavailable": Message(
        "{server} asks for your own account, and nobody can sign in to this deployment by browser;"
        " have an administrator give PublicUrl and AuthClientId.",
        "{server} demande votre propre compte, et nul ne peut se connecter à ce déploiement par un"
        " navigateur ; faites donner PublicUrl et AuthClientId par un administrateur.",
    ),
    "mcp_sign_in_unusable": Message(
        "Nobody can be let in to {server} by a sign-in ({reason}); an administrator can give a"
        " key.",
        "Personne ne peut entrer dans {server} par une connexion ({reason}) ; un administrateur"
        " peut donner une clé.",
    ),
    "mcp_stdio_unavailable": Message(
        "{server} is a program, and this deployment runs none: give its url, or use the local"
        " stack.",
        "{server} est un programme, et ce déploiement n'en lance aucun : donnez son url, ou"
        " utilisez la pile locale.",
    ),
    "mcp_tool_failed": Message(
        "{server} says that it failed ({answer}).",
        "{server} dit avoir échoué ({answer}).",
    ),
    "mcp_tools_changed": Message(
        "The tools of {server} are not those agreed to; an administrator has to look at them.",
        "Les outils de {server} ne sont plus ceux acceptés ; un administrateur doit les revoir.",
    ),
    "mcp_tools_too_many": Message(
        "Of the tools of MCP servers {limit} are offered and {left} are not; expose fewer.",
        "Des outils des serveurs MCP, {limit} sont proposés et {left} ne le sont pas ; exposez-en"
        " moins.",
    ),
    "mcp_question_unanswerable": Message(
        "{server} asks for something that cannot be given here ({reason}).",
        "{server} demande une chose qui ne peut être donnée ici ({reason}).",
    ),
}
