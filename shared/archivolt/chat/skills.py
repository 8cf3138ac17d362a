"""Which method a turn follows, and the methods that people keep for themselves (O74, L18)."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from archivolt.agent.skills import builtin_skills, fitting_skill
from archivolt.chat.requests import TurnRequest
from archivolt.domain.errors import ConflictError, InvalidRequestError, NotFoundError
from archivolt.domain.folding import folded
from archivolt.domain.identity import Principal
from archivolt.domain.language import Language, Message
from archivolt.domain.limits import MAX_SKILL_ID_CHARS, MAX_SKILLS
from archivolt.domain.skill import Skill
from archivolt.ports.skills import SkillStore

_NOT_OF_AN_ID: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminCommand:
    """A command that a client runs by itself; here is only what it is called (O75)."""

    name: str
    description: Message


ADMIN_COMMANDS: Final = tuple(
    AdminCommand(name=name, description=Message(english, french))
    for name, english, french in (
        ("/help", "List the commands", "Lister les commandes"),
        ("/providers", "List the providers", "Lister les fournisseurs"),
        ("/provider", "Choose the default provider", "Choisir le fournisseur par défaut"),
        ("/model", "Choose the default model", "Choisir le modèle par défaut"),
        ("/keys", "Set or remove a provider's key", "Définir ou retirer la clé d'un fournisseur"),
    )
)


class SkillService:
    """Lists, keeps and chooses skills.

    Args:
        store: Gives where people's own are kept, when first needed.

    """

    def __init__(self, store: Callable[[], SkillStore]) -> None:
        self._store = store

    def own(self, principal: Principal) -> list[Skill]:
        """Return the caller's own skills by their ids."""
        return self._store().of_user(principal.tenant, principal.user)

    def save(self, principal: Principal, skill: Skill) -> Skill:
        """Keep a skill of the caller, in the place of one of the same id.

        An empty id is made of the title.

        Raises:
            InvalidRequestError: `invalid_request`: nothing of the title can be in an id.
            ConflictError: `skill_is_builtin`, `skills_too_many`.

        """
        named = replace(skill, id=skill.id or _id_of(skill.title), is_builtin=False)
        if not named.id:
            raise InvalidRequestError("invalid_request", problem="skill_title")
        if named.id in {builtin.id for builtin in builtin_skills(Language.FR)}:
            raise ConflictError("skill_is_builtin", skill=named.id)
        kept = {each.id for each in self.own(principal)} | {named.id}
        if len(kept) > MAX_SKILLS:
            raise ConflictError("skills_too_many", limit=MAX_SKILLS)
        self._store().save(principal.tenant, principal.user, named)
        return named

    def delete(self, principal: Principal, skill_id: str) -> None:
        """Remove a skill of the caller.

        Raises:
            NotFoundError: `skill_not_found`; those that are shipped cannot be removed.

        """
        if not self._store().delete(principal.tenant, principal.user, skill_id):
            raise NotFoundError("skill_not_found", skill=skill_id)


def chosen_skill(
    request: TurnRequest, own: Sequence[Skill], *, language: Language, routed: bool
) -> Skill | None:
    """Return the skill of a turn: the one that is named, else the one that fits the words.

    A person's own come before those that are shipped. `routed` False: only a named one.

    Raises:
        NotFoundError: `skill_not_found`.

    """
    known = [*own, *builtin_skills(language)]
    if request.skill:
        for skill in known:
            if skill.id == request.skill:
                return skill
        raise NotFoundError("skill_not_found", skill=request.skill)
    return fitting_skill(request.text, known) if routed else None


def _id_of(title: str) -> str:
    plain = unicodedata.normalize("NFKD", folded(title))
    return _NOT_OF_AN_ID.sub("-", plain).strip("-")[:MAX_SKILL_ID_CHARS].strip("-")
