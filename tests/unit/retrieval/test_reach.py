"""Which vaults a token reaches."""

from dataclasses import replace

import pytest

from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TokenReach
from archivolt.domain.vault import VaultId
from archivolt.retrieval.reach import ReachableVaults
from tests.builders import ALICE, a_vault, principal
from tests.fakes.vaults import InMemoryVaults

GARDEN = a_vault("garden")
CELLAR = a_vault("cellar")


@pytest.fixture
def vaults() -> ReachableVaults:
    directory = InMemoryVaults()
    for vault in (GARDEN, CELLAR):
        directory.create(vault, owner=ALICE)
    return ReachableVaults(directory)


def names(vaults: ReachableVaults, reach: TokenReach) -> list[str]:
    caller = replace(principal(ALICE), reach=reach)
    return [access.vault.name for access in vaults.accessible(caller)]


def test_a_token_without_bounds_reaches_all_vaults_of_its_user(vaults: ReachableVaults) -> None:
    assert names(vaults, TokenReach()) == ["cellar", "garden"]


def test_a_vault_out_of_reach_is_neither_listed_nor_found(vaults: ReachableVaults) -> None:
    reach = TokenReach(vaults=frozenset({GARDEN.ref.id}))
    caller = replace(principal(ALICE), reach=reach)

    assert names(vaults, reach) == ["garden"]
    assert vaults.access(caller, "garden").vault == GARDEN
    with pytest.raises(NotFoundError, match="vault_not_found"):
        vaults.access(caller, "cellar")


def test_reach_opens_no_vault_of_others(vaults: ReachableVaults) -> None:
    reach = TokenReach(vaults=frozenset({GARDEN.ref.id, VaultId("x")}))
    stranger = replace(principal("bob"), reach=reach)

    assert vaults.accessible(stranger) == []
    with pytest.raises(NotFoundError, match="vault_not_found"):
        vaults.access(stranger, "garden")


def test_a_token_for_no_vault_reaches_none(vaults: ReachableVaults) -> None:
    assert names(vaults, TokenReach(vaults=frozenset())) == []
