"""What the pages say, in English and French (decision 8)."""

from typing import Final

from archivolt.domain.language import Message

ERROR_TITLE: Final = Message("This does not work", "Cela ne fonctionne pas")

SIGN_IN: Final = Message("Sign in", "Connexion")
CONTINUE: Final = Message("Continue", "Continuer")
SIGN_IN_NAME: Final = Message("Name", "Nom")
SIGN_IN_PASSWORD: Final = Message("Password", "Mot de passe")
SIGN_IN_HINT: Final = Message(
    "“archivolt sign-in” prints a link that signs you in once; open it, then load this page again. "
    "“archivolt user add NAME” gives somebody a password.",
    "« archivolt sign-in » affiche un lien qui vous connecte une fois ; ouvrez-le, puis rechargez "
    "cette page. « archivolt user add NOM » donne un mot de passe à quelqu'un.",
)
SIGNED_IN_AS: Final = Message("You are {user}.", "Vous êtes {user}.")
SIGN_IN_AS: Final = Message("Sign in as {user}?", "Vous connecter en tant que {user} ?")
SIGN_OUT: Final = Message("Sign out", "Se déconnecter")
SIGNED_OUT: Final = Message("You are signed out", "Vous êtes déconnecté")
SIGNED_OUT_TEXT: Final = Message(
    "Programs that you let in stay connected.", "Les programmes que vous avez acceptés le restent."
)

CONSENT: Final = Message("Let {client} in?", "Laisser entrer {client} ?")
CONSENT_TEXT: Final = Message(
    "{client} wants to use Archivolt for you, as {user}. It will be answered at:",
    "{client} veut utiliser Archivolt pour vous, en tant que {user}. La réponse ira à :",
)
CONSENT_PROVEN: Final = Message(
    "The program is the one that {host} publishes.",
    "C'est le programme que publie {host}.",
)
CONSENT_UNPROVEN: Final = Message(
    "The program chose its name itself: agree only if you have just asked it to connect.",
    "Le programme a choisi son nom lui-même : n'acceptez que si vous venez de lancer la connexion.",
)
CONSENT_LOCAL: Final = Message(
    "That is a program on the computer in front of you.",
    "C'est un programme de l'ordinateur devant vous.",
)
ACCESS: Final = Message("What it may do", "Ce qu'il peut faire")
ACCESS_READ: Final = Message("Only search and read", "Seulement chercher et lire")
ACCESS_WRITE: Final = Message(
    "Search, read, and change documents in two steps", "Chercher, lire, et modifier en deux étapes"
)
VAULTS: Final = Message("Which vaults it reaches", "Les coffres qu'il atteint")
VAULTS_ALL: Final = Message("All of mine, also those to come", "Tous les miens, futurs compris")
VAULTS_SOME: Final = Message("Only these:", "Seulement ceux-ci :")
VAULTS_NONE_CHOSEN: Final = Message("Choose at least one vault.", "Choisissez au moins un coffre.")
CONSENT_END: Final = Message(
    "It ends after {days} days, or when you end it under “Programs you let in”.",
    "L'accord dure {days} jours, ou jusqu'à ce que vous y mettiez fin.",
)
AGREE: Final = Message("Agree", "Accepter")
DECLINE: Final = Message("Decline", "Refuser")
OTHER_PERSON: Final = Message("Sign in as somebody else", "Se connecter autrement")

CONNECTIONS: Final = Message("Programs you let in", "Programmes que vous avez acceptés")
CONNECTIONS_NONE: Final = Message("There are none.", "Il n'y en a pas.")
CONNECTION: Final = Message(
    "since {created}, until {expires}: {access}",
    "depuis le {created}, jusqu'au {expires} : {access}",
)
END: Final = Message("End", "Mettre fin")

ACCOUNT: Final = Message("Your account at {server}", "Votre compte chez {server}")
ACCOUNT_ABSENT: Final = Message(
    "None is connected. Once it is, Archivolt may use {server} as you, when you ask for it, and"
    " sends what proves who you are to {place}, which your administrator chose.",
    "Aucun n'est relié. Une fois relié, Archivolt peut utiliser {server} en votre nom, à votre"
    " demande, et envoie ce qui prouve votre identité à {place}, que votre administrateur a"
    " choisi.",
)
ACCOUNT_CONNECTED: Final = Message(
    "It is connected; {host} let you in.", "Il est relié ; {host} vous a laissé entrer."
)
ACCOUNT_SIGN_IN: Final = Message(
    "{host} does not let you in any more, or not far enough: connect it again.",
    "{host} ne vous laisse plus entrer, ou pas assez loin : reliez-le de nouveau.",
)
ACCOUNT_MOVED: Final = Message(
    "{server} has another address now: {place}. {host} let you in to the one before, and nothing of"
    " that is sent to the new one. Connect your account there, or end what is left of the other.",
    "{server} a maintenant une autre adresse : {place}. {host} vous avait laissé entrer à la"
    " précédente, et rien n'en est envoyé à la nouvelle. Reliez-y votre compte, ou coupez ce qui"
    " reste de l'autre lien.",
)
ACCOUNT_OFF: Final = Message(
    "{server} is not used any more, and nothing is sent to it. {host} let you in before; you can"
    " end that.",
    "{server} n'est plus utilisé, et rien ne lui est envoyé. {host} vous avait laissé entrer ; vous"
    " pouvez y mettre fin.",
)
ACCOUNT_ENDED: Final = Message("It is not connected any more.", "Il n'est plus relié.")
ACCOUNT_WAY_ON: Final = Message(
    "For {server}, you sign in at {host}. Go on only if that is who lets people in to {server}.",
    "Pour {server}, vous vous identifiez chez {host}. Ne continuez que si c'est bien lui qui laisse"
    " entrer chez {server}.",
)
ACCOUNT_CONNECT: Final = Message("Connect", "Relier")
ACCOUNT_END: Final = Message("Disconnect", "Couper le lien")
ACCOUNT_DONE_TITLE: Final = Message("Your account is connected", "Votre compte est relié")
ACCOUNT_DONE: Final = Message(
    "Archivolt can use {server} as you now. Go back to your conversation and ask again.",
    "Archivolt peut maintenant utiliser {server} en votre nom. Retournez à la conversation et"
    " redemandez.",
)
