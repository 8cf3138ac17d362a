"""Skills, and what the commands of a client are called (O74, O75)."""

from typing import Annotated, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from archivolt.agent.skills import builtin_skills
from archivolt.chat.skills import ADMIN_COMMANDS
from archivolt.domain.limits import (
    MAX_SKILL_DESCRIPTION_CHARS,
    MAX_SKILL_ID_CHARS,
    MAX_SKILL_KEYWORD_CHARS,
    MAX_SKILL_KEYWORDS,
    MAX_SKILL_PROMPT_CHARS,
    MAX_SKILL_TITLE_CHARS,
)
from archivolt.domain.skill import Skill
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.errors import language_for

Keyword = Annotated[str, Field(min_length=1, max_length=MAX_SKILL_KEYWORD_CHARS)]


class SkillBody(BaseModel):
    """A method that a model can be given for a task."""

    id: str
    title: str
    icon: str
    description: str
    prompt: str
    keywords: list[str]
    builtin: bool = Field(description="Whether it is shipped; those are not changed or removed.")

    @classmethod
    def of(cls, skill: Skill) -> Self:
        """Return a skill as JSON."""
        return cls(
            id=skill.id,
            title=skill.title,
            icon=skill.icon,
            description=skill.description,
            prompt=skill.prompt,
            keywords=list(skill.keywords),
            builtin=skill.is_builtin,
        )


class CommandBody(BaseModel):
    """A command of administrators that the client runs by itself."""

    name: str
    description_en: str
    description_fr: str


class SkillList(BaseModel):
    """The caller's own skills, those that are shipped, and the commands."""

    skills: list[SkillBody]
    commands: list[CommandBody]


class NewSkill(BaseModel):
    """A skill to keep."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    id: str = Field(
        default="",
        max_length=MAX_SKILL_ID_CHARS,
        pattern=r"^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$",
        description="Left out, it is made of the title. One that you have is replaced.",
    )
    title: str = Field(min_length=1, max_length=MAX_SKILL_TITLE_CHARS)
    icon: str = Field(default="", max_length=16)
    description: str = Field(default="", max_length=MAX_SKILL_DESCRIPTION_CHARS)
    prompt: str = Field(
        min_length=1, max_length=MAX_SKILL_PROMPT_CHARS, description="What the model is given."
    )
    keywords: list[Keyword] = Field(
        default=[],
        max_length=MAX_SKILL_KEYWORDS,
        description="Words and phrases at which it is chosen by itself; `word*` begins one.",
    )


def skill_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of skills."""
    router = APIRouter(tags=["models"])

    @router.get("/skills", summary="List the skills", operation_id="list_skills")
    def list_skills(request: Request, principal: InteractivePrincipal) -> SkillList:  # pyright: ignore[reportUnusedFunction]
        """Return your own skills, those that are shipped, and the commands of administrators."""
        own = services().skills.own(principal)
        skills = [*own, *builtin_skills(language_for(request))]
        commands = [
            CommandBody(
                name=command.name,
                description_en=command.description.en,
                description_fr=command.description.fr,
            )
            for command in ADMIN_COMMANDS
        ]
        return SkillList(skills=[SkillBody.of(skill) for skill in skills], commands=commands)

    @router.post("/skills", status_code=201, summary="Keep a skill", operation_id="save_skill")
    def save_skill(principal: InteractivePrincipal, body: NewSkill) -> SkillBody:  # pyright: ignore[reportUnusedFunction]
        """Keep a skill of your own; nobody else has it."""
        skill = Skill(
            id=body.id,
            title=body.title,
            icon=body.icon,
            description=body.description,
            prompt=body.prompt,
            keywords=tuple(body.keywords),
        )
        return SkillBody.of(services().skills.save(principal, skill))

    @router.delete(
        "/skills/{skill_id}", status_code=204, summary="Remove a skill", operation_id="delete_skill"
    )
    def delete_skill(principal: InteractivePrincipal, skill_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Remove a skill of your own."""
        services().skills.delete(principal, skill_id)
        return Response(status_code=204)

    return router
