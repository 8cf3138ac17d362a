"""The methods that are shipped, and which message gets which (L17, L18)."""

import pytest

from archivolt.agent.skills import builtin_skills, fitting_skill, instruction
from archivolt.domain.messages import Language
from archivolt.domain.skill import Skill

# The steps of each method, in order, as L17 has them.
STEPS = {
    "debogage-systematique": (
        ["reproduire", "isoler", "hypothèse", "corriger", "vérifier"],
        ["reproduce", "isolate", "hypothesis", "correct", "verify"],
    ),
    "creation-web": (
        ["structure sémantique", "style", "interactivité", "vérification"],
        ["semantic structure", "style", "interactivity", "verification"],
    ),
    "refactor-sur": (
        ["comprendre", "garde-fous", "petits pas", "vérifier à chaque pas"],
        ["understand", "guard rails", "small steps", "verify at each step"],
    ),
    "analyse-donnees": (
        ["examiner le format", "valider", "transformer", "présenter"],
        ["examine the format", "validate", "transform", "present"],
    ),
    "redaction-structuree": (
        ["plan", "rédaction", "relecture ciblée"],
        ["outline", "writing", "focused review"],
    ),
}


def names(language: Language) -> list[str]:
    return [skill.id for skill in builtin_skills(language)]


def chosen(text: str) -> str | None:
    skill = fitting_skill(text, builtin_skills(Language.FR))
    return skill.id if skill else None


@pytest.mark.parametrize("language", list(Language))
def test_the_five_are_there_in_both_languages(language: Language) -> None:
    assert names(language) == list(STEPS)
    assert all(s.title and s.description and s.icon for s in builtin_skills(language))


@pytest.mark.parametrize("skill", builtin_skills(Language.FR), ids=lambda skill: skill.id)
def test_each_french_method_has_its_steps_in_order(skill: Skill) -> None:
    headings = [line.split("**")[1].lower() for line in skill.prompt.splitlines()]

    assert len(headings) == len(STEPS[skill.id][0])
    for heading, step in zip(headings, STEPS[skill.id][0], strict=True):
        assert step in heading


@pytest.mark.parametrize("skill", builtin_skills(Language.EN), ids=lambda skill: skill.id)
def test_each_english_method_has_its_steps_in_order(skill: Skill) -> None:
    headings = [line.split("**")[1].lower() for line in skill.prompt.splitlines()]

    for heading, step in zip(headings, STEPS[skill.id][1], strict=True):
        assert step in heading


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mon script plante avec TypeError", "debogage-systematique"),
        ("Mon programme ne marche plus depuis hier", "debogage-systematique"),
        ("My program crashes at start", "debogage-systematique"),
        ("There is a bug in the HTML of the page", "debogage-systematique"),
        ("l'application a planté hier soir", "debogage-systematique"),
        ("ça plante quand je clique", "debogage-systematique"),
        ("Mon appli crashe au lancement", "debogage-systematique"),
        ("the server crashed last night", "debogage-systematique"),
        ("It throws an exception when I save", "debogage-systematique"),
        ("Les bogues du module", "debogage-systematique"),
        ("La mise à jour a introduit une régression", "debogage-systematique"),
        ("Ça marche plus, rien ne fonctionne", "debogage-systematique"),
        ("it's not working", "debogage-systematique"),
        ("The tests are failing since Monday", "debogage-systematique"),
        ("Le build échoue", "debogage-systematique"),
        ("pourquoi ce code ne compile pas ?", "debogage-systematique"),
        ("Crée une page web pour mon café", "creation-web"),
        ("Build me a landing page with CSS", "creation-web"),
        ("refactorise ce module", "refactor-sur"),
        ("This function has duplicated code", "refactor-sur"),
        ("Quelle est la moyenne de la colonne B du CSV ?", "analyse-donnees"),
        ("run a linear regression on the dataset", "analyse-donnees"),
        ("Calcule la moyenne des ventes", "analyse-donnees"),
        ("analyze the data in sales.csv", "analyse-donnees"),
        ("Rédige un compte-rendu de la réunion", "redaction-structuree"),
        ("REDIGER une lettre", "redaction-structuree"),
        ("Write a report on the sales", "redaction-structuree"),
        ("Écris-moi un rapport sur les ventes", "redaction-structuree"),
    ],
)
def test_a_message_gets_the_method_that_its_words_ask_for(text: str, expected: str) -> None:
    assert chosen(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Bonjour !",
        "Où est la clé de la maison ?",
        "Where is the spare key?",
        "Résume cette note",
        "Merci, c'est parfait.",
        "Quel est le taux horaire moyen ?",
        "What is the state of the debate on budgets?",
        "Planifie le déménagement",
        "Everyone signed without exception",
        "Tous ont répondu sans exception",
        "Notre CA est en régression depuis mars",
        "je plante des tomates",
        "Elle a planté un arbre",
        "the stock market crash of 1929",
        "The plane crashed in 1985",
        "Bugatti price list",
        "Paul is not working on Fridays",
        "La voiture ne démarre pas",
        "There is an error in the invoice",
        "Liste les PME de taille moyenne",
        "",
    ],
)
def test_an_ordinary_message_gets_none(text: str) -> None:
    assert chosen(text) is None


def test_words_are_whole_unless_a_keyword_says_otherwise() -> None:
    skill = Skill(
        id="s", title="S", icon="", description="", prompt="p", keywords=("art", "mur*", "l'été")
    )

    assert fitting_skill("L'ART, enfin", [skill]) is None  # `L'ART` is one word
    assert fitting_skill("art", [skill]) is skill
    assert fitting_skill("article", [skill]) is None
    assert fitting_skill("des murailles", [skill]) is skill
    assert fitting_skill("Dans l'ete", [skill]) is skill


def test_the_skill_with_the_most_words_is_chosen_and_the_first_of_equals() -> None:
    one = Skill(id="1", title="", icon="", description="", prompt="", keywords=("a", "b"))
    two = Skill(id="2", title="", icon="", description="", prompt="", keywords=("a", "c", "d"))

    assert fitting_skill("a", [one, two]) is one
    assert fitting_skill("a c", [one, two]) is two
    assert fitting_skill("b d", [one, two]) is one


@pytest.mark.parametrize(
    ("language", "opening"),
    [
        (Language.FR, "Méthode à suivre pour cette tâche :\n1. **Structure"),
        (Language.EN, "Method to follow for this task:\n1. **Semantic"),
    ],
)
def test_the_model_is_told_the_method_and_to_use_a_browser_that_is_at_hand(
    language: Language, opening: str
) -> None:
    web = next(skill for skill in builtin_skills(language) if skill.id == "creation-web")

    plain = instruction(web, language, ["read_file"])
    with_browser = instruction(web, language, ["read_file", "mcp_playwright_browser_navigate"])

    assert plain.role == "system"
    assert plain.text.startswith(opening)
    assert "mcp_playwright" not in plain.text
    assert "mcp_playwright" in with_browser.text
