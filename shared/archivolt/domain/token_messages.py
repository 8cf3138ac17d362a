"""The sentences about access tokens (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

TOKEN_MESSAGES: Mapping[str, Message] = {
    "token_not_found": Message(
        "You have no such token; list the tokens to see their ids.",
        "Vous n'avez pas ce jeton ; listez les jetons pour voir leurs identifiants.",
    ),
    "token_read_only": Message(
        "This token may only read; to change documents, connect again and allow changes.",
        "Ce jeton ne permet que la lecture ; pour modifier, reconnectez-vous en l'autorisant.",
    ),
    "too_many_tokens": Message(
        "You have {limit} tokens already; delete one that you no longer use.",
        "Vous avez déjà {limit} jetons ; supprimez-en un qui ne sert plus.",
    ),
}
