"""Skills: methods that a model is given for one task (O74, L17)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A method, in one language.

    `prompt` is what the model is given. `keywords` are what people write who need it: words and
    phrases; one that ends in `*` is the beginning of a word.
    """

    id: str
    title: str
    icon: str
    description: str
    prompt: str
    keywords: tuple[str, ...] = ()
    is_builtin: bool = False
