"""Secrets are taken out; what only looks like one stays.

No test data here is a secret or has the form of one in this file: each is put together at run time.
"""

import base64
import io
import random
import string
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.redaction import mask, redact

VAULTS = Path(__file__).parents[3] / "shared" / "data" / "vaults"

_RANDOM = random.Random(7)  # noqa: S311  the same "secrets" in every run
_LETTERS = string.ascii_letters + string.digits


def some(length: int, alphabet: str = _LETTERS) -> str:
    """Return random characters, a digit and a letter among them."""
    return "a1" + "".join(_RANDOM.choices(alphabet, k=length - 2))


def hexadecimal(length: int) -> str:
    return some(length, "0123456789abcdef")


def pem(kind: str = "RSA ", line: str = "\n") -> str:
    body = line.join(some(64, _LETTERS + "+/") for _ in range(12))
    name = f"{kind}PRIVATE KEY-----"
    return f"-----BEGIN {name}{line}{body}{line}-----END {name}"


TOKENS = {
    "AWS": "AKIA" + some(16, string.ascii_uppercase).upper(),
    "AWS temporary": "ASIA" + some(16, string.ascii_uppercase).upper(),
    "Google": "AIza" + some(35),
    "Google OAuth": "ya29." + some(60),
    "Google client": "GOCSPX-" + some(28),
    "Azure storage": "DefaultEndpointsProtocol=https;AccountKey=" + some(86) + "==",
    "Azure client": "a1b8Q~" + some(34),
    "GitHub": "ghp_" + some(36),
    "GitHub fine-grained": "github_pat_" + some(22) + "_" + some(59),
    "GitLab": "glpat-" + some(20),
    "Slack bot": "xoxb-" + "-".join([some(12), some(12), some(24)]),
    "Slack webhook": "https://hooks.slack.com/services/" + "/".join([some(9), some(9), some(24)]),
    "Discord webhook": "https://discord.com/api/webhooks/" + "1" * 18 + "/" + some(68),
    "Telegram": "1234567890:AA" + some(33),
    "Stripe": "sk_live_" + some(24),
    "Stripe restricted": "rk_test_" + some(24),
    "Webhook": "whsec_" + some(32),
    "OpenAI": "sk-" + some(48),
    "OpenAI project": "sk-proj-" + some(80),
    "Anthropic": "sk-ant-api03-" + some(93) + "-AA",
    "Hugging Face": "hf_" + some(34),
    "Groq": "gsk_" + some(52),
    "SendGrid": "SG." + some(22) + "." + some(43),
    "Mailgun": "key-" + hexadecimal(32),
    "Mailchimp": hexadecimal(32) + "-us12",
    "Twilio": "SK" + hexadecimal(32),
    "npm": "npm_" + some(36),
    "PyPI": "pypi-" + "AgE" + some(70),
    "Docker": "dckr_pat_" + some(27),
    "DigitalOcean": "dop_v1_" + hexadecimal(64),
    "Vault": "hvs." + some(24),
    "Databricks": "dapi" + hexadecimal(32),
    "Shopify": "shpat_" + hexadecimal(32),
    "Linear": "lin_api_" + some(40),
    "Notion": "ntn_" + some(46),
    "Airtable": "pat" + some(14) + "." + hexadecimal(64),
    "Atlassian": "ATATT3" + some(180),
    "Sentry": "sntrys_" + some(80),
    "Grafana": "glsa_" + some(32) + "_" + hexadecimal(8),
    "Postman": "PMAK-" + hexadecimal(24) + "-" + hexadecimal(34),
    "Tailscale": "tskey-auth-" + some(24),
    "JWT": ".".join(["eyJ" + some(30), "eyJ" + some(60), some(43)]),
    "age": "AGE-SECRET-KEY-1" + "Q2PZ" * 14 + "QQ",
    "bcrypt": "$2b$12$" + some(53),
    "RSA": pem(),
    "PKCS #8": pem(""),
    "OpenSSH": pem("OPENSSH "),
    "key in JSON": pem("", "\\n"),
    "cut-off key": pem()[:500],
    "quoted key": pem(line="\n> "),
    "key in base64": base64.b64encode(pem().encode()).decode(),
    "signed session in base64": base64.b64encode(("eyJ" + some(90)).encode()).decode(),
    "any issuer": "acme_live_" + some(32).replace("a1", "Aa1"),
}


@pytest.mark.parametrize("issuer", TOKENS)
@pytest.mark.parametrize("around", ["{}", "my key: {}\nnext", '{{"value": "{}"}}', "(`{}`)"])
def test_a_token_is_taken_out_wherever_it_stands(issuer: str, around: str) -> None:
    secret = TOKENS[issuer]

    redacted = redact(around.format(secret))

    assert redacted.secrets >= 1
    assert secret[-20:] not in redacted.text
    assert "[redacted:" in redacted.text


@pytest.mark.parametrize("issuer", [issuer for issuer in TOKENS if issuer != "any issuer"])
def test_a_token_is_taken_out_of_an_address(issuer: str) -> None:
    assert TOKENS[issuer][-20:] not in redact(f"https://a.example/b/{TOKENS[issuer]}").text


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("password=", "hunter2", ""),
        ("DB_PASSWORD=", "correcthorse", "\nDB_HOST=db"),
        ('password: "', "correct-horse", '"'),
        ("Mot de passe : ", "Soleil2024!", ""),
        ("mdp=", "Soleil2024", ""),
        ('{"passwd":"', "letmein", '"}'),
        ("postgres://app:", "s3cr3t", "@db.internal:5432/app"),
        ("redis://:", "abcdef", "@cache:6379"),
        ("https://ann:", "p%40ss-word", "@example.org/a?b=c"),
        ("Server=db;User Id=sa;Password=", "Passw0rd!", ";Encrypt=true"),
        ("api_key = '", "9f8e7d6c5b4a3210", "'"),
        ("X-Api-Key: ", "9f8e7d6c5b4a3210", ""),
        ("client_secret=", "Zm9vYmFyMTIzNDU2", "&grant_type=x"),
        ("aws_secret_access_key = ", "Zz9/+" * 8, ""),
        ("Authorization: Bearer ", "0123456789abcdefABCDEF", ""),
        ("Authorization: Basic ", "dXNlcjpwYXNzd29yZDEyMw==", ""),
        ("curl -u admin:", "tr0ub4dor", " https://x"),
        ("machine example.org login ann password ", "tr0ub4dor", ""),
        ("mysql --password ", "tr0ub4dor", " db"),
        ("SECRET_KEY_BASE=", "0123456789abcdef0123456789abcdef", ""),
        ("Mot de passe\u00a0: ", "Soleil2024!", ""),
        ("mot de passe\u202f: «\u00a0", "Soleil2024!", "\u00a0»"),
        ("Le mot de passe est ", "Soleil2024!", " depuis lundi"),
        ("The password is `", "Tr0ub4dor", "`."),
        ("- **Password:** ", "Tr0ub4dor&3", ""),
        ("| Password | ", "Tr0ub4dor&3", " |"),
        ("pw: ", "Tr0ub4dor&3", ""),
        ("mot de passe : ", "Tr0ub4dor&3xyz!", ""),
        ("?password=", "Tr0ub4dor3", "&user=bob"),
        ("Kennwort: ", "Tr0ub4dor&3", ""),
        ("<password>", "Tr0ub4dor&3", "</password>"),
        ('<add key="DbPassword" value="', "correct horse", '" />'),
        ("CREATE USER ann IDENTIFIED BY '", "correct-horse", "';"),
        ("sshpass -p ", "Tr0ub4dor", " ssh host"),
        ("| Clé Algolia | ", "fw7onmo0u4i2u8rl9yhtnmqcuqcq7jqx", " |"),
        ("cle\u0301 d'accès\u00a0: ", "fw7onmo0u4i2u8rl9yhtnmqcuqcq7jqx", ""),
        ("le jeton (valable un an) : `", "262jbjukq529nokb3rhjmfo3", "`"),
        ("DATADOG_APP=", "262jbjukq529nokb3rhjmfo3dmvxwub8", ""),
        ("log in as ann with the password ", "Tr0ub4dor3x", " please"),
        ("mon mdp gmail, c'est ", "Tr0ub4dor3x", ""),
        ("ENV DB_PASSWORD ", "Tr0ub4dor3x", "\nRUN x"),
        ("define('DB_PASSWORD', '", "Tr0ub4dor3x", "');"),
        ("Password:\n", "Tr0ub4dor3x", "\n"),
        ("Cl\u00e9 Wi-Fi : ", "Tr0ub4dor3x", ""),
        ("\u5bc6\u7801\uff1a", "Tr0ub4dor3x", ""),
        ("requirepass ", "Tr0ub4dor3x", ""),
        ("postgres://ann:", "p@ss#w0rd", "@db/app"),
        ("seed phrase: ", " ".join(["winter"] * 12), "\n"),
    ],
)
def test_what_is_written_beside_its_name_is_taken_out_and_the_rest_stays(
    before: str, secret: str, after: str
) -> None:
    redacted = redact(before + secret + after)

    assert redacted.text.startswith(before)
    assert redacted.text.endswith(after)
    assert secret not in redacted.text
    assert redacted.secrets == 1


@pytest.mark.parametrize(
    "text",
    [
        "The password is written on the whiteboard.",
        "password: see the wiki",
        "Password: ask Marie",
        "Mot de passe : à demander au secrétariat",
        "postgres://user:<password>@host/db",
        "postgres://{{user}}:{{password}}@host",
        "export TOKEN=${{ secrets.TOKEN }}",
        'export API_KEY="$OTHER_KEY"',
        "api_key: YOUR_API_KEY",
        'token = os.environ["TOKEN"]',
        "password = form.password",
        "const token = await getToken();",
        "password: string;",
        '<input type="password" name="password" placeholder="Password">',
        "max_tokens: 4096",
        "secret: true",
        "The token: a story about access.",
        "https://example.org:8080/a@b",
        "git commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sk-loading-indicator-with-a-long-class-name",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "2026-09-01T08:30:00Z",
        "d41d8cd98f00b204e9800998ecf8427e",
        "See -----BEGIN CERTIFICATE----- blocks.",
        "Basic authentication, bearer tokens and the authorization header",
        "gpg --recv-keys 9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
        "The key is in src/components/key2/Handler3.tsx",
        "public key: fw7onmo0u4i2u8rl9yhtnmqcuqcq7jqx",
        "clé primaire : identifiant_de_la_table_2",
        "Passwords are hashed with SHA256 or Argon2id since version 2.10.3-beta1.",
        "Reset the password in settings/v2Page3.html",
        "login, then open Chapter12 and read 2026-09-01T08:30:00Z",
        "hash of main-3f2a9c81d7b64e0f9a1c2b3d4e5f6071.js",
        "https://docs.example.org/d/key-concepts-of-version-2/edit",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, 0)


@pytest.mark.parametrize("issuer", TOKENS)
def test_redacting_twice_changes_nothing_more(issuer: str) -> None:
    once = redact(f'a "{TOKENS[issuer]}" password={TOKENS[issuer]} b').text

    assert redact(once) == (once, 0)


def test_every_row_of_a_table_with_passwords_loses_its_own() -> None:
    rows = [f"| ann{number} | Tr0ub4dor{number}x |" for number in range(40)]

    redacted = redact("\n".join(["| user | password |", "|---|---|", *rows]))

    assert redacted.secrets == 40
    assert "ub4dor" not in redacted.text


_PIECES = [
    *("password", "mdp : ", "token ", "key=", "datadog = ", " is ", "\n", " | ", ", ", " ", '"'),
    *("Tr0ub4dor3x", "Soleil2024!", "fw7onmo0u4i2u8rl9yhtnmqcuqcq7jqx", "[redacted:secret]"),
    *("glpat-" + "a1b2c3d4e5" * 2, "hello world ", "https://u:", "@h/"),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=14))
def test_redacting_any_pieces_twice_is_redacting_them_once(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text

    assert redact(once).text == once


@given(st.text(alphabet=" \n\"'=:@/.-_{}[]<>$abkpstwxyzAKZ0123456789", max_size=200))
def test_redacting_any_text_twice_is_redacting_it_once(text: str) -> None:
    once = redact(text).text

    assert redact(once).text == once


@pytest.mark.parametrize("issuer", TOKENS)
def test_masking_keeps_every_byte_in_its_place(issuer: str) -> None:
    data = f"é before {TOKENS[issuer]} after é".encode()

    masked = mask(data)

    assert len(masked) == len(data)
    assert masked.startswith("é before ".encode())
    assert masked.endswith(" after é".encode())
    assert TOKENS[issuer][-20:].encode() not in masked


@pytest.mark.parametrize(
    "hostile",
    [
        "password" * 60_000,
        "-----BEGIN PRIVATE " * 20_000,
        ("-----BEGIN " + "PRIVATE KEY-----\n") * 10_000,
        "eyJ" * 150_000,
        "://a" * 120_000,
        "a:b@" * 120_000,
        "token = " * 60_000,
        "key_" * 120_000 + "=",
        "A" * 500_000,
        "sk-" + "a" * 500_000,
        " login " * 70_000,
        "key " + "a1B2c3D4e5F6g7H8 " * 30_000,
        "ab_" * 3 + "A1b" * 100_000,
        "password: \u00ab" * 40_000,
        "seed: " + "abcd " * 100_000,
        "LS0tLS1CRUdJTi" * 30_000,
    ],
    ids=range(16),
)
def test_no_text_makes_redaction_slow(hostile: str) -> None:
    started = time.process_time()

    redact(hostile)

    assert time.process_time() - started < 5


def test_a_long_result_is_redacted_in_milliseconds() -> None:
    line = (
        "## Réglages de l'API v2.1 : voir `config.yaml` (clé, jeton) - https://example.org/a/b_c\n"
    )
    text = (line * 100)[:8000]
    redact(text)
    started = time.process_time()

    for _ in range(20):
        redact(text)

    # 4 ms as a rule; the ceiling leaves room for a busy machine.
    assert (time.process_time() - started) / 20 < 0.025


def test_masking_text_that_is_no_utf8_keeps_every_byte_in_its_place() -> None:
    data = "mot de passe\u00a0: ".encode("latin-1") + b"Soleil2024! \xe9"

    assert mask(data) == "mot de passe\u00a0: ".encode("latin-1") + b"*" * 11 + b" \xe9"


def test_masking_keeps_the_bytes_of_a_secret_with_accents() -> None:
    data = 'password="Soléil2024"\n'.encode()

    assert mask(data) == b'password="' + b"*" * 11 + b'"\n'


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("vault", "every"), [("react-docs-fr", 1), ("react-docs-en", 1), ("tldr", 10)]
)
def test_ordinary_notes_are_left_alone(vault: str, every: int) -> None:
    archive = VAULTS / f"{vault}.tar.gz"
    if not archive.exists():
        pytest.skip("the vaults of real notes are not here")
    with tarfile.open(archive) as files:
        notes = [member for member in files if member.isfile()][::every]
        texts = [(files.extractfile(note) or io.BytesIO()).read() for note in notes]

    changed = sum(redact(text.decode("utf-8", "replace")).secrets > 0 for text in texts)

    assert len(texts) > 100
    assert changed / len(texts) < 0.002
