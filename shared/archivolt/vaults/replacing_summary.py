"""What a replacement in many files says of itself before it is made."""

from typing import Final

from archivolt.domain.messages import Message
from archivolt.domain.redaction import redact

_SHOWN_CHARS: Final = 60


def replacing_summary(
    find: str, replace: str, *, occurrences: int, files: int, skipped: int
) -> Message:
    """Return one sentence, and one more if files are left out; without secrets."""
    old, new = _shown(find), _shown(replace)
    if not occurrences:
        summary = Message(
            f"“{old}” is in no text that can be changed: nothing is replaced.",
            f"« {old} » n'est dans aucun texte modifiable : rien n'est remplacé.",
        )
    else:
        summary = Message(
            f"Replace “{old}” with “{new}” (occurrences: {occurrences}, files: {files}).",
            f"Remplacer « {old} » par « {new} » (occurrences : {occurrences}, fichiers : {files}).",
        )
    if not skipped:
        return summary
    return Message(
        f"{summary.en} Files left out, each for the reason given: {skipped}.",
        f"{summary.fr} Fichiers laissés de côté, chacun pour la raison donnée : {skipped}.",
    )


def _shown(text: str) -> str:
    """Return a text on one line, shortened; secrets are taken out first, so that none is cut."""
    line = " ".join(redact(text).text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
