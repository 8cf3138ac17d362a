"""What the pages of approvals say, in English and French (decision 8)."""

from collections.abc import Mapping
from typing import Final

from archivolt.domain.language import Message

WAITING: Final = Message("Changes that wait for you", "Changements qui vous attendent")
WAITING_NONE: Final = Message("Nothing waits for you.", "Rien ne vous attend.")

APPROVAL: Final = Message("May this be changed?", "Accepter ce changement ?")
ASKED: Final = Message(
    "An agent or a program that works for you wants to make this change:",
    "Un agent ou un programme qui travaille pour vous veut faire ce changement :",
)
ASKED_BY: Final = Message(
    "“{program}”, a program that works for you, wants to make this change:",
    "« {program} », un programme qui travaille pour vous, veut faire ce changement :",
)
CONSEQUENCE: Final = Message(
    "If you agree, it may make this very change, once. If you do not know of it, decline.",
    "Si vous acceptez, il pourra faire ce changement et aucun autre, une fois. Si vous n'en savez "
    "rien, refusez.",
)
UNTIL: Final = Message("It can be made until {until}.", "Il peut être fait jusqu'au {until}.")
APPROVE: Final = Message("Agree", "Accepter")
DECLINE: Final = Message("Decline", "Refuser")

APPROVED: Final = Message(
    "You agreed. The agent makes the change when it calls again; until then you may still decline.",
    "Vous avez accepté. L'agent fait le changement à son prochain appel ; d'ici là vous pouvez "
    "encore refuser.",
)
DECLINED: Final = Message(
    "You declined: it is never made.", "Vous avez refusé : il ne sera jamais fait."
)
DONE: Final = Message(
    "The agent has carried it out, or tried to: it knows what came of it.",
    "L'agent l'a exécuté, ou a essayé : il en connaît le résultat.",
)
RUNNING: Final = Message("It is being made.", "Il est en cours.")
EXPIRED: Final = Message(
    "It has expired: if it is still wanted, the agent has to propose it again.",
    "Il a expiré : s'il est encore voulu, l'agent doit le proposer de nouveau.",
)

CHANGES: Final[Mapping[str, Message]] = {
    "create": Message("created", "créé"),
    "edit": Message("changed", "modifié"),
    "delete": Message("deleted", "supprimé"),
    "move": Message("moved", "déplacé"),
    "relink": Message("its links changed", "liens modifiés"),
    "skip": Message("left alone", "laissé tel quel"),
}
"""By what `domain.confirmation.Change` says."""
