"""What secrets look like: one rule per kind, from the formats that their issuers document.

A rule is tried only where one of its `marks` (in small letters) occurs in the text, so that
ordinary notes cost next to nothing. Where a pattern has a group `secret`, only that group is the
secret; otherwise the whole match is. Formats without a mark of their own (a bare hash, a bare
UUID) are not here: they would hide ordinary text.
"""

import re
from collections.abc import Callable
from typing import NamedTuple


class SecretRule(NamedTuple):
    """One kind of secret. `accept`, where there is one, has the last word on a match."""

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool] | None = None


# Nothing that a token could be made of stands before or after it.
_START = r"(?<![A-Za-z0-9_+/-])"
_END = r"(?![A-Za-z0-9_])"


def _token(kind: str, marks: str, body: str) -> SecretRule:
    return SecretRule(kind, tuple(marks.split()), re.compile(_START + f"(?:{body})" + _END))


def _rule(kind: str, marks: str, pattern: str) -> SecretRule:
    return SecretRule(kind, tuple(marks.split()), re.compile(pattern, re.IGNORECASE))


_PEM = r"PRIVATE KEY(?: BLOCK)?-----"
_KEYS = (
    _rule(
        "private-key",
        "private",
        # Whole, or cut off: then as far as it looks like base64. "\\n" is a line break in JSON.
        r"-----BEGIN [A-Z0-9 ]{0,40}"
        + _PEM
        + r"(?:(?:[^-]|-(?!----)){0,20000}+-----END [A-Z0-9 ]{0,40}"
        + _PEM
        + r"|(?:\s|\\n)*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\n)*)*)",
    ),
    _rule(
        "private-key",
        "private-lines:",
        r"Private-Lines: \d+\s+(?P<secret>[A-Za-z0-9+/=\s]{40,20000})",
    ),
    _token("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
)

_CLOUDS = (
    _token("aws-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _token("google-key", "aiza", r"AIza[\w-]{35}"),
    _token(
        "google-token", "ya29. gocspx- 1//0", r"ya29\.[\w-]{20,}|GOCSPX-[\w-]{28}|1//0[\w-]{40,}"
    ),
    _rule(
        "azure-key",
        "accountkey= sharedaccesskey= sharedaccesssignature",
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
    ),
    _rule("azure-signature", "sig=", r"[?&]sig=(?P<secret>[A-Za-z0-9%/+]{40,}(?:%3D|=)+)"),
    _token("azure-secret", "q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _token("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _token("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{17,21}"),
    _token("yandex-key", "aqvn", r"AQVN[\w-]{35,38}"),
    _token("fly-token", "fo1_ fm2_", r"fo1_[\w-]{43}|fm2_[A-Za-z0-9+/=]{100,}"),
)

_CODE_HOSTS = (
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _token(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- gloas- glft- glimt- glagent- glsoat-",
        r"gl(?:pat|ptt|dt|rt|cbt|oas|ft|imt|agent|soat)-[\w.-]{20,}",
    ),
    _token(
        "bitbucket-token", "atbb atctt3 atatt3", r"ATBB[A-Za-z0-9]{32}|AT(?:CTT|ATT)3[\w=-]{60,}"
    ),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-", r"pypi-AgE[\w-]{50,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _token("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("docker-token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{27,}"),
    _token("terraform-token", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    _token("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    _token(
        "grafana-token", "glsa_ glc_", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,}"
    ),
    _token("new-relic-key", "nrak- nrra- nrii-", r"NR(?:AK|RA|II)-[\w-]{27,}"),
    _token("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z2-7]{24}\.[A-Z2-7]{64}"),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("postman-key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w-]{20,}"),
    _token("1password-token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
)

_MODELS = (
    _token("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _token(
        "openai-key",
        "sk-",
        r"sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{31,}",
    ),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{34,}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _token("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,}"),
)

_SERVICES = (
    _token(
        "slack-token", "xox xapp-", r"xox[abcdeoprs](?:\.xox[a-z])?-[\w-]{10,}|xapp-\d-[\w-]{20,}"
    ),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[\w/-]{20,})",
    ),
    _rule(
        "discord-webhook",
        "discord",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{15,}/[\w-]{50,})",
    ),
    _rule(
        "teams-webhook",
        ".webhook.office.com",
        r"\.webhook\.office\.com/(?P<secret>webhookb2/[\w@/-]{60,})",
    ),
    _token("discord-token", ".", r"[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"),
    _token("telegram-token", ":aa", r"\d{8,10}:AA[\w-]{33}"),
    _token("stripe-key", "k_live_ k_test_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _token("square-token", "sq0 eaaa", r"sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{60}"),
    _token(
        "paypal-token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    _token("shopify-token", "shp", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}"),
    _token("sendgrid-key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _token("sendinblue-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("mailgun-key", "key-", r"key-[a-f0-9]{32}"),
    _token("mailchimp-key", "-us", r"[a-f0-9]{32}-us\d{1,2}"),
    _token("twilio-key", "sk", r"SK[a-f0-9]{32}"),
    _token("linear-key", "lin_api_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    _token("notion-token", "secret_ ntn_", r"secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("figma-token", "figd_", r"figd_[\w-]{40,}"),
    _token("atlassian-token", "atatt3", r"ATATT3[\w=-]{60,}"),
    _token("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w-]{100,}"),
    _token("supabase-key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{30,}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}"),
    _token("facebook-token", "eaa", r"EAA[A-Za-z0-9]{80,}"),
    _token("heroku-key", "hrku-", r"HRKU-[\w-]{36,}"),
    _token("okta-token", "ssws", r"(?<=SSWS )[\w-]{40,}"),
    _token(
        "launchdarkly-key", "api- sdk-", r"(?:api|sdk)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"
    ),
)

_GENERAL = (
    _token("jwt", "eyj", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _rule("password-hash", "$", r"(?<!\w)\$(?:2[abxy]|5|6|y|argon2id?)\$[./A-Za-z0-9$=,+]{30,200}"),
)

ISSUED_SECRETS = (*_KEYS, *_CLOUDS, *_CODE_HOSTS, *_MODELS, *_SERVICES, *_GENERAL)
"""Secrets that are recognised by their own form."""
