"""The methods that are shipped, and which of all fits a message (L17 to L20).

The choice is made by words alone: at once, without a model, and of at most one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from archivolt.domain.folding import folded
from archivolt.domain.language import Language, Message
from archivolt.domain.skill import Skill
from archivolt.ports.chat_model import ModelMessage

WEB: Final = "creation-web"
BROWSER_TOOLS: Final = "mcp_playwright_"
"""What the names of tools begin with that drive a real browser (L24)."""

_ICONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "debogage-systematique": "🐞",
        WEB: "🌐",
        "refactor-sur": "🧹",
        "analyse-donnees": "📊",
        "redaction-structuree": "✍️",
    }
)
_INTRODUCTION: Final = Message(
    "Method to follow for this task:", "Méthode à suivre pour cette tâche :"
)
_WORDS: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A method as it is shipped."""

    head: Mapping[str, str]
    body: str


@cache
def builtin_skills(language: Language) -> tuple[Skill, ...]:
    """Return the methods that are shipped, in one language; each is found by words of both."""
    return tuple(_builtin(name, icon, language) for name, icon in _ICONS.items())


def fitting_skill(text: str, skills: Iterable[Skill]) -> Skill | None:
    """Return the skill with the most of its keywords in a text, the first of several; or none."""
    best, most = None, 0
    said = f" {' '.join(_WORDS.findall(folded(text)))} "
    for skill in skills:
        count = sum(pattern in said for pattern in _patterns(skill.keywords))
        if count > most:
            best, most = skill, count
    return best


def instruction(skill: Skill, language: Language, tools: Iterable[str]) -> ModelMessage:
    """Return what the model is told beside the rules; with a browser, to use it (L24)."""
    prompt = skill.prompt
    if skill.is_builtin and skill.id == WEB and any(t.startswith(BROWSER_TOOLS) for t in tools):
        prompt = f"{prompt}\n\n{_file(WEB, language).head['browser']}"
    return ModelMessage(role="system", text=f"{_INTRODUCTION.spoken(language)}\n{prompt}")


def _builtin(name: str, icon: str, language: Language) -> Skill:
    file = _file(name, language)
    return Skill(
        id=name,
        title=file.head["name"],
        icon=icon,
        description=file.head["description"],
        prompt=file.body,
        keywords=_keywords(_file(name, Language.FR).head["keywords"]),
        is_builtin=True,
    )


@cache
def _file(name: str, language: Language) -> _File:
    path = files("archivolt.agent").joinpath("skill_files", f"{name}.{language.value}.md")
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = (line.partition(": ") for line in head.strip().splitlines())
    return _File(head={key: value.strip() for key, _, value in fields}, body=body.strip())


def _keywords(text: str) -> tuple[str, ...]:
    return tuple(keyword.strip() for keyword in text.split(",") if keyword.strip())


@lru_cache(maxsize=1_000)
def _patterns(keywords: Sequence[str]) -> tuple[str, ...]:
    """Return keywords as they stand in a text made of its words between single spaces."""
    patterns: list[str] = []
    for keyword in keywords:
        words = " ".join(_WORDS.findall(folded(keyword)))
        if words:
            patterns.append(f" {words}" if keyword.endswith("*") else f" {words} ")
    return tuple(dict.fromkeys(patterns))
