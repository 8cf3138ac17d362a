"""By what people sign in, as the deployment's settings say."""

import pytest

from archivolt.bootstrap import Container
from archivolt.settings import Settings

LOCAL_KEY = "a key of the local stack, at least 32 bytes long"
PUBLIC = {"public_url": "https://archivolt.example", "auth_issuer": "https://id.example"}
JWKS = {"auth_jwks_url": "https://id.example/keys"}
TABLES = {
    f"{name}_table": name for name in ("control", "ledger", "audit", "confirmations", "catalogue")
}


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("chosen", "local", "upstream"),
    [
        ({"auth_local_key": LOCAL_KEY}, True, False),
        ({**JWKS, "auth_client_id": "web"}, False, True),
        (JWKS, False, False),
        # With a provider the local key is worth nothing.
        ({**JWKS, "auth_client_id": "web", "auth_local_key": LOCAL_KEY}, False, True),
        ({**JWKS, "auth_local_key": LOCAL_KEY}, False, False),
    ],
)
def test_people_sign_in_where_the_deployment_says(
    chosen: dict[str, str], local: bool, upstream: bool
) -> None:
    settings = Settings.model_validate(
        {
            **PUBLIC,
            **TABLES,
            **chosen,
            "user_store_encryption_key": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        }
    )

    services = Container(settings).tools.browser_services

    assert (services.local is not None, services.upstream is not None) == (local, upstream)
    assert settings.signs_in is (local or upstream)


def test_without_an_address_of_our_own_nobody_signs_in() -> None:
    assert not Settings(auth_local_key=LOCAL_KEY).signs_in
    assert not Settings(auth_client_id="web").signs_in
