"""What every `SecretBox` promises."""

import base64
import os
from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from archivolt.adapters.crypto.boxes import EnvironmentKeyBox, KmsEnvelopeBox, key_from_text
from archivolt.domain.errors import UnavailableError
from archivolt.ports.governance import SecretBox
from tests.builders import ACME, GLOBEX
from tests.contract.conftest import FAKE, MOTO, client_of
from tests.fakes.governance import ReversibleBox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from types_boto3_kms import KMSClient

SECRET = "sk-été-0123456789"
FIELD = "chat_api_key"


@pytest.fixture(params=[FAKE, "environment", MOTO])
def box(request: pytest.FixtureRequest) -> "Iterator[SecretBox]":
    if request.param == FAKE:
        yield ReversibleBox()
    elif request.param == "environment":
        yield EnvironmentKeyBox(os.urandom(32))
    else:
        with mock_aws():
            client: KMSClient = client_of("kms")
            yield KmsEnvelopeBox(client, client.create_key()["KeyMetadata"]["KeyId"])


@pytest.fixture(params=["environment", MOTO])
def sealing_box(request: pytest.FixtureRequest) -> "Iterator[SecretBox]":
    if request.param == "environment":
        yield EnvironmentKeyBox(os.urandom(32))
    else:
        with mock_aws():
            client: KMSClient = client_of("kms")
            yield KmsEnvelopeBox(client, client.create_key()["KeyMetadata"]["KeyId"])


@pytest.mark.parametrize("secret", [SECRET, "", "x" * 5_000])
def test_what_is_sealed_is_opened_again(box: SecretBox, secret: str) -> None:
    sealed = box.seal(secret, tenant=ACME, field=FIELD)

    assert box.open(sealed, tenant=ACME, field=FIELD) == secret


def test_another_tenant_or_field_does_not_open_it(box: SecretBox) -> None:
    sealed = box.seal(SECRET, tenant=ACME, field=FIELD)

    for tenant, field in ((GLOBEX, FIELD), (ACME, "other_key")):
        with pytest.raises(UnavailableError) as refused:
            box.open(sealed, tenant=tenant, field=field)
        assert refused.value.code == "secret_unreadable"


def test_ciphertext_hides_the_secret_and_differs_each_time(sealing_box: SecretBox) -> None:
    first, second = (sealing_box.seal(SECRET, tenant=ACME, field=FIELD) for _ in range(2))

    assert first != second
    decoded = b"".join(base64.urlsafe_b64decode(part) for part in first.split(".")[1:])
    assert SECRET.encode() not in decoded
    assert SECRET not in first


def test_a_damaged_secret_is_unreadable(sealing_box: SecretBox) -> None:
    sealed = sealing_box.seal(SECRET, tenant=ACME, field=FIELD)
    *kept, last = sealed.split(".")
    flipped = bytearray(base64.urlsafe_b64decode(last))
    flipped[-1] ^= 1
    other = base64.urlsafe_b64encode(bytes(flipped)).decode()

    damaged = [".".join([*kept, other]), sealed[:-8], "", "plain text", f"other.{last}", "env.é"]
    for text in damaged:
        with pytest.raises(UnavailableError) as refused:
            sealing_box.open(text, tenant=ACME, field=FIELD)
        assert refused.value.code == "secret_unreadable"


def test_another_environment_key_does_not_open_it() -> None:
    sealed = EnvironmentKeyBox(os.urandom(32)).seal(SECRET, tenant=ACME, field=FIELD)

    with pytest.raises(UnavailableError):
        EnvironmentKeyBox(os.urandom(32)).open(sealed, tenant=ACME, field=FIELD)


@pytest.mark.parametrize(
    "written",
    [
        bytes(range(32)).hex(),
        bytes(range(32)).hex().upper() + "\n",
        base64.b64encode(bytes(range(32))).decode(),
        base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip("="),
    ],
)
def test_a_key_is_written_in_hexadecimal_or_base64(written: str) -> None:
    assert key_from_text(written) == bytes(range(32))


def test_a_key_of_32_characters_is_taken_as_it_is() -> None:
    assert key_from_text("0123456789abcdef0123456789abcde!") == b"0123456789abcdef0123456789abcde!"


@pytest.mark.parametrize("written", ["", "short", "0" * 31, "00" * 33])
def test_a_key_of_another_length_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(ValueError, match="32 bytes") as refused:
        key_from_text(written)
    assert not written or written not in str(refused.value)
