"""However many places an answer names, little is asked to open it."""

from collections.abc import Mapping, Sequence

import pytest

from archivolt.chat.current_places import MAX_FOLLOWED, CurrentPlaces
from archivolt.domain.conversation import Author, Conversation, ConversationId, Message
from archivolt.domain.identity import Principal
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import Vault, VaultAccess, VaultId, VaultRef, VaultRole
from tests.builders import ACME, ALICE, principal
from tests.fakes.clock import START


class Asked:
    """One vault, whose documents all moved; it counts what is asked."""

    def __init__(self) -> None:
        self.listed = 0
        self.followed: list[VaultPath] = []

    def accessible(self, principal: Principal) -> list[VaultAccess]:
        self.listed += 1
        ref = VaultRef(tenant=principal.tenant, id=VaultId("v-1"))
        vault = Vault(ref=ref, name="caf\u00e9", created_at=START)
        return [VaultAccess(vault=vault, user=principal.user, role=VaultRole.READER)]

    def now_at(
        self, access: VaultAccess, paths: Sequence[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        assert access.vault.name == "caf\u00e9"
        self.followed += paths
        return {path: VaultPath(f"moved/{path}") for path in paths}


def opened(asked: Asked, *texts: str) -> list[str]:
    said = [
        Message(number=number, author=Author.ASSISTANT, text=text, written_at=START)
        for number, text in enumerate(texts, 1)
    ]
    conversation = Conversation(
        tenant=ACME,
        id=ConversationId("c-1"),
        owner=ALICE,
        title="",
        created_at=START,
        updated_at=START,
        message_count=len(said),
        messages=tuple(said),
    )
    current = CurrentPlaces(asked, asked).in_conversation(principal(ALICE), conversation)
    return [message.text for message in current.messages]


def test_vaults_are_asked_for_once_whatever_an_answer_names() -> None:
    asked = Asked()
    strangers = " ".join(f"[x](vault://v{number}/a.md)" for number in range(50))

    [text] = opened(asked, f"{strangers} [y](vault://cafe%CC%81/a.md)")

    assert asked.listed == 1
    assert asked.followed == ["a.md"]
    assert text.startswith(strangers)
    assert text.endswith("/moved/a.md)")


def test_of_many_places_the_newest_are_followed() -> None:
    asked = Asked()
    many = " ".join(f"[x](vault://caf%C3%A9/{number}.md)" for number in range(MAX_FOLLOWED + 50))

    _, last = opened(asked, many, "[y](vault://caf%C3%A9/new.md)")

    assert len(asked.followed) == MAX_FOLLOWED
    assert last.endswith("/moved/new.md)")


def test_an_answer_without_places_asks_for_nothing() -> None:
    asked = Asked()

    assert opened(asked, "[x](https://example.org)") == ["[x](https://example.org)"]
    assert asked.listed == 0


@pytest.mark.parametrize(
    ("written", "led"),
    [
        ("[x](vault://caf%C3%A9/d)", "[x](vault://caf%C3%A9/moved/d)"),
        ("[x](vault://caf%C3%A9/d/)", "[x](vault://caf%C3%A9/moved/d/)"),
        ("<vault://caf%C3%A9/d/>", "[vault://caf%C3%A9/d/](vault://caf%C3%A9/moved/d/)"),
    ],
)
def test_a_link_to_a_directory_follows_it(written: str, led: str) -> None:
    assert opened(Asked(), written) == [led]


def test_the_address_of_a_directory_follows_it() -> None:
    asked, uri = Asked(), "vault://caf%C3%A9/d/"

    found = CurrentPlaces(asked, asked).of_uris(principal(ALICE), [uri])

    assert found == {uri: "vault://caf%C3%A9/moved/d/"}
