"""Roles, ids and sequencers."""

import itertools

import pytest

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Role, tenant_id, user_id
from archivolt.domain.ingestion import sequencer
from archivolt.domain.vault import VaultRole


def test_each_role_includes_the_weaker_ones_only() -> None:
    for weaker, stronger in itertools.combinations(Role, 2):
        assert stronger.includes(weaker)
        assert not weaker.includes(stronger)


def test_a_reader_is_no_writer_and_an_owner_is_both() -> None:
    assert not VaultRole.READER.includes(VaultRole.WRITER)
    assert VaultRole.OWNER.includes(VaultRole.WRITER)
    assert VaultRole.WRITER.includes(VaultRole.WRITER)


@pytest.mark.parametrize("raw", ["", "a/b", "a#b", "..", "é", "a b", "-a", "x" * 65, 7, None])
def test_a_tenant_id_that_could_not_be_part_of_a_key_is_refused(raw: object) -> None:
    with pytest.raises(UnauthenticatedError):
        tenant_id(raw)


@pytest.mark.parametrize("raw", ["", "a/b", "a#b", "a b", "a\n", "x" * 129, 7, None])
def test_a_user_id_that_could_not_be_part_of_a_key_is_refused(raw: object) -> None:
    with pytest.raises(UnauthenticatedError):
        user_id(raw)


def test_user_ids_of_identity_providers_are_accepted() -> None:
    assert [user_id(raw) for raw in ("auth0|5f7c", "ana@example.org", "Zoé", "a:b")]


def test_sequencers_of_different_lengths_compare_as_s3_says() -> None:
    assert sequencer("0055AED6DCD90281E5") < sequencer("0055AED6DCD90281E6")
    assert sequencer("0055AED6DC") < sequencer("0055AED6DCD9")
    assert sequencer("0A") == sequencer("0a00")
