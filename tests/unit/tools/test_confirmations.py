"""Propose, then apply: one effect, one answer, and never a change that nobody confirmed."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest

from archivolt.adapters.jwt.confirmation_tokens import JwtConfirmationTokens
from archivolt.domain.confirmation import Affected, Change, Preview
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import TokenKind
from archivolt.domain.limits import (
    CHAT_CONFIRMATION_SECONDS,
    CONFIRMATION_LEASE_SECONDS,
    CONFIRMATION_RESUME_SECONDS,
    CONFIRMATION_SECONDS,
    MAX_CONFIRMATION_TOKEN_CHARS,
    MAX_REQUEST_BYTES,
    MAX_TOOL_RESULT_CHARS,
)
from archivolt.domain.messages import Language, Message
from archivolt.domain.paths import VaultPath
from archivolt.domain.tool import Surface
from archivolt.domain.vault import VaultRole
from archivolt.ports.confirmations import ProposalState
from archivolt.tools.audit import digest
from archivolt.tools.previews import shown
from archivolt.tools.registry import Registry
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, principal
from tests.confirmed_changes import ChangeStage, Patience, at_once, code_of
from tests.fakes.faults import Death
from tests.world import SIGNING_KEY

BOBS = principal(BOB)
SECRET = "AKIA" + "Q4TZ7XW2LMN8PVRS"


@pytest.fixture
def stage() -> ChangeStage:
    return ChangeStage()


def dies() -> None:
    raise Death


def is_down() -> None:
    raise UnavailableError("unavailable")


def test_a_proposal_shows_the_change_and_makes_none(stage: ChangeStage) -> None:
    proposed = stage.propose("two")

    assert proposed.preview == {
        "summary": "Edit a.md",
        "diff": "-old\n+two\n",
        "affected": [{"path": "a.md", "change": "edit", "uri": "vault://notes/a.md"}],
        "affected_total": 1,
        "vault": "notes",
    }
    assert proposed.expires_at == stage.world.clock.now() + timedelta(minutes=10)
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_an_apply_makes_the_change_once_and_tells_every_retry_the_same(stage: ChangeStage) -> None:
    proposed = stage.propose("two")

    first = stage.apply(proposed.token)
    stage.world.clock.advance(minutes=2)
    again = stage.apply(proposed.token)

    assert first == again
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False])


def test_the_same_answer_is_told_after_the_token_has_expired(stage: ChangeStage) -> None:
    proposed = stage.propose("two")
    first = stage.apply(proposed.token)
    stage.world.clock.advance(days=2)

    assert stage.apply(proposed.token) == first
    assert stage.versions == 2


def test_two_hundred_applies_at_once_have_one_effect_and_one_answer(stage: ChangeStage) -> None:
    token, patience = stage.propose("two").token, Patience()
    pipeline = stage.world.pipeline_of(stage.pipeline.registry, patience)

    def apply(_: int) -> object:
        result = stage.apply(token, pipeline=pipeline)
        patience.done.set()
        return result

    answers = at_once(apply, runners=200)

    assert answers == [answers[0]] * 200
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False])


def test_two_hundred_applies_at_once_of_a_stale_change_are_told_one_conflict(
    stage: ChangeStage,
) -> None:
    token, patience = stage.propose("two").token, Patience()
    pipeline = stage.world.pipeline_of(stage.pipeline.registry, patience)
    other = stage.world.store.replace(
        stage.ref, VaultPath("a.md"), b"theirs", expected=stage.first.etag
    )

    def apply(_: int) -> object:
        try:
            return stage.apply(token, pipeline=pipeline)
        finally:
            patience.done.set()

    answers = at_once(apply, runners=200)

    assert {type(answer) for answer in answers} == {ConflictError}
    told = {(e.code, str(e.details)) for e in answers if isinstance(e, ArchivoltError)}
    assert told == {("conflict", str({"etag": other.etag, "diff": "-theirs\n+yours\n"}))}
    assert (stage.text, stage.versions, stage.hand.runs) == ("theirs", 2, [False])


# ------------------------------------------------------------------------------- never a mutation


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    return json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def signed(claims: dict[str, Any], key: bytes = SIGNING_KEY, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, key, algorithm=algorithm)


def without_signature(token: str, *, keep: bool) -> str:
    header = urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    _, payload, signature = token.split(".")
    return f"{header}.{payload}.{signature if keep else ''}"


def flipped(token: str, part: int, position: int) -> str:
    parts = token.split(".")
    index = position % len(parts[part])
    other = "A" if parts[part][index] != "A" else "B"
    parts[part] = parts[part][:index] + other + parts[part][index + 1 :]
    return ".".join(parts)


def claiming(**changed: object) -> Callable[[str], str]:
    """Claims put in the place of others without the key."""

    def forge(token: str) -> str:
        forged = signed(claims_of(token) | changed, b"another key of thirty-two bytes!")
        return ".".join([*forged.split(".")[:2], token.split(".")[2]])

    return forge


TRUE_KEY_FORGERIES: dict[str, Callable[[str], str]] = {
    "another type": lambda token: signed(claims_of(token) | {"type": "access"}),
    "no type": lambda token: signed({k: v for k, v in claims_of(token).items() if k != "type"}),
    "another algorithm": lambda token: signed(claims_of(token), algorithm="HS512"),
    "an id of no proposal": lambda token: signed(claims_of(token) | {"jti": "0" * 32}),
    "another end": lambda token: signed(claims_of(token) | {"exp": 4_000_000_000}),
    "an end that is no time": lambda token: signed(claims_of(token) | {"exp": "never"}),
    "an endless end": lambda token: signed(claims_of(token) | {"exp": 1e300}),
    "an unknown surface": lambda token: signed(claims_of(token) | {"surface": "root"}),
    "an access token": lambda token: signed(
        {"iss": "us", "aud": "archivolt", "sub": ALICE, "exp": 4_000_000_000, "tenant": ACME}
    ),
}
FORGERIES: dict[str, Callable[[str], str]] = {
    "empty": lambda token: "",
    "no token": lambda token: "yes",
    "unsigned": lambda token: without_signature(token, keep=False),
    "said to be unsigned": lambda token: without_signature(token, keep=True),
    "cut": lambda token: token[:-1],
    "longer": lambda token: token + "A",
    "padded": lambda token: token + "=",
    "with a space": lambda token: token + " ",
    "too long": lambda token: token + "A" * 9_000,
    "not ASCII": lambda token: token[:-1] + "é",
    "of another key": lambda token: signed(claims_of(token), b"another key of thirty-two bytes!"),
    "other arguments": claiming(call={"arguments": {}, "vault": "", "pins": {}}),
    "another tool": claiming(tool="rename_file"),
    "another user": claiming(sub=BOB),
    "longer life": claiming(exp=4_000_000_000),
    **TRUE_KEY_FORGERIES,
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_changes_nothing(stage: ChangeStage, forgery: str) -> None:
    forged = FORGERIES[forgery](stage.propose().token)

    with pytest.raises((InvalidRequestError, ConflictError)) as caught:
        stage.apply(forged)

    assert caught.value.code in {"confirmation_invalid", "confirmation_expired"}
    assert (stage.versions, stage.hand.runs) == (1, [])


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_token_with_any_character_altered_changes_nothing(stage: ChangeStage, part: int) -> None:
    token = stage.propose().token

    for position in range(len(token.split(".")[part])):
        altered = flipped(token, part, position)
        assert code_of(lambda token=altered: stage.apply(token)) == "confirmation_invalid"
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_a_token_of_another_deployment_changes_nothing(stage: ChangeStage) -> None:
    token = stage.propose().token
    claims = JwtConfirmationTokens(lambda: SIGNING_KEY).read(token)
    foreign = JwtConfirmationTokens(lambda: bytes(32)).sign(claims)

    assert code_of(lambda: stage.apply(foreign)) == "confirmation_invalid"
    assert stage.apply(token).value["etag"]


@pytest.mark.parametrize(
    "how",
    [
        {"by": BOBS},
        {"by": principal(ALICE, tenant=GLOBEX)},
        {"by": principal(BOB, tenant=GLOBEX)},
        {"name": "rename_file"},
        {"name": "read_file"},
        {"name": "no_such_tool"},
        {"surface": Surface.MCP},
    ],
    ids=str,
)
def test_a_token_is_good_for_its_user_tenant_tool_and_door_only(
    stage: ChangeStage, how: dict[str, Any]
) -> None:
    stage.world.share(stage.ref, BOBS, VaultRole.WRITER)
    token = stage.propose().token

    assert code_of(lambda: stage.apply(token, **how)) in {"confirmation_invalid", "tool_not_found"}
    assert (stage.versions, stage.hand.runs) == (1, [])
    assert stage.apply(token).value["etag"]  # and the refusal has not used it up


def test_an_agents_token_confirms_what_an_agent_proposed(stage: ChangeStage) -> None:
    agent = principal(ALICE, kind=TokenKind.MCP)
    proposed = stage.propose(by=agent, surface=Surface.MCP)

    assert code_of(lambda: stage.apply(proposed.token)) == "confirmation_invalid"
    assert stage.apply(proposed.token, by=agent, surface=Surface.MCP).value["etag"]


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(CONFIRMATION_SECONDS - 1, ""), (CONFIRMATION_SECONDS, "confirmation_expired")],
)
def test_a_confirmation_ends_with_its_time(stage: ChangeStage, seconds: int, code: str) -> None:
    token = stage.propose().token
    stage.world.clock.advance(seconds=seconds)

    assert code_of(lambda: stage.apply(token)) == code
    assert stage.versions == (1 if code else 2)


def test_a_confirmation_in_a_chat_lives_for_a_day(stage: ChangeStage) -> None:
    token = stage.propose(seconds=CHAT_CONFIRMATION_SECONDS).token
    stage.world.clock.advance(hours=23, minutes=59)

    assert stage.apply(token).value["etag"]


def test_a_vault_that_is_no_longer_the_callers_is_not_changed(stage: ChangeStage) -> None:
    stage.world.share(stage.ref, BOBS, VaultRole.WRITER)
    token = stage.propose(by=BOBS).token
    stage.world.directory.remove_member(stage.ref, BOBS.user)

    with pytest.raises(NotFoundError, match="vault_not_found"):
        stage.apply(token, by=BOBS)
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_a_writer_who_became_a_reader_changes_nothing(stage: ChangeStage) -> None:
    stage.world.share(stage.ref, BOBS, VaultRole.WRITER)
    token = stage.propose(by=BOBS).token
    stage.world.share(stage.ref, BOBS, VaultRole.READER)

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        stage.apply(token, by=BOBS)
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_a_vault_of_another_name_is_not_changed_nor_another_one_of_that_name(
    stage: ChangeStage,
) -> None:
    token = stage.propose().token
    stage.world.directory.rename(stage.ref, "papers")
    assert code_of(lambda: stage.apply(token)) == "vault_not_found"

    other = a_vault("notes", vault_id="another")
    stage.world.directory.create(other, owner=principal(ALICE).user)
    assert code_of(lambda: stage.apply(token)) == "vault_not_found"
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_dangerous_tools_that_were_switched_off_meanwhile_change_nothing(
    stage: ChangeStage,
) -> None:
    dangerous, write = stage.propose(name="rename_file"), stage.propose()
    stage.world.directory.forbid_destructive_tools(stage.ref)

    with pytest.raises(ForbiddenError, match="destructive_tools_off"):
        stage.apply(dangerous.token, name="rename_file")
    with pytest.raises(ForbiddenError, match="destructive_tools_off"):
        stage.propose(name="rename_file")
    assert stage.versions == 1
    assert stage.apply(write.token).value["etag"]


def test_a_file_that_changed_meanwhile_is_a_conflict_for_good(stage: ChangeStage) -> None:
    token = stage.propose("two").token
    other = stage.world.store.replace(
        stage.ref, VaultPath("a.md"), b"theirs", expected=stage.first.etag
    )

    for _ in range(2):
        with pytest.raises(ConflictError) as caught:
            stage.apply(token)
        assert caught.value.code == "conflict"
        assert caught.value.details == {"etag": other.etag, "diff": "-theirs\n+yours\n"}
    assert (stage.text, stage.hand.runs) == ("theirs", [False])


def test_a_declined_change_is_never_made(stage: ChangeStage) -> None:
    token = stage.propose().token
    for _ in range(2):
        stage.decline(token)

    assert code_of(lambda: stage.apply(token)) == "confirmation_declined"
    assert (stage.versions, stage.hand.runs) == (1, [])


def test_only_the_one_who_proposed_may_decline(stage: ChangeStage) -> None:
    token = stage.propose().token

    for caller, name in ((BOBS, "edit_file"), (principal(ALICE), "rename_file")):
        with pytest.raises(InvalidRequestError, match="confirmation_invalid"):
            stage.decline(token, name=name, by=caller)
    assert stage.apply(token).value["etag"]


def test_what_is_done_or_being_done_cannot_be_declined(stage: ChangeStage) -> None:
    done, running = stage.propose("two").token, stage.propose("three").token
    stage.apply(done)
    stage.hand.before = dies
    with pytest.raises(Death):
        stage.apply(running)

    assert code_of(lambda: stage.decline(done)) == "confirmation_done"
    assert code_of(lambda: stage.decline(running)) == "confirmation_running"


def test_a_read_needs_no_confirmation(stage: ChangeStage) -> None:
    with pytest.raises(InvalidRequestError, match="confirmation_needless"):
        stage.propose(name="read_file")


# ------------------------------------------------------------------------------- crashes, retries


@pytest.mark.parametrize(("moment", "versions"), [("before", 1), ("after", 2)])
def test_a_retry_finishes_what_a_crash_cut_short(
    stage: ChangeStage, moment: str, versions: int
) -> None:
    token = stage.propose("two").token
    setattr(stage.hand, moment, dies)
    with pytest.raises(Death):
        stage.apply(token)
    assert stage.versions == versions
    setattr(stage.hand, moment, lambda: None)

    assert code_of(lambda: stage.apply(token)) == "confirmation_running"
    stage.world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS)
    first = stage.apply(token)

    assert stage.apply(token) == first
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False, True])


def test_a_change_begun_in_time_is_finished_after_its_time_but_not_forever(
    stage: ChangeStage,
) -> None:
    tokens = [stage.propose("two").token for _ in range(2)]
    stage.hand.before = dies
    for token in tokens:
        with pytest.raises(Death):
            stage.apply(token)
    stage.hand.before = lambda: None

    stage.world.clock.advance(seconds=CONFIRMATION_SECONDS + 60)
    assert stage.apply(tokens[0]).value["etag"]
    stage.world.clock.advance(seconds=CONFIRMATION_RESUME_SECONDS)
    assert code_of(lambda: stage.apply(tokens[1])) == "confirmation_expired"
    assert stage.versions == 2


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_service_that_was_down_leaves_the_confirmation_to_a_retry(
    stage: ChangeStage, moment: str
) -> None:
    token = stage.propose("two").token
    setattr(stage.hand, moment, is_down)
    with pytest.raises(UnavailableError, match="unavailable"):
        stage.apply(token)
    setattr(stage.hand, moment, lambda: None)

    assert stage.apply(token).value["etag"]
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False, True])


def test_an_outcome_that_cannot_be_kept_is_found_again_by_the_retry(stage: ChangeStage) -> None:
    token = stage.propose("two").token
    stage.world.line.take_down("finish")
    with pytest.raises(UnavailableError, match="unavailable"):
        stage.apply(token)
    stage.world.line.calm()

    assert stage.apply(token).value["etag"]
    assert (stage.text, stage.versions, stage.hand.runs) == ("two", 2, [False, True])


def test_a_refusal_that_cannot_be_kept_holds_up_no_retry(stage: ChangeStage) -> None:
    token = stage.propose("two").token
    stage.hand.before = _refuse
    stage.world.line.take_down("finish")
    with pytest.raises(UnavailableError, match="unavailable"):
        stage.apply(token)
    stage.world.line.calm()

    with pytest.raises(ConflictError, match="file_exists"):
        stage.apply(token)
    assert (stage.text, stage.hand.runs) == ("one", [False, True])


def _refuse() -> None:
    raise ConflictError("file_exists", path="a.md")


def test_a_fault_of_ours_leaves_the_confirmation_to_a_retry(stage: ChangeStage) -> None:
    token = stage.propose("two").token
    stage.hand.before = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        stage.apply(token)
    stage.hand.before = lambda: None

    assert stage.apply(token).value["etag"]
    assert stage.versions == 2


def test_long_work_goes_on_with_the_same_token(stage: ChangeStage) -> None:
    parts = iter([1, 2])

    def in_parts() -> None:
        done = next(parts, None)
        if done is not None:
            raise UnavailableError("operation_unfinished", done=done, total=3)

    stage.hand.before = in_parts
    token = stage.propose("two").token

    for done in (1, 2):
        with pytest.raises(UnavailableError) as caught:
            stage.apply(token)
        assert caught.value.details == {"done": done, "total": 3}
    assert stage.apply(token).value["etag"]
    assert stage.hand.runs == [False, True, True]


def test_an_apply_that_lost_its_lease_tells_the_outcome_of_the_one_that_took_over(
    stage: ChangeStage,
) -> None:
    token = stage.propose("two").token
    others: list[object] = []

    def stalls() -> None:
        stage.hand.after = lambda: None
        stage.world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS)
        others.append(stage.apply(token))

    stage.hand.after = stalls

    assert stage.apply(token) == others[0]
    assert (stage.versions, stage.hand.runs) == (2, [False, True])


def test_an_apply_waits_for_another_only_so_long(stage: ChangeStage) -> None:
    token = stage.propose("two").token
    stage.hand.before = dies
    with pytest.raises(Death):
        stage.apply(token)
    before = stage.world.clock.now()

    with pytest.raises(UnavailableError) as caught:
        stage.apply(token)
    retry_after = caught.value.details["retry_after"]
    assert isinstance(retry_after, int)
    assert 0 < CONFIRMATION_LEASE_SECONDS - 22 < retry_after < CONFIRMATION_LEASE_SECONDS - 18
    assert timedelta(seconds=20) <= stage.world.clock.now() - before < timedelta(seconds=22)


def test_time_that_passes_on_a_busy_machine_is_waiting_too(stage: ChangeStage) -> None:
    token, clock = stage.propose("two").token, stage.world.clock
    stage.hand.before = dies
    with pytest.raises(Death):
        stage.apply(token)
    before = clock.now()
    busy = stage.world.pipeline_of(
        stage.pipeline.registry, lambda seconds: clock.advance(seconds=seconds + 4)
    )

    assert code_of(lambda: stage.apply(token, pipeline=busy)) == "confirmation_running"
    assert clock.now() - before < timedelta(seconds=29)


def test_who_waited_too_long_to_run_it_in_time_leaves_it_to_the_next_apply(
    stage: ChangeStage,
) -> None:
    token = stage.propose("two").token
    stage.hand.before = dies
    with pytest.raises(Death):
        stage.apply(token)
    stage.hand.before = lambda: None
    stage.world.clock.advance(seconds=CONFIRMATION_LEASE_SECONDS - 10)

    with pytest.raises(UnavailableError) as caught:
        stage.apply(token)
    assert (caught.value.code, caught.value.details) == ("confirmation_running", {"retry_after": 1})
    assert stage.hand.runs == [False]
    assert stage.apply(token).value["etag"]


# ------------------------------------------------------------- what is in the token and the record


@pytest.mark.parametrize("content", ["short", "long " * 2_000, "é" * 500, "𝄞" * 1_000, '"\n' * 900])
@pytest.mark.parametrize("user", [ALICE, "𝄞" * 128])
def test_a_token_stays_under_two_kilobytes_whatever_it_confirms(content: str, user: str) -> None:
    stage, caller = ChangeStage(), principal(user)
    if user != ALICE:
        stage.world.share(stage.ref, caller, VaultRole.WRITER)

    token = stage.propose(content, by=caller).token

    assert len(token) <= MAX_CONFIRMATION_TOKEN_CHARS < 2_048
    stage.apply(token, by=caller)
    assert stage.text == content


def test_a_short_call_travels_in_the_token_and_a_long_one_waits_sealed(stage: ChangeStage) -> None:
    short, long = stage.propose("two"), stage.propose("2" * 2_000)
    kept = [stage.world.confirmations.get(ACME, one.id) for one in (short, long)]

    assert claims_of(short.token)["call"]["arguments"]["content"] == "two"
    assert "call" not in claims_of(long.token)
    assert [bool(one and one.sealed_call) for one in kept] == [False, True]
    assert "2222" not in repr(kept)


def test_a_sealed_call_that_is_not_the_confirmed_one_is_refused(stage: ChangeStage) -> None:
    one, other = stage.propose("1" * 2_000), stage.propose("2" * 2_000)
    store = stage.world.confirmations
    kept, foreign = store.get(ACME, one.id), store.get(ACME, other.id)
    assert kept is not None
    assert foreign is not None
    claims = claims_of(one.token) | {"digest": "0" * 64}

    assert code_of(lambda: stage.apply(signed(claims))) == "confirmation_invalid"
    assert stage.versions == 1


def test_a_call_longer_than_any_request_is_refused_at_once(stage: ChangeStage) -> None:
    assert code_of(lambda: stage.propose("x" * MAX_REQUEST_BYTES)) == "content_too_large"
    assert stage.propose("a line of text\n" * 60_000).token


def test_no_secret_leaves_in_a_preview_or_a_conflict_nor_is_it_kept(stage: ChangeStage) -> None:
    def conflict() -> None:
        raise ConflictError("conflict", etag="e", diff=f"+{SECRET}\n" + "x" * 10_000)

    proposed = stage.propose(SECRET)
    stage.hand.before = conflict

    with pytest.raises(ConflictError) as caught:
        stage.apply(proposed.token)
    diff = str(caught.value.details["diff"])
    assert SECRET not in json.dumps(proposed.preview) + diff
    assert diff.startswith("+[redacted:")
    assert len(diff) < 5_000


def test_a_long_preview_is_cut_and_says_so() -> None:
    many = [
        Affected(path=f"a/{'long ' * 20}{n}.md", change=Change.SKIP, reason="name_empty")
        for n in range(200)
    ]
    preview = Preview(
        summary=Message("Much", "Beaucoup"), diff="+line\n" * 9_000, affected=many, affected_total=9
    )

    told = shown(preview, Language.FR, limit=MAX_TOOL_RESULT_CHARS)

    assert len(json.dumps(told, ensure_ascii=False)) <= MAX_TOOL_RESULT_CHARS
    assert told["summary"] == "Beaucoup"
    assert 0 < len(told["affected"]) < 200
    assert told["affected_total"] == 200
    assert told["affected"][0]["explanation"] == "un nom vide"
    assert told["note"].startswith("Coupé")


# -------------------------------------------------------------------------------- audit and limits


def test_each_step_is_recorded_with_what_it_was_about_and_its_proposal(stage: ChangeStage) -> None:
    proposed = stage.propose("very secret")
    stage.apply(proposed.token)
    stage.apply(proposed.token)
    code_of(lambda: stage.apply("forged"))

    entries = stage.world.audit.entries
    assert [(entry.action, entry.outcome) for entry in entries] == [
        ("propose:edit_file", "ok"),
        ("apply:edit_file", "ok"),
        ("apply:edit_file", "ok"),
        ("apply:edit_file", "confirmation_invalid"),
    ]
    arguments = {"vault": "notes", "path": "a.md", "content": "very secret"}
    for entry in entries[:3]:
        assert (entry.vault, entry.path) == ("notes", "a.md")
        assert entry.arguments_digest == digest(arguments)
        assert entry.details == {"confirmation": proposed.id}
    assert "very secret" not in repr(entries)


def test_proposals_and_applies_are_calls_that_count() -> None:
    stage = ChangeStage(per_tool=2)
    token = stage.propose().token
    stage.apply(token)

    assert code_of(lambda: stage.apply(token)) == "rate_limited"
    assert code_of(stage.propose) == "rate_limited"


def test_a_rate_limited_apply_leaves_the_confirmation_for_later() -> None:
    stage = ChangeStage(per_tool=1)
    proposed = stage.propose()
    assert code_of(lambda: stage.apply(proposed.token)) == "rate_limited"
    kept = stage.world.confirmations.get(ACME, proposed.id)
    assert kept is not None
    assert kept.state is ProposalState.PENDING

    stage.world.clock.advance(seconds=60)
    assert stage.apply(proposed.token).value["etag"]


def test_a_tool_that_is_gone_cannot_be_applied(stage: ChangeStage) -> None:
    token = stage.propose().token
    stage.pipeline = stage.world.pipeline_of(Registry([]))

    assert code_of(lambda: stage.apply(token)) == "tool_not_found"
