"""What the embedded provider says in its own words, in English and French."""

from collections.abc import Mapping
from typing import NamedTuple


class Phrases(NamedTuple):
    """The sentences of one language; `{…}` is filled in."""

    greeting: str
    thanks: str
    about_itself: str
    found: str
    nothing_found: str
    nothing_close: str
    failed: str
    no_tools: str
    vaults: str
    no_vaults: str
    one_vault: str
    roles: Mapping[str, str]
    page: str
    no_model: str


_EN = Phrases(
    greeting="Hello! Ask me a question: I look for the passages of your documents that answer it.",
    thanks="You are welcome.",
    about_itself=(
        "I search your documents and quote the passages that fit your question, with their "
        "sources. Ask about their content, or ask what is in your vaults."
    ),
    found="Here is what your documents say:",
    nothing_found="I found nothing about this in the documents you have access to.",
    nothing_close=(
        "I found nothing in your documents that really answers this. Other words may help: I "
        "compare your question with the text of the documents."
    ),
    failed="The search did not work: {problem}",
    no_tools="I can only quote your documents, and the tools to reach them are turned off here.",
    vaults="You have access to these vaults:",
    no_vaults="You have no vault yet. Create one, or ask to be made a member of one.",
    one_vault="- **{name}** ({role}), documents: {files}",
    roles={},
    page="p. {page}",
    no_model=(
        "I am not a language model: I quote, I do not write. For written answers, an administrator "
        "can set up a model provider."
    ),
)
_FR = Phrases(
    greeting=(
        "Bonjour ! Posez une question : je cherche les passages de vos documents qui y répondent."
    ),
    thanks="Je vous en prie.",
    about_itself=(
        "Je cherche dans vos documents et je cite les passages qui répondent à votre question, "
        "avec leurs sources. Interrogez leur contenu, ou demandez ce que contiennent vos coffres."
    ),
    found="Voici ce que disent vos documents :",
    nothing_found="Je n'ai rien trouvé à ce sujet dans les documents auxquels vous avez accès.",
    nothing_close=(
        "Je n'ai rien trouvé dans vos documents qui réponde vraiment. D'autres mots peuvent "
        "aider : je compare votre question au texte des documents."
    ),
    failed="La recherche n'a pas fonctionné : {problem}",
    no_tools=(
        "Je ne sais que citer vos documents, et les outils qui y mènent sont désactivés dans cette "
        "demande."
    ),
    vaults="Vous avez accès à ces coffres :",
    no_vaults="Vous n'avez pas encore de coffre. Créez-en un, ou demandez l'accès à l'un d'eux.",
    one_vault="- **{name}** ({role}), documents : {files}",
    roles={"reader": "lecture", "writer": "écriture", "owner": "propriétaire"},
    page="p. {page}",
    no_model=(
        "Je ne suis pas un modèle de langage : je cite, je ne rédige pas. Pour des réponses "
        "rédigées, un administrateur peut configurer un fournisseur de modèles."
    ),
)


def phrases_in(language: str) -> Phrases:
    """Return the sentences of `fr`, or of any other language in English."""
    return _FR if language == "fr" else _EN
