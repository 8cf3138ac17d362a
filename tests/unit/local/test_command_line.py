import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import jwt
import pytest

from archivolt.domain.identity import Role
from archivolt_local.addresses import free_port, reserve
from archivolt_local.cli import chosen_vaults, main, parse_port, parse_vaults
from archivolt_local.data_lock import DataLock
from archivolt_local.keys import load_or_make_keys
from archivolt_local.places import SAMPLE_VAULT, DataFolder
from archivolt_local.problems import StartError
from archivolt_local.services import Services, choose_tables
from archivolt_local.status import describe, read_status
from archivolt_local.supervisor import StackOptions, parameters
from archivolt_local.tokens import LOCAL_AUDIENCE, LOCAL_ISSUER, TokenSubject, issue_token
from tests.fakes.clock import START, FrozenClock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my notes"
    made.mkdir()
    return made


def test_without_a_word_about_vaults_there_is_the_sample() -> None:
    assert chosen_vaults(None, None) == {"sample": SAMPLE_VAULT}
    assert chosen_vaults(None, "  ") == {"sample": SAMPLE_VAULT}


def test_the_sample_has_notes_in_both_languages() -> None:
    text = "".join(file.read_text() for file in SAMPLE_VAULT.rglob("*.md"))
    assert "Welcome" in text
    assert "dépense" in text


def test_vaults_are_split_like_a_shell_line(folder: Path) -> None:
    line = f"'team notes={folder}' other=\"{folder}\""
    assert chosen_vaults(None, line) == {"team notes": folder, "other": folder}


def test_vaults_asked_for_win_over_the_environment(folder: Path) -> None:
    assert chosen_vaults([f"a={folder}"], "b=/nowhere") == {"a": folder}


def test_only_the_first_equals_sign_separates(tmp_path: Path) -> None:
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert parse_vaults([f"x={odd}"]) == {"x": odd}


@pytest.mark.parametrize("assignment", ["notes", "=/tmp", "notes="])
def test_an_assignment_needs_a_name_and_a_folder(assignment: str) -> None:
    with pytest.raises(StartError, match="NAME=FOLDER"):
        parse_vaults([assignment])


def test_a_name_no_vault_may_have_is_refused_at_once(folder: Path) -> None:
    with pytest.raises(StartError, match="name"):
        parse_vaults([f"a/b={folder}"])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"There is no folder .*absent"):
        parse_vaults([f"x={tmp_path / 'absent'}"])


def test_one_name_for_two_folders_is_refused(folder: Path) -> None:
    with pytest.raises(StartError, match="named twice"):
        parse_vaults([f"x={folder}", f"x={folder}"])


def test_an_unclosed_quote_is_one_sentence() -> None:
    with pytest.raises(StartError, match="VAULTS cannot be read"):
        chosen_vaults(None, "'a=b")


@pytest.mark.parametrize("text", ["0", "65536", "abc", "-1", "", "\uff18\uff10"])
def test_a_port_is_a_number_in_range(text: str) -> None:
    with pytest.raises(StartError, match="is not a port"):
        parse_port(text)


def test_a_busy_port_is_one_sentence() -> None:
    port = free_port()
    with reserve(port), pytest.raises(StartError, match=f"Port {port} is busy"):
        reserve(port)


def test_keys_are_made_once_and_are_their_owners_alone(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    keys = load_or_make_keys(data)
    assert load_or_make_keys(data) == keys
    assert len({keys.signing, keys.encryption, keys.vectors}) == 3
    assert stat.S_IMODE(data.keys.stat().st_mode) == 0o600


def test_a_missing_key_is_added_and_the_others_stay(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    keys = load_or_make_keys(data)
    known = json.loads(data.keys.read_text())
    del known["vectors"]
    data.keys.write_text(json.dumps(known))
    again = load_or_make_keys(data)
    assert (again.signing, again.encryption) == (keys.signing, keys.encryption)
    assert again.vectors not in {"", keys.vectors}


def test_a_token_says_who_and_for_how_long(tmp_path: Path) -> None:
    keys = load_or_make_keys(DataFolder(tmp_path))
    subject = TokenSubject(tenant="acme", user="alice", role=Role.VIEWER)
    token = issue_token(subject, keys.signing, FrozenClock())
    claims = jwt.decode(
        token,
        keys.signing,
        algorithms=["HS256"],
        audience=LOCAL_AUDIENCE,
        issuer=LOCAL_ISSUER,
        options={"verify_exp": False, "verify_iat": False},
    )
    assert (claims["tenant"], claims["sub"], claims["role"]) == ("acme", "alice", "viewer")
    assert claims["exp"] - START.timestamp() == 30 * 86_400


def test_the_token_command_prints_a_token_on_its_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = load_or_make_keys(DataFolder(tmp_path))
    who = ["--user", "u", "--tenant", "t", "--role", "devops", "--data", str(tmp_path)]
    assert main(["token", *who]) == 0
    token = capsys.readouterr().out.splitlines()[-1]
    claims = jwt.decode(token, keys.signing, algorithms=["HS256"], audience=LOCAL_AUDIENCE)
    assert claims["role"] == "devops"


def test_a_token_needs_a_stack_that_was_started_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    who = ["--user", "u", "--tenant", "t", "--role", "viewer", "--data", str(tmp_path)]
    assert main(["token", *who]) == 1
    assert "No stack was ever started" in capsys.readouterr().err


def test_an_unknown_role_is_refused(tmp_path: Path) -> None:
    who = ["--user", "u", "--tenant", "t", "--role", "king", "--data", str(tmp_path)]
    with pytest.raises(SystemExit):
        main(["token", *who])


def test_status_needs_a_running_stack(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    with pytest.raises(StartError, match="No stack runs"):
        read_status(data)
    data.stack.write_text('{"url": "http://x", "queues": [], "environment": {}}')
    data.lock.touch()
    with pytest.raises(StartError, match="No stack runs"):
        read_status(data)


def test_a_state_is_told_line_by_line() -> None:
    told = describe(
        {
            "url": "http://127.0.0.1:8080",
            "data": "/somewhere/archivolt",
            "tables": "ministack",
            "vaults": [
                {
                    "tenant": "local",
                    "name": "notes",
                    "files": 3,
                    "states": {"indexed": 2, "no_text": 3},
                    "attention": [
                        {"path": "a.md", "state": "no_text", "reason": "document_without_text"}
                    ],
                    "last_sync": None,
                    "rebuild": {"since": "2026-01-01T00:00:00+00:00", "done": 7},
                }
            ],
            "queues": [
                {"name": "archivolt-indexing", "waiting": 4, "in_work": 1, "dead": 2},
                {"name": "archivolt-sync", "waiting": 0, "in_work": 0, "dead": 0},
            ],
        }
    )
    assert "Data in /somewhere/archivolt" in told
    assert "local/notes: 3 files (2 indexed, 3 no_text)" in told
    assert "compared with its documents: never" in told
    assert "being made anew since 2026-01-01T00:00:00+00:00: 7 files done" in told
    assert "no_text: a.md (document_without_text)" in told
    assert "and 2 more" in told
    assert "archivolt-indexing: 4 waiting, 1 in work, 2 given up" in told
    assert told.endswith("archivolt-sync: 0 waiting, 0 in work")


def test_a_second_stack_on_the_same_data_is_refused(tmp_path: Path) -> None:
    lock = DataLock.acquire(tmp_path / "lock")
    with pytest.raises(StartError, match="Another Archivolt already runs"):
        DataLock.acquire(tmp_path / "lock")
    lock.release()
    DataLock.acquire(tmp_path / "lock").release()


def test_the_folder_stays_locked_while_a_child_of_a_dead_stack_lives(tmp_path: Path) -> None:
    lock = DataLock.acquire(tmp_path / "lock")
    waiting = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, pass_fds=[lock.descriptor]) as child:
        # As if the stack had died: nobody has the number any more, the child has the lock.
        os.ftruncate(lock.descriptor, 0)
        os.close(lock.descriptor)
        with pytest.raises(StartError, match="Another Archivolt already runs"):
            DataLock.acquire(tmp_path / "lock", wait=0.2)
        child.communicate(b"\n")
    DataLock.acquire(tmp_path / "lock").release()


def test_a_folder_keeps_the_tables_where_they_were_first() -> None:
    assert choose_tables("auto", {"tables": "ministack"}) == "ministack"
    assert choose_tables("ministack", {}) == "ministack"
    with pytest.raises(StartError, match="keeps its tables in ministack"):
        choose_tables("dynamodb-local", {"tables": "ministack"})


@pytest.mark.parametrize(("given", "enabled"), [("false", "false"), ("", "true"), (None, "true")])
def test_the_shell_turns_the_chat_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, enabled: str
) -> None:
    monkeypatch.delenv("CHAT_ENABLED", raising=False)
    if given is not None:
        monkeypatch.setenv("CHAT_ENABLED", given)
    options = StackOptions(
        port=1, data=DataFolder(tmp_path), vaults={}, tables="auto", template=tmp_path
    )
    services = Services(aws_url="", tables_url="", vectors_url="", tables="", children=())
    keys = load_or_make_keys(options.data)
    assert parameters(options, services, keys)["ChatEnabled"] == enabled
