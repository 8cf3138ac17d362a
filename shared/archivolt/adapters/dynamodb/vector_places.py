"""Which pack has the vector of a text, one item a text, in the catalogue table.

    VAULT#{tenant}#{vault_id}#VECTORS    {model}#{digest}    `pack`

It is not a document's item, so that those who read a vault's documents do not read these.
"""

from collections.abc import Mapping, Sequence

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.vault import VaultRef


class DynamoVectorPlaces:
    """A `VectorPlaces` in the catalogue table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def find(self, vault: VaultRef, model: str, digests: Sequence[str]) -> Mapping[str, str]:
        """Return the packs of those texts that have one."""
        keys = {_key(vault, model, digest): digest for digest in digests}
        found = self._table.get_many(list(keys))
        return {keys[key]: item["pack"] for key, item in found.items()}

    def note(self, vault: VaultRef, model: str, digests: Sequence[str], pack: str) -> None:
        """Note the pack of these texts, in place of the one noted before."""
        self._table.put_many(
            [{**_key(vault, model, digest)._asdict(), "pack": pack} for digest in digests]
        )

    def forget(self, vault: VaultRef, model: str, digests: Sequence[str]) -> None:
        """Forget the packs of these texts."""
        self._table.delete_many([_key(vault, model, digest) for digest in digests])


def _key(vault: VaultRef, model: str, digest: str) -> Key:
    return Key(f"VAULT#{vault.tenant}#{vault.id}#VECTORS", f"{model}#{digest}")
