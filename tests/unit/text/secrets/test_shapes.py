"""The shapes of tokens that a public scanner looks for by default, restated as facts.

A shape is a template: ``{A20}`` stands for twenty letters or digits, ``{H8}`` for hexadecimal
digits, and so on. The values are made up from it; no real one stands here.
"""

import random
import re
import string
import uuid

import pytest

from agentic_os.text.secrets.redaction import Redactor

CHARACTERS = {
    "U": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "+/",
    "W": string.ascii_letters + string.digits + "_-",
    "H": "0123456789abcdef",
    "D": string.digits,
}
DRAWS = 12
MISSED = 2
"""Of so many draws two may look like a word, or like a placeholder."""
# Tokens that are known by themselves, wherever they stand.
SHAPES = """
1password-secret-key A3-{U6}-{U11}-{U5}-{U5}-{U5}
1password-service ops_eyJ{B260}
adobe-client-secret p8e-{L32}
age AGE-SECRET-KEY-1QQPQYYRSRQQPQYYRSRQQPQYYRSRQQPQYYRSRQQPQYYRSRQQPQYYRSRQQPQ
airtable-pat pat{A14}.{H64}
alibaba-id LTAI{L20}
anthropic-admin sk-ant-admin01-{W93}AA
anthropic sk-ant-api03-{W93}AA
artifactory AKCp{A69}
artifactory-ref cmVmd{A59}
atlassian ATATT3{W186}
authress sc_{L12}.{L5}.acc-{L14}.{W60}
aws AKIA{U16}
bedrock-long ABSK{B120}
bedrock-short bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{B80}
azure-ad {A3}8Q~{A33}
clickhouse 4b1d{A38}
clojars CLOJARS_{L60}
cloudflare-origin v1.0-{H24}-{H146}
databricks dapi{H32}
defined dnkey-{L26}-{L52}
digitalocean-access doo_v1_{H64}
digitalocean-pat dop_v1_{H64}
digitalocean-refresh dor_v1_{H64}
doppler dp.pt.{A43}
dropbox-short sl.{W135}
dropbox-long {L11}AAAAAAAAAA{W43}
duffel duffel_live_{W43}
dynatrace dt0c01.{U24}.{U64}
easypost EZAK{A54}
easypost-test EZTK{A54}
facebook-page EAAC{A120}
facebook-access {D16}|{W30}
flutterwave-public FLWPUBK_TEST-{H32}-X
flutterwave-secret FLWSECK_TEST-{H32}-X
flutterwave-enc FLWSECK_TEST-{H12}
flyio fo1_{W43}
flyio2 fm2_{B120}
frameio fio-u-{W64}
gcp AIza{W35}
github-app ghu_{A36}
github-fine github_pat_{A82}
github-oauth gho_{A36}
github-pat ghp_{A36}
github-refresh ghr_{A76}
gitlab-cicd glcbt-ab_{W20}
gitlab-deploy gldt-{W20}
gitlab-feature-flag glffct-{W20}
gitlab-feed glft-{W20}
gitlab-mail glimt-{W25}
gitlab-agent glagent-{W50}
gitlab-oauth gloas-{W64}
gitlab-pat glpat-{W20}
gitlab-pat-routable glpat-{W27}.{L2}{L7}
gitlab-ptt glptt-{H40}
gitlab-rrt GR1348941{W20}
gitlab-runner glrt-{W20}
gitlab-scim glsoat-{W20}
gitlab-session _gitlab_session={L32}
grafana-api eyJrIjoi{A80}
grafana-cloud glc_{B40}
grafana-sa glsa_{A32}_{H8}
harness pat.{W22}.{H24}.{A20}
hashicorp-tf {L14}.atlasv1.{W64}
heroku-v2 HRKU-AA{W58}
huggingface hf_ABCDEFabcdefXYZxyzQWErtyUIOpas{A4}
huggingface-org api_org_{A34}
infracost ico-{A32}
intra42 s-s4t2ud-{H64}
jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{A20}.{W43}
jwt-base64 ZXlKaGJHY2lPaUpJVXpJMU5pSjku{A60}
linear lin_api_{L40}
lob-pub live_pub_{H31}
lob live_{H35}
mailchimp {H32}-us21
mailgun-private key-{H32}
mailgun-pub pubkey-{H32}
mailgun-signing {H32}-{H8}-{H8}
mapbox pk.{A60}.{A22}
maxmind {A6}_{A29}_mmk
teams-webhook https://acme.webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/{H32}/{UUID}
newrelic-browser NRJS-{H19}
newrelic-insert NRII-{W32}
newrelic-user NRAK-{U27}
notion ntn_{D11}{A35}
npm npm_{A36}
octopus API-{U26}
openai sk-proj-{W74}T3BlbkFJ{W74}
openai-old sk-{A20}T3BlbkFJ{A20}
openshift sha256~{W43}
perplexity pplx-{A48}
plaid access-production-{UUID}
planetscale pscale_tkn_{W43}
planetscale-pw pscale_pw_{W43}
planetscale-oauth pscale_oauth_{W43}
postman PMAK-{H24}-{H34}
prefect pnu_{L36}
pulumi pul-{H40}
pypi pypi-AgEIcHlwaS5vcmc{W70}
readme rdme_{L70}
rubygems rubygems_{H48}
scalingo tk-us-{W48}
sendgrid SG.{W22}.{W43}
sendinblue xkeysib-{H64}-{L16}
sentry-org sntrys_eyJ{A90}_{A43}
sentry-user sntryu_{H64}
settlemint sm_aat_{A16}
settlemint-pat sm_pat_{A16}
shippo shippo_live_{H40}
shopify-at shpat_{H32}
shopify-ca shpca_{H32}
shopify-pa shppa_{H32}
shopify-ss shpss_{H32}
slack-app xapp-1-{U10}-{D12}-{L64}
slack-bot xoxb-{D12}-{D12}-{A24}
slack-config xoxe.xoxp-1-{A163}
slack-config-refresh xoxe-1-{A147}
slack-legacy xoxo-{D12}-{A20}
slack-user xoxp-{D12}-{D12}-{D12}-{A32}
slack-webhook https://hooks.slack.com/services/T{U8}/B{U8}/{A24}
sonar squ_{H40}
sourcegraph sgp_{H40}
square EAAA{W56}
square2 sq0atp-{W22}
stripe sk_live_{A24}
stripe-r rk_test_{A24}
telegram 8123456789:AA{W33}
twilio SK{H32}
twitter-bearer AAAAAAAAAAAAAAAAAAAAAA{A90}
typeform tfp_{W59}
vault-batch hvb.{W140}
vault-service hvs.{W95}
vault-old s.{A24}
yandex-access t1.{W12}.{W86}
yandex-api AQVN{W36}
yandex-aws YC{W38}
cohere-like CO_API_KEY={A40}
freemius 'secret_key' => 'sk_{A29}'
kube-basic     password: {A24}==
sidekiq BUNDLE_ENTERPRISE__CONTRIBSYS__COM={H8}:{H8}
nuget <add key="ClearTextPassword" value="{A14}" />
curl-header curl -H "Authorization: Token {H40}" https://x
curl-user curl -u "nora:{A16}" https://x
"""
# Values that are secrets only by the name that they are given to.
NAMED = """
adafruit {L32}
airtable {L17}
algolia {L32}
alibaba {L30}
asana {L32}
atlassian {L24}
beamer b_{W44}
bitbucket {W64}
bittrex {L32}
meraki {H40}
cloudflare {W40}
cloudflare_global {H37}
codecov {L32}
cohere {A40}
coinbase {W64}
confluent {L16}
confluent_secret {L64}
contentful {W43}
datadog {L40}
discord {H64}
discord_client_secret {W32}
droneci {L32}
dropbox {L15}
etsy {L24}
facebook {H32}
fastly {W32}
finicity {H32}
finnhub {L20}
flickr {L32}
freshbooks {L64}
gitter {W40}
gocardless live_{W40}
heroku {UUID}
hubspot {UUID}
intercom {W60}
jfrog {L73}
kraken {B84}
kucoin {H24}
kucoin_secret {UUID}
launchdarkly {W40}
linear_client {H32}
linkedin {L16}
looker {L20}
mattermost {L26}
messagebird {L25}
netlify {W43}
newrelic {L64}
nytimes {W32}
okta 00{W40}
plaid_secret {L30}
rapidapi {W50}
sendbird {H40}
sendbird_id {UUID}
sentry {H64}
snyk {UUID}
squarespace {UUID}
sumologic {L64}
travis {L22}
trello {A32}
twitch {L30}
twitter {L50}
twitter_key {L25}
zendesk {L40}
adobe {H32}
privateai {L32}
polymarket {UUID}
"""
FORMS = ('{}_api_token = "{}"', "{}_API_KEY={}", '"{}Secret": "{}"', "{} token is {}")
REDACTOR = Redactor()


def rows(table: str) -> list[tuple[str, str]]:
    return [
        (name, template)
        for name, _, template in (line.partition(" ") for line in table.strip().splitlines())
    ]


def drawn(template: str, seed: int) -> str:
    source = random.Random(f"{template}{seed}")

    def fill(match: re.Match[str]) -> str:
        if match[1] == "UUID":
            return str(uuid.UUID(int=source.getrandbits(128)))
        return "".join(source.choices(CHARACTERS[match[1][0]], k=int(match[1][1:])))

    return re.sub(r"\{(UUID|[A-Z]\d+)\}", fill, template)


@pytest.mark.parametrize(("name", "template"), rows(SHAPES))
def test_a_token_is_known_by_its_shape(name: str, template: str) -> None:
    values = [drawn(template, seed) for seed in range(DRAWS)]
    missed = [value for value in values if not REDACTOR.redact(f"see {value}").findings]

    assert len(missed) <= MISSED, (name, missed)


@pytest.mark.parametrize(("name", "template"), rows(NAMED))
def test_a_value_is_known_by_the_vendor_that_it_is_given_to(name: str, template: str) -> None:
    forms = FORMS[:3] if "UUID" in template else FORMS
    texts = [
        form.format(name.upper() if "KEY" in form else name, drawn(template, seed))
        for seed in range(DRAWS)
        for form in forms
    ]
    missed = [text for text in texts if not REDACTOR.redact(text).findings]

    assert len(missed) <= MISSED * len(forms), (name, missed)
