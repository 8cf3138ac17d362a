"""What the editor can do with a piece of text (decision 6)."""

from enum import StrEnum


class EditorAction(StrEnum):
    """One of the sixteen."""

    IMPROVE = "improve"
    CORRECT = "correct"
    REPHRASE = "rephrase"
    SHORTEN = "shorten"
    EXPAND = "expand"
    SIMPLIFY = "simplify"
    SUMMARIZE = "summarize"
    TRANSLATE = "translate"
    TONE = "tone"
    CONTINUE = "continue"
    OUTLINE = "outline"
    BULLETS = "bullets"
    TABLE = "table"
    TITLE = "title"
    TAGS = "tags"
    EXPLAIN = "explain"
