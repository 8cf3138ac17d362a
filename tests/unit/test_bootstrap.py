"""What the composition root builds, and what it says when the deployment leaves something out."""

import base64
import json

import jwt
import pytest

from archivolt.adapters.crypto.boxes import EnvironmentKeyBox, KmsEnvelopeBox
from archivolt.bootstrap import Container
from archivolt.domain.errors import InvalidRequestError, UnauthenticatedError
from archivolt.domain.identity import TokenKind
from archivolt.settings import MissingSettingError, Settings
from tests.unit.adapters.loopback_server import Answer, loopback_server

LOCAL_KEY = "a key of the local stack, at least 32 bytes long"
ISSUER = "https://id.example"


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)


def token(audience: str) -> str:
    far = 4_000_000_000
    content = {"iss": ISSUER, "aud": audience, "sub": "alice", "tenant": "acme", "exp": far}
    return jwt.encode(content, LOCAL_KEY, algorithm="HS256")


def test_local_tokens_are_verified_with_the_local_key() -> None:
    settings = Settings(
        auth_issuer=ISSUER, auth_local_key=LOCAL_KEY, public_url="https://archivolt.example"
    )
    verifier = Container(settings).front_door_verifier

    assert verifier.verify(token("archivolt")).kind is TokenKind.INTERACTIVE
    assert verifier.verify(token("https://archivolt.example/mcp")).kind is TokenKind.MCP


def test_with_a_provider_the_local_key_is_worth_nothing() -> None:
    with loopback_server({"/jwks": Answer(body=json.dumps({"keys": []}).encode())}) as server:
        settings = Settings(
            auth_issuer=ISSUER,
            auth_jwks_url=f"http://127.0.0.1:{server.port}/jwks",
            auth_local_key=LOCAL_KEY,
            outbound_allowed_hosts="127.0.0.1",
        )
        with pytest.raises(UnauthenticatedError):
            Container(settings).token_verifier.verify(token("archivolt"))
        assert server.paths == ["/jwks"]


def test_a_private_host_is_out_of_reach_unless_it_is_allowed() -> None:
    with pytest.raises(InvalidRequestError):
        Container(Settings()).outbound_client.get("http://127.0.0.1:9/")


def test_secrets_are_sealed_under_kms_where_there_is_a_key_of_it() -> None:
    key = base64.b64encode(bytes(32)).decode()

    with_both = Container(Settings(kms_key_id="key", user_store_encryption_key=key))
    assert isinstance(with_both.secret_box, KmsEnvelopeBox)
    local = Container(Settings(user_store_encryption_key=key))
    assert isinstance(local.secret_box, EnvironmentKeyBox)


@pytest.mark.parametrize(
    ("collaborator", "setting"),
    [
        ("vault_directory", "CONTROL_TABLE"),
        ("tenant_settings", "CONTROL_TABLE"),
        ("conversations", "CONVERSATIONS_TABLE"),
        ("rate_counter", "LEDGER_TABLE"),
        ("audit_log", "AUDIT_TABLE"),
        ("file_store", "DOCUMENTS_BUCKET"),
        ("token_verifier", "AUTH_ISSUER"),
        ("secret_box", "USER_STORE_ENCRYPTION_KEY"),
    ],
)
def test_a_missing_setting_is_named(collaborator: str, setting: str) -> None:
    with pytest.raises(MissingSettingError, match=setting):
        getattr(Container(Settings()), collaborator)


def test_a_collaborator_is_built_once() -> None:
    container = Container(Settings(control_table="control"))

    assert container.vault_directory is container.vault_directory
    assert container.aws.dynamodb is container.aws.dynamodb
