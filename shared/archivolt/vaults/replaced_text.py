"""One text with something in it replaced; no secret is seen, and none is taken apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.redaction import mask_text
from archivolt.domain.vault import FileContent
from archivolt.ports.patterns import Pattern
from archivolt.vaults.text_form import TextForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """What to find and what takes its place; see `archivolt.ports.patterns`.

    Not `replace_all`: only the first occurrence of each file. Globs as people write them.
    """

    find: str
    replace: str
    case_sensitive: bool = False
    whole_word: bool = False
    regex: bool = False
    include_paths: Sequence[str] = ()
    exclude_paths: Sequence[str] = ()
    replace_all: bool = True


@dataclass(frozen=True, slots=True)
class NewText:
    """What a file becomes, and how many occurrences were replaced."""

    form: TextForm
    text: str
    occurrences: int

    @property
    def data(self) -> bytes:
        """The bytes of the file with the new text."""
        return self.form.written(self.text, line_ends_as_given=True)


def new_text(content: FileContent, pattern: Pattern, asked: Replacing) -> NewText | None:
    """Return what the file becomes; None if it is no text."""
    form = TextForm.of(content.data)
    if form is None:
        return None
    text, masked = form.text, mask_text(form.text)
    pieces: list[str] = []
    place = occurrences = length = 0
    for found in pattern.replacements(masked, asked.replace):
        if text[found.start : found.end] != masked[found.start : found.end]:
            continue
        pieces += (text[place : found.start], found.text)
        place = found.end
        occurrences += 1
        length += len(pieces[-2]) + len(found.text)
        # A text that is too long already is not made longer: it could fill the memory.
        if not asked.replace_all or length > MAX_INLINE_CONTENT_BYTES:
            break
    return NewText(form, "".join([*pieces, text[place:]]), occurrences)
