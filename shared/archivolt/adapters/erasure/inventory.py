"""Everything that is kept, as data: where, of whom, and how it is erased.

A kind of items is named by what its partition key begins with. Whose an item is, a place tells:

    pk:1      the second part of its partition key, between `#`
    sk:0      the first part of its sort key
    @owner    an attribute

Where it is in one of several places, they are all named. A kind without a tenant is of the
deployment. A test holds this list to what adapters write, and another to what is in the tables of a
running stack.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of items of a table.

    `whole`: what is found of it stands for its whole partition. `stays`: items with this sort key
    outlive their tenant. `ends`: how else it goes, where that is not at once.
    """

    table: str
    name: str
    holds: str
    tenant: str = ""
    user: str = ""
    vault: str = ""
    whole: bool = False
    stays: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Objects of the bucket whose keys begin alike; after that come the tenant and the vault.

    `store` is what a receipt calls it.
    """

    prefix: str
    store: str
    holds: str
    of_vaults: bool = True


KINDS: Final = (
    Kind(table="control", name="TENANT", tenant="pk:1", vault="@vault_id", stays="STATE",
         holds="settings with sealed keys, names of vaults; whether it is active or deleted"),
    Kind(table="control", name="VAULT", tenant="pk:1", vault="pk:2", user="sk:MEMBER",
         holds="a vault and its members"),
    Kind(table="control", name="USER", tenant="pk:1", user="pk:2", vault="@vault_id",
         holds="a user's memberships"),
    Kind(table="control", name="PERSON", tenant="pk:1", user="pk:2", holds="a user's settings"),
    Kind(table="control", name="PEOPLE", tenant="pk:1",
         holds="who was seen; of an erased user the mark that nobody comes in, until the end"),
    Kind(table="control", name="SKILLS", tenant="pk:1", user="pk:2", holds="a user's skills"),
    Kind(table="control", name="SCHEDULES", tenant="pk:1", user="pk:2", vault="@vault_id",
         holds="a user's scheduled runs, and what they permitted them"),
    Kind(table="control", name="SYNC", tenant="pk:1", user="pk:2", holds="a lease"),
    Kind(table="control", name="OPERATIONS", tenant="pk:1", vault="pk:2", user="@user",
         holds="changes of many files", ends="14 days"),
    Kind(table="control", name="PATS", tenant="pk:1", user="sk:0", holds="places of tokens"),
    Kind(table="control", name="PAT", tenant="@tenant", user="@user",
         holds="personal access tokens, hashed"),
    Kind(table="control", name="GRANTS", tenant="pk:1", user="sk:0", holds="places of grants"),
    Kind(table="control", name="GRANT", tenant="@tenant", user="@user",
         holds="programs that were let in"),
    Kind(table="control", name="CODE", tenant="@tenant", user="@user",
         holds="authorization codes, hashed", ends="1 day"),
    Kind(table="control", name="SESSION", tenant="@tenant", user="@user",
         holds="browser sessions, hashed", ends="8 hours"),
    Kind(table="control", name="LOCAL_USERS", tenant="@tenant", user="sk:0",
         holds="passwords of the stack on one machine, hashed"),
    Kind(table="control", name="MCP", tenant="pk:1", holds="MCP servers of others"),
    Kind(table="control", name="MCP_ACCOUNTS", tenant="pk:1", user="sk:0",
         holds="people's accounts at MCP servers, their tokens sealed"),
    Kind(table="control", name="MCP_CLIENTS", tenant="pk:1",
         holds="as whom a tenant is known to MCP servers, its secret sealed"),
    Kind(table="control", name="MCP_SIGN_IN", tenant="@tenant", user="@user",
         holds="who went to sign in to an MCP server, sealed", ends="10 minutes"),
    Kind(table="control", name="WEBHOOKS", tenant="pk:1", holds="webhooks with sealed secrets"),
    Kind(table="control", name="CLIENT", holds="OAuth clients, of nobody"),
    Kind(table="control", name="SPENT", holds="digests of what was used once", ends="1 hour"),
    Kind(table="control", name="DEPLOYMENT", holds="the key that signs confirmations, sealed"),
    Kind(table="control", name="RETENTION", holds="where the purge stopped"),
    Kind(table="control", name="TENANTS", holds="ids of tenants, those that are gone included"),
    Kind(table="control", name="ERASURE", holds="receipts"),
    Kind(table="control", name="ERASURES", holds="places of receipts"),
    Kind(table="conversations", name="CONVERSATION", tenant="pk:1", user="@owner", whole=True,
         holds="a conversation, its messages, a turn that waits, sealed"),
    Kind(table="conversations", name="RUN", tenant="pk:1", whole=True,
         holds="an agent's run, its events and its changes, where it stands, sealed"),
    Kind(table="confirmations", name="PROPOSAL", tenant="pk:1", user="@user", whole=True,
         holds="proposed changes, sealed", ends="7 days after their end"),
    Kind(table="confirmations", name="WAITING", tenant="pk:1", user="pk:2",
         holds="which proposals wait for a yes"),
    Kind(table="ledger", name="TENANT", tenant="pk:1", user="sk:USER",
         holds="usage of tenant and users; reservations, which are ended as the ledger does"),
    Kind(table="ledger", name="RATE", tenant="pk:1 pk:2", user="pk:2", holds="calls in a minute",
         ends="1 minute"),
    Kind(table="catalogue", name="VAULT", tenant="pk:1", vault="pk:2",
         holds="the state of every document, and places of vectors"),
    Kind(table="catalogue", name="DOCUMENTS", tenant="pk:1", vault="pk:2", holds="counts"),
    Kind(table="catalogue", name="RUNS", tenant="pk:1", vault="pk:2", holds="comparisons"),
    Kind(table="audit", name="TENANT", tenant="pk:1", user="@user",
         holds="who did what; of an erased user or vault the names are taken out",
         ends="365 days"),
    Kind(table="audit", name="HEADS", tenant="pk:1", holds="ends of the audit's chains"),
    Kind(table="audit", name="SEALS", tenant="pk:1", holds="seals of the audit's days"),
    Kind(table="audit", name="TENANTS", tenant="sk:0", holds="which tenants have entries"),
)  # fmt: skip

HEADS: Final = frozenset({"CONVERSATION", "RUN", "HEAD"})
"""The sort keys of the items that whole partitions are known by."""

FOLDERS: Final = (
    Folder(prefix="vaults", store="documents", holds="documents, all their versions"),
    Folder(prefix="derived", store="derived", holds="indexes, readings, vectors, lists of changes"),
    Folder(prefix="audit", store="exported_audit", holds="exported audit entries", of_vaults=False),
)


def kinds_of(table: str) -> Mapping[str, Kind]:
    """Return the kinds of items of a table, by name."""
    return {kind.name: kind for kind in KINDS if kind.table == table}


def told(item: Mapping[str, Any], place: str) -> str | None:
    """Return what the place of an item says, None if it says nothing."""
    if place.startswith("@"):
        found: Any = item.get(place[1:])
        return found if isinstance(found, str) else None
    key, _, part = place.partition(":")
    parts = str(item.get(key, "")).split("#")
    if part.isdecimal():
        return parts[int(part)] if int(part) < len(parts) else None
    # `MEMBER#{user}` and `USER#{month}#{user}`: the last part, if the first is this.
    return parts[-1] if len(parts) > 1 and parts[0] == part else None
