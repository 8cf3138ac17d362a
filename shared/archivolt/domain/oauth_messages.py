"""The sentences about signing in and letting programs in (decision 8).

Those that a program reads in `error_description` hold plain ASCII in English, without quotation
marks or backslashes (RFC 6749 §5.2).
"""

from collections.abc import Mapping

from archivolt.domain.language import Message

OAUTH_MESSAGES: Mapping[str, Message] = {
    "connection_not_found": Message(
        "You let no such program in; see the list of those that you did.",
        "Vous n'avez pas accepté ce programme ; voyez la liste de ceux que vous avez acceptés.",
    ),
    "form_foreign": Message(
        "This form was not sent from our own page, or it is too old; open the page again.",
        "Ce formulaire ne vient pas de notre page, ou il est trop ancien ; rouvrez la page.",
    ),
    "identity_refused": Message(
        "Your identity provider did not say who you are and of which organisation; ask an"
        " administrator.",
        "Votre fournisseur d'identité n'a pas dit qui vous êtes ni de quelle organisation ;"
        " demandez à un administrateur.",
    ),
    "link_spent": Message(
        "This sign-in link was used already or has expired; ask for a new one.",
        "Ce lien de connexion a déjà servi ou a expiré ; demandez-en un autre.",
    ),
    "oauth_client": Message(
        "This client is not known here; register again.",
        "Ce client n'est pas connu ici ; enregistrez-le de nouveau.",
    ),
    "oauth_client_metadata": Message(
        "The client metadata cannot be accepted: {name} is missing, wrong or not supported.",
        "Les métadonnées du client sont refusées : {name} manque, est faux ou non pris en charge.",
    ),
    "oauth_client_unknown": Message(
        "The program that sent you here is not known, or does not say who it is; connect it again.",
        "Le programme qui vous envoie est inconnu, ou ne dit pas qui il est ; reconnectez-le.",
    ),
    "oauth_code": Message(
        "This code is not valid for this request; start again from the authorization.",
        "Ce code ne vaut pas pour cette requête ; recommencez depuis l'autorisation.",
    ),
    "oauth_denied": Message(
        "The person did not agree.",
        "La personne n'a pas accepté.",
    ),
    "oauth_grant_type": Message(
        "The grant_type has to be authorization_code or refresh_token.",
        "grant_type doit être authorization_code ou refresh_token.",
    ),
    "oauth_missing": Message(
        "The parameter {name} is required.",
        "Le paramètre {name} est obligatoire.",
    ),
    "oauth_pkce": Message(
        "PKCE is required: send a code_challenge with code_challenge_method=S256.",
        "PKCE est obligatoire : envoyez un code_challenge avec code_challenge_method=S256.",
    ),
    "oauth_redirect_unknown": Message(
        "The program that sent you here asks to be answered at an address that is not its own.",
        "Le programme qui vous envoie veut la réponse à une adresse qui n'est pas la sienne.",
    ),
    "oauth_redirect_uri": Message(
        "Each of the redirect_uris has to be https, http on the loopback, or a scheme of an"
        " application, without a fragment; there have to be 1 to {limit}.",
        "Chacune des redirect_uris doit être en https, en http sur la boucle locale, ou d'un"
        " schéma d'application, sans fragment ; il en faut de 1 à {limit}.",
    ),
    "oauth_refresh": Message(
        "This refresh token is not valid, or was used already; the person has to agree again.",
        "Ce jeton de renouvellement n'est pas valide ou a déjà servi ; redemandez l'accord.",
    ),
    "oauth_repeated": Message(
        "The parameter {name} may be sent once only.",
        "Le paramètre {name} ne peut être envoyé qu'une fois.",
    ),
    "oauth_resource": Message(
        "The resource has to be {resource}, exactly.",
        "resource doit être {resource}, exactement.",
    ),
    "oauth_response_type": Message(
        "The response_type has to be code.",
        "response_type doit être code.",
    ),
    "oauth_scope": Message(
        "None of these scopes is known; ask for {scopes}.",
        "Aucun de ces scopes n'est connu ; demandez {scopes}.",
    ),
    "password_length": Message(
        "A password has {shortest} to {longest} characters.",
        "Un mot de passe a de {shortest} à {longest} caractères.",
    ),
    "sign_in_failed": Message(
        "This name and this password do not go together; try again.",
        "Ce nom et ce mot de passe ne vont pas ensemble ; réessayez.",
    ),
}
