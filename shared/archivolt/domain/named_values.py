"""Random text beside the name of a credential, or of a service that issues them.

`DATADOG_APP_KEY=…`, `| Clé Algolia | … |`, `the Snyk token is …`: the value has no form of its own,
so it must look random, and the words before it must say that it opens something.
"""

import re

from archivolt.domain.secret_rules import SecretRule, looks_random, text_before

_CREDENTIAL = re.compile(
    r"secret|token|jeton|passw|passphrase|credential|bearer|webhook|private"
    r"|keys?(?![a-z])|(?<![a-zà-ÿ])cl(?:[eé]|e\u0301)s?(?![a-z])|auth(?!or(?:s|ed)?(?![a-z]))"
    r"|(?<![a-z])(?:pat|mdp|pwd|dsn|licen[cs]e|cookie|session[ _-]?id)(?![a-z])|mot de passe",
    re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"publi[cq]|fingerprint|empreinte|recv-key|keyserver|checksum|sha-?\d+|md5|commit|digest"
    r"|integrity|key[ _-]?id(?![a-z])|etag|author(?!i[sz])|keyboard|version|signed-by",
    re.IGNORECASE,
)
# Whose keys are bare random text.
_SERVICE_NAMES = """
    abuseipdb adafruit adobe airtable aiven algolia alibaba aliyun amplitude asana assemblyai
    atlassian auth0 azure beamer bitbucket bitly bitrise bittrex browserstack circleci civo
    clickhouse cloudflare cloudinary codecov cohere coinbase configcat confluent contentful
    couchbase coveralls datadog deepgram discord disqus droneci dropbox ebay etsy facebook fastly
    finicity finnhub flickr freshbooks fullstory gitea gitter gocardless greptile gumroad heroku
    honeycomb hubspot ibmcloud influxdb infomaniak intercom jira jumpcloud kagi klaviyo kraken
    kucoin lark launchdarkly linkedin looker mailgun mattermost meraki messagebird midtrans mistral
    netlify newrelic ngrok nytimes okta ollama openweather opsgenie ovh pagerduty paypal pinecone
    plaid plivo polymarket postmark rapidapi razorpay scaleway sendbird sentry snowflake snyk sonar
    squarespace sslmate sumologic travis twilio twitch twitter upstage upstash vercel virustotal
    vultr wakatime wandb weatherstack wiz zendesk zoho
"""
_SERVICES = re.compile(
    rf"(?<![a-z])(?:{'|'.join(_SERVICE_NAMES.split())})[\w .-]{{0,20}}[\"'`]?\s?[=:|>,]",
    re.IGNORECASE,
)
_SIGNS = frozenset("=:|>,")
# What may stand between a name and its value.
_BETWEEN = " \t\r\n\"'`=:|>(\u00a0*,\uff1a"
_NAME_LENGTH = 60
_PATH = re.compile(r"[./~]{0,2}/|.*//|\w:|.*\.(?:html?|js|css|md|py|json|png|svg|jpe?g|ya?ml)$")
_PARTS = re.compile(r"[/.%:]")
_UNBROKEN = 12
_RANDOM_WITH_SLASHES = 0.3


def _is_named(match: re.Match[str]) -> bool:
    # The cheaper question first: hardly any value of a note looks random.
    if not _is_random(match["secret"]):
        return False
    before = text_before(match, _NAME_LENGTH)
    name = before.rstrip(_BETWEEN).rpartition("\n")[2]
    if _PUBLIC.search(name) and "secret" not in name.lower():
        return False
    if _CREDENTIAL.search(name):
        return True
    return not _SIGNS.isdisjoint(before) and bool(_SERVICES.search(before))


def _is_random(value: str) -> bool:
    if _PATH.match(value) or not looks_random(value):
        return False
    longest = max(map(len, _PARTS.split(value)))
    return longest >= _UNBROKEN or looks_random(value, _RANDOM_WITH_SLASHES)


def _is_prefixed(match: re.Match[str]) -> bool:
    tail = match["tail"]
    mixed = any(sign.isupper() for sign in tail) and any(sign.islower() for sign in tail)
    return mixed and not match[0].startswith("sha") and looks_random(tail, _RANDOM_WITH_SLASHES)


NAMED_VALUES = (
    SecretRule(
        kind="secret",
        marks=("",),
        source=r"(?<![A-Za-z0-9_+/.~%-])(?P<secret>[A-Za-z0-9_+/.~%!$@-]{12,2000}={0,2})",
        accept=_is_named,
    ),
    # `vendor_live_…`: a name of any issuer and a long random tail.
    SecretRule(
        kind="token",
        marks=("_", "-"),
        source=r"(?<![A-Za-z0-9_+/=.-])(?:[A-Za-z][A-Za-z0-9]{1,15}[_-]){1,3}"
        r"(?P<tail>[A-Za-z0-9]{24,200})(?![\w/+=-])",
        accept=_is_prefixed,
    ),
)
"""Secrets that are recognised by their randomness and what stands before them."""
