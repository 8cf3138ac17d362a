"""The words that say which language a text is in, and little else.

Written without accents, as `archivolt.retrieval.analysis` folds them away before it compares.
Contractions and elisions (don't, l', qu') are not here: analysis takes them apart first.
"""

from typing import Final

ENGLISH: Final = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can cannot could did do does doing down during each few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just me more most my myself no nor not now of off on once only or other our ours
    ourselves out over own same she should so some such than that the their theirs them themselves
    then there these they this those through to too under until up upon very was we were what when
    where which while who whom why will with would you your yours yourself yourselves
    """.split()  # noqa: SIM905  quotes and commas would hide the words
)

FRENCH: Final = frozenset(
    """
    a ai aie aient ainsi alors apres as au aucun aucune aura aurait aussi autre autres aux avaient
    avais avait avant avec avez avoir avons ayant bien c car ce ceci cela celle celles celui ces cet
    cette ceux chaque chez ci comme comment d dans de depuis des doit donc dont du elle elles en
    encore entre es est et etaient etais etait etant etc ete etes etre eu eux fait faire faut font
    hors ici il ils j je l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsque
    lui m ma mais me meme memes mes mon n ne ni nos notre nous on ont ou par parce pas peu peut
    peuvent plus plusieurs pour pourquoi pourrait puis qu quand que quel quelle quelles quels qui
    quoi s sa sans se sera serait ses si soit son sont sous suis sur t ta te tel telle tes toi ton
    tous tout toute toutes tres tu un une vers vos votre vous y
    """.split()  # noqa: SIM905  quotes and commas would hide the words
)

AMBIGUOUS: Final = (ENGLISH & FRENCH) | frozenset(
    "an but c car comment d do est here i j l m ma n or s sans son pour t ton tu vers y".split()  # noqa: SIM905
)
"""Words that prove neither language: they mean something in the other, or name a variable."""
