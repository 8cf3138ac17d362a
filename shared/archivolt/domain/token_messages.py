"""The sentences about access tokens (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

TOKEN_MESSAGES: Mapping[str, Message] = {
    "token_not_found": Message(
        "You have no such token; list the tokens to see their ids.",
        "Vous n'avez pas ce jeton ; listez les jetons pour voir leurs identifiants.",
    ),
    "token_read_only": Message(
        "This token may only read; use one that may also write.",
        "Ce jeton ne permet que la lecture ; utilisez-en un qui permet aussi l'écriture.",
    ),
    "too_many_tokens": Message(
        "You have {limit} tokens already; delete one that you no longer use.",
        "Vous avez déjà {limit} jetons ; supprimez-en un qui ne sert plus.",
    ),
}
