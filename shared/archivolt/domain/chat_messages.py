"""The sentences of the chat: turns, models and their providers (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

CHAT_MESSAGES: Mapping[str, Message] = {
    "answer_cut": Message(
        "The answer was cut at {limit} tokens; ask to continue, or have the limit raised.",
        "La réponse a été coupée à {limit} jetons ; demandez la suite ou faites relever la limite.",
    ),
    "answer_empty": Message(
        "The model gave no answer; retry or put the question otherwise.",
        "Le modèle n'a rien répondu ; réessayez ou formulez la question autrement.",
    ),
    "answer_filtered": Message(
        "The provider's content filter stopped the answer; put the question otherwise.",
        "Le filtre de contenu du fournisseur a arrêté la réponse ; formulez la question autrement.",
    ),
    "budget": Message(
        "Stopped: the budget has no room for another answer.",
        "Arrêt : le budget ne permet pas une réponse de plus.",
    ),
    "budget_exceeded": Message("Monthly token budget exceeded", "Budget mensuel de tokens dépassé"),
    "budget_low": Message(
        "{percent} % of this month's budget is used: {spent_usd} of {budget_usd} US dollars.",
        "{percent} % du budget du mois est consommé : {spent_usd} sur {budget_usd} dollars.",
    ),
    "daily_tokens_exceeded": Message(
        "Daily token limit exceeded.", "Limite journalière de tokens dépassée."
    ),
    "chat_disabled": Message(
        "The chat is turned off for your organisation; ask an administrator.",
        "Le chat est désactivé pour votre organisation ; demandez à un administrateur.",
    ),
    "confirmation_not_waiting": Message(
        "No such change waits here: it was decided on, or it expired; read the conversation again.",
        "Aucun changement de ce nom n'attend ici : décidé ou expiré ; relisez la conversation.",
    ),
    "context_not_given": Message(
        "{why} Not given to the model: {documents}.",
        "{why} Non transmis au modèle : {documents}.",
    ),
    "conversation_busy": Message(
        "An answer is still being written in this conversation; wait for its end and retry.",
        "Une réponse est en cours dans cette conversation ; attendez sa fin puis réessayez.",
    ),
    "conversation_not_found": Message(
        "There is no such conversation among yours.",
        "Cette conversation n'existe pas parmi les vôtres.",
    ),
    "image_too_large": Message(
        "An image has more than {limit} bytes; send a smaller one.",
        "Une image fait plus de {limit} octets ; envoyez-en une plus petite.",
    ),
    "image_unusable": Message(
        "An image cannot be used: {reason}.",
        "Une image est inutilisable : {reason}.",
    ),
    "editor_needs_model": Message(
        "The embedded provider only quotes; have an administrator configure a model to edit text.",
        "Le fournisseur embarqué ne fait que citer ; faites configurer un modèle pour éditer.",
    ),
    "loop_no_progress": Message(
        "Stopped: the last tool calls brought nothing new; put the question otherwise.",
        "Arrêt : les derniers appels d'outils n'apportaient rien ; formulez la question autrement.",
    ),
    "loop_repeated_call": Message(
        "Stopped: the model repeated the same tool call; put the question otherwise.",
        "Arrêt : le modèle répétait le même appel d'outil ; formulez la question autrement.",
    ),
    "loop_too_long": Message(
        "Stopped: the answer took more than {limit} seconds; ask for less at a time.",
        "Arrêt : la réponse a pris plus de {limit} secondes ; demandez moins à la fois.",
    ),
    "loop_too_many_calls": Message(
        "Stopped after {limit} tool calls; ask for less at a time.",
        "Arrêt après {limit} appels d'outils ; demandez moins à la fois.",
    ),
    "loop_too_many_steps": Message(
        "Stopped after {limit} steps; ask for less at a time.",
        "Arrêt après {limit} étapes ; demandez moins à la fois.",
    ),
    "loop_unusable_calls": Message(
        "Stopped: the model kept writing tool calls that cannot run; try another model.",
        "Arrêt : le modèle écrivait des appels d'outils inutilisables ; essayez un autre modèle.",
    ),
    "model_price_unknown": Message(
        "The model {model} of {provider} has no known price; have an administrator give it one in"
        " the setting chat_model_prices, zero if it costs nothing.",
        "Le modèle {model} de {provider} n'a pas de prix connu ; faites-le fixer par un"
        " administrateur dans le réglage chat_model_prices, zéro s'il ne coûte rien.",
    ),
    "skill_is_builtin": Message(
        "{skill} is the name of a method that is shipped; choose another one.",
        "{skill} est le nom d'une méthode fournie ; choisissez-en un autre.",
    ),
    "skill_not_found": Message(
        "You have no skill {skill}; list those that you have.",
        "Vous n'avez pas de compétence {skill} ; listez celles que vous avez.",
    ),
    "skills_too_many": Message(
        "You may keep {limit} skills; remove one first.",
        "Vous pouvez garder {limit} compétences ; retirez-en une d'abord.",
    ),
    "model_required": Message(
        "Name a model for the provider {provider}, in the request or as chat_model.",
        "Indiquez un modèle pour le fournisseur {provider}, dans la requête ou par chat_model.",
    ),
    "provider_busy": Message(
        "The provider {provider} takes no more requests for now ({reason}); retry in a moment.",
        "Le fournisseur {provider} ne prend plus de requêtes ({reason}) ; réessayez bientôt.",
    ),
    "provider_credit_spent": Message(
        "The credit at the provider {provider} is spent ({reason}); ask an administrator.",
        "Le crédit chez le fournisseur {provider} est épuisé ({reason}) ; voyez un administrateur.",
    ),
    "provider_key_refused": Message(
        "The provider {provider} does not accept the key; have an administrator set another.",
        "Le fournisseur {provider} refuse la clé ; un administrateur doit en régler une autre.",
    ),
    "provider_model_unknown": Message(
        "The provider {provider} has no such model or address ({reason}); check both.",
        "Le fournisseur {provider} n'a pas ce modèle ou cette adresse ({reason}) ; vérifiez-les.",
    ),
    "provider_not_allowed": Message(
        "Your organisation does not use the provider {provider}; choose another.",
        "Votre organisation n'utilise pas le fournisseur {provider} ; choisissez-en un autre.",
    ),
    "provider_not_configured": Message(
        "The provider {provider} is not set up here; ask an administrator.",
        "Le fournisseur {provider} n'est pas configuré ici ; demandez à un administrateur.",
    ),
    "provider_refused": Message(
        "The provider {provider} refuses the request ({reason}); check the key and the model.",
        "Le fournisseur {provider} refuse la requête ({reason}) ; vérifiez la clé et le modèle.",
    ),
    "provider_unavailable": Message(
        "The model provider {provider} does not answer ({reason}); retry or choose another.",
        "Le fournisseur {provider} ne répond pas ({reason}) ; réessayez ou choisissez-en un autre.",
    ),
    "provider_unknown": Message(
        "There is no provider {provider}; the known ones are {known}.",
        "Il n'y a pas de fournisseur {provider} ; les fournisseurs connus sont {known}.",
    ),
    "turn_interrupted": Message(
        "The answer was interrupted; send the message again.",
        "La réponse a été interrompue ; renvoyez le message.",
    ),
    "turn_stopped": Message("The answer was stopped.", "La réponse a été arrêtée."),
    "turn_too_large": Message(
        "This turn has {size} bytes and the limit is {limit}; ask for less at once.",
        "Cet échange fait {size} octets et la limite est {limit} ; demandez-en moins à la fois.",
    ),
    "text_too_long": Message(
        "The text has about {size} tokens, the model takes {limit}; send a part of it.",
        "Le texte a environ {size} jetons, le modèle en prend {limit} ; envoyez-en une partie.",
    ),
    "vision_unsupported": Message(
        "The model {model} does not see images; send text only.",
        "Le modèle {model} ne voit pas les images ; n'envoyez que du texte.",
    ),
}
