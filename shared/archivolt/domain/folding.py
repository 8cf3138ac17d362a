"""What two spellings of a name have in common: case, accents and Unicode forms folded away.

For names, paths, tags and questions; in documents, see `unaccented`, whose places can be told.
"""

from archivolt.domain.unaccented import unaccented


def folded(text: str) -> str:
    """Return `text` without case and accents, in one Unicode form; folding twice changes nothing.

    `Créer` and `CREER` are both `creer`.
    """
    if text.isascii():
        return text.lower()
    return unaccented(unaccented(text).casefold())
