"""What every `McpAccountStore` promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.mcp_accounts import DynamoMcpAccounts
from archivolt.domain.mcp_accounts import McpAccountState
from archivolt.ports.mcp_accounts import McpAccountStore
from tests.account_world import a_kept_client, a_pending_sign_in, an_account, connected
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE, MOTO
from tests.fakes.clock import START
from tests.fakes.mcp_accounts import InMemoryMcpAccounts

SOON = START + timedelta(seconds=20)


@pytest.fixture
def accounts(store: str, request: pytest.FixtureRequest) -> McpAccountStore:
    if store == FAKE:
        return InMemoryMcpAccounts()
    return DynamoMcpAccounts(request.getfixturevalue("new_table")("ControlTable"))


def test_an_account_is_its_persons_and_can_be_connected_anew(accounts: McpAccountStore) -> None:
    plain = an_account(server="b", expires_at=None, renewable=False, wanted="", sealed="")
    for each in (an_account(), plain, an_account(user=BOB), an_account(tenant=GLOBEX)):
        connected(accounts, each)

    assert accounts.find(ACME, ALICE, "ours") == an_account()
    assert accounts.find(ACME, ALICE, "") is None
    assert accounts.of_user(ACME, ALICE) == [plain, an_account()]
    connected(accounts, an_account(id="two", edition=0))
    assert accounts.find(ACME, ALICE, "ours") == an_account(id="two", edition=0)


def test_one_renews_the_tokens_of_an_account_and_the_others_see_it(
    accounts: McpAccountStore, store: str
) -> None:
    before = an_account()
    connected(accounts, before)

    with ThreadPoolExecutor(1 if store == MOTO else 8) as pool:
        claims = [pool.submit(accounts.claim, before, now=START, until=SOON) for _ in range(8)]
    assert [claim.result() for claim in claims].count(True) == 1
    assert accounts.find(ACME, ALICE, "ours") == replace(before, claimed_until=SOON)

    after = replace(before, sealed="new", edition=4, expires_at=None, scope="more")
    assert accounts.renew(before, after)
    assert accounts.find(ACME, ALICE, "ours") == after
    assert not accounts.renew(before, before.lost())
    assert not accounts.claim(before, now=START, until=SOON)
    assert accounts.claim(after, now=START, until=SOON)


def test_who_dies_while_renewing_is_followed_by_another(accounts: McpAccountStore) -> None:
    connected(accounts, an_account())

    assert accounts.claim(an_account(), now=START, until=SOON)
    assert accounts.claim(an_account(), now=SOON, until=SOON + timedelta(seconds=20))


def test_what_was_disconnected_or_connected_anew_is_not_renewed(accounts: McpAccountStore) -> None:
    connected(accounts, an_account(id="two"))
    assert not accounts.renew(an_account(), an_account().lost())

    assert accounts.disconnect(ACME, ALICE, "ours") == an_account(id="two")
    assert accounts.disconnect(ACME, ALICE, "ours") is None
    assert accounts.disconnect(ACME, ALICE, "") is None
    assert not accounts.renew(an_account(id="two"), an_account(id="two").lost())
    assert accounts.find(ACME, ALICE, "ours") is None


def test_an_account_whose_tokens_are_lost_says_so(accounts: McpAccountStore) -> None:
    connected(accounts, an_account(wanted=""))
    accounts.renew(an_account(wanted=""), an_account(wanted="").lost())

    kept = accounts.find(ACME, ALICE, "ours")
    assert kept is not None
    assert (kept.state, kept.sealed) == (McpAccountState.SIGN_IN_NEEDED, "")


def test_what_an_account_lacks_is_noted_and_takes_nothing_from_who_renews_it(
    accounts: McpAccountStore,
) -> None:
    connected(accounts, an_account())
    assert accounts.claim(an_account(), now=START, until=SOON)

    accounts.want(an_account(), "more")
    accounts.want(an_account(id="two"), "other")

    assert accounts.find(ACME, ALICE, "ours") == an_account(wanted="more", claimed_until=SOON)
    assert accounts.renew(an_account(), an_account(edition=4))
    assert accounts.find(ACME, ALICE, "ours") == an_account(wanted="more", edition=4)


def test_that_a_token_was_refused_is_noted_and_stays_when_it_is_renewed(
    accounts: McpAccountStore,
) -> None:
    connected(accounts, an_account(wanted=""))

    accounts.refuse(an_account(id="two"), refused=True)
    assert accounts.find(ACME, ALICE, "ours") == an_account(wanted="")
    accounts.refuse(an_account(), refused=True)
    after = an_account(wanted="", refused=True, edition=4)
    assert accounts.renew(an_account(), after)
    kept = accounts.find(ACME, ALICE, "ours")
    assert (kept, after.state) == (after, McpAccountState.SIGN_IN_NEEDED)
    accounts.refuse(after, refused=False)
    assert accounts.find(ACME, ALICE, "ours") == an_account(wanted="", edition=4)
    connected(accounts, an_account(refused=True))
    assert accounts.find(ACME, ALICE, "ours") == an_account(refused=True)


def test_a_server_that_is_forgotten_takes_all_its_accounts_with_it(
    accounts: McpAccountStore,
) -> None:
    for each in (an_account(), an_account(user=BOB), an_account(server="other")):
        connected(accounts, each)
    accounts.keep_client(ACME, a_kept_client())
    accounts.keep_client(GLOBEX, a_kept_client())

    accounts.forget_server(ACME, "ours")

    assert accounts.of_user(ACME, ALICE) == [an_account(server="other")]
    assert accounts.of_user(ACME, BOB) == []
    assert accounts.client(ACME, "ours") is None
    assert accounts.client(GLOBEX, "ours") == a_kept_client()


def test_a_sign_in_is_good_once(accounts: McpAccountStore, store: str) -> None:
    pending = a_pending_sign_in()
    accounts.begin(pending)

    assert accounts.pending(ACME, pending.digest) == pending
    assert accounts.pending(GLOBEX, pending.digest) is None
    assert not accounts.connect(an_account(), pending.digest)
    with ThreadPoolExecutor(1 if store == MOTO else 8) as pool:
        taken = [pool.submit(accounts.take, ACME, pending.digest) for _ in range(8)]
    assert [each.result() for each in taken].count(True) == 1
    assert accounts.pending(ACME, pending.digest) is None
    assert accounts.pending(ACME, "another") is None
    assert not accounts.take(ACME, "another")

    assert accounts.connect(an_account(), pending.digest)
    assert not accounts.connect(an_account(id="two"), pending.digest)
    assert accounts.find(ACME, ALICE, "ours") == an_account()


def test_of_a_sign_in_that_went_with_its_server_no_account_comes(
    accounts: McpAccountStore,
) -> None:
    begun, used = (a_pending_sign_in(user=user) for user in (ALICE, BOB))
    others = a_pending_sign_in(GLOBEX)
    for pending in (begun, used, others):
        accounts.begin(pending)
    for tenant, pending in ((ACME, used), (GLOBEX, others)):
        assert accounts.take(tenant, pending.digest)

    accounts.forget_server(ACME, "another")
    assert accounts.pending(ACME, begun.digest) == begun
    accounts.forget_server(ACME, "ours")

    assert not accounts.take(ACME, begun.digest)
    assert not accounts.connect(an_account(user=BOB), used.digest)
    assert accounts.of_user(ACME, BOB) == []
    assert accounts.connect(an_account(tenant=GLOBEX), others.digest)


def test_a_client_is_kept_in_place_of_the_one_before(accounts: McpAccountStore) -> None:
    accounts.keep_client(ACME, a_kept_client())
    second = a_kept_client(id="client-2", sealed="", ends_at=SOON)
    accounts.keep_client(ACME, second)

    assert accounts.client(ACME, "ours") == second
