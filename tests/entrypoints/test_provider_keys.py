"""Keys of providers over REST: given, replaced, tried and taken back, and never shown."""

import pytest

from archivolt.domain.settings import CHAT_API_KEY, provider_key_field
from archivolt.ports.provider_keys import KeyTrial, KeyVerdict
from tests.builders import ACME, GLOBEX
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld
from tests.fakes.governance import ReversibleBox

SETTINGS = "/api/v1/tenants/acme/settings"
FIRST, SECOND = ("sk-" + letter * 30 for letter in "qz")


@pytest.fixture
def world() -> RestWorld:
    return RestWorld()


def give(world: RestWorld, **settings: object) -> Answer:
    answer = world.send("PUT", SETTINGS, settings, user="admin")
    assert answer.status == 200, answer.body
    return answer


def tried(world: RestWorld, provider: str, *, user: str = "admin", tenant: str = "acme") -> Answer:
    return world.send("POST", f"/api/v1/tenants/{tenant}/keys/{provider}/test", user=user)


def test_a_key_is_tried_at_its_providers_own_address(world: RestWorld) -> None:
    give(world, chat_provider_keys={"mistral": FIRST})

    answer = tried(world, "mistral")

    assert answer.json == {"provider": "mistral", "verdict": "accepted", "status": 200}
    [asked] = world.key_check.asked
    assert (asked.base_url, asked.key) == ("https://api.mistral.ai/v1", FIRST)
    assert FIRST.encode() not in answer.body


def test_the_tenants_own_endpoint_is_tried_before_a_well_known_one(world: RestWorld) -> None:
    own = {"chat_base_url": "https://models.acme.example/v1", "chat_api_key": FIRST}
    give(world, **own, chat_provider="openai", chat_provider_keys={"openai": SECOND})

    tried(world, "openai")

    [asked] = world.key_check.asked
    assert (asked.base_url, asked.key) == ("https://models.acme.example/v1", FIRST)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [(KeyVerdict.REFUSED, 401), (KeyVerdict.UNCLEAR, 500), (KeyVerdict.UNREACHABLE, None)],
)
def test_what_a_provider_says_is_told_in_one_word(
    world: RestWorld, verdict: KeyVerdict, status: int | None
) -> None:
    give(world, chat_provider_keys={"openai": FIRST})
    world.key_check.trial = KeyTrial(verdict=verdict, status=status)

    told = tried(world, "openai").json

    assert (told["verdict"], told["status"]) == (verdict, status)


def test_a_replaced_key_is_used_no_more_from_the_next_request_on(world: RestWorld) -> None:
    before = give(world, chat_provider_keys={"openai": FIRST}).json["chat_provider_keys"]
    after = give(world, chat_provider_keys={"openai": SECOND}).json["chat_provider_keys"]

    tried(world, "openai")

    assert [asked.key for asked in world.key_check.asked] == [SECOND]
    assert before["openai"] != after["openai"]
    kept = repr(world.tenant_settings.load(ACME))
    assert ReversibleBox().seal(FIRST, tenant=ACME, field=provider_key_field("openai")) not in kept


@pytest.mark.parametrize("taken_back", [None, ""])
def test_a_key_that_was_taken_back_is_there_no_more(
    world: RestWorld, taken_back: str | None
) -> None:
    give(world, chat_provider="openai", chat_api_key=FIRST, chat_provider_keys={"mistral": SECOND})
    give(world, chat_api_key=taken_back, chat_provider_keys={"mistral": taken_back})

    for provider in ("openai", "mistral"):
        answer = tried(world, provider)
        assert (answer.status, answer.json["error"]["code"]) == (404, "provider_key_not_found")
    kept = world.tenant_settings.load(ACME)
    assert (kept.sealed_chat_api_key, dict(kept.sealed_provider_keys)) == ("", {})


def test_the_keys_of_another_tenant_are_tried_by_who_runs_it_all_and_nobody_else(
    world: RestWorld,
) -> None:
    give(world, chat_provider_keys={"openai": FIRST})
    url = "/api/v1/tenants/globex/settings"
    assert world.get("/api/v1/vaults", user="mallory").status == 200
    world.send("PUT", url, {"chat_provider_keys": {"openai": SECOND}}, user="root")

    there, nowhere = (tried(world, "openai", tenant=tenant) for tenant in ("globex", "nowhere"))
    assert (there.status, there.json["error"]["code"]) == (404, "tenant_not_found")
    assert there.body.replace(b"globex", b"nowhere") == nowhere.body
    assert world.key_check.asked == []

    tried(world, "openai", tenant="globex", user="root")
    assert [asked.key for asked in world.key_check.asked] == [SECOND]
    assert world.tenant_settings.load(GLOBEX) != world.tenant_settings.load(ACME)


def test_no_answer_and_no_entry_of_the_log_holds_a_key(world: RestWorld) -> None:
    answers = [
        give(world, chat_provider="openai", chat_api_key=FIRST),
        give(world, chat_provider_keys={"mistral": SECOND}, embedding_api_key=None),
        world.get(SETTINGS, user="admin"),
        world.get(SETTINGS, user="alice"),
        world.send("PUT", SETTINGS, {"chat_api_key": f"{FIRST} "}, user="admin"),
        world.send("PUT", SETTINGS, {"chat_provider_keys": {"nobody": SECOND}}, user="admin"),
        world.send("PUT", SETTINGS, {"colour": FIRST}, user="admin"),
        tried(world, "openai"),
        tried(world, "mistral"),
        world.get("/api/v1/audit", user="admin"),
        world.get("/api/v1/config/ai-models"),
    ]

    for answer in answers:
        for key in (FIRST, SECOND):
            assert key.encode() not in answer.body
    assert FIRST not in repr(world.audit.entries)
    assert SECOND not in repr(world.audit.entries)
    assert CHAT_API_KEY in repr([answer.body for answer in answers])
