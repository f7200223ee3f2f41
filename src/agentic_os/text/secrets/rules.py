"""The tokens of the common providers, by their published prefixes and lengths.

A family is a cheap sentinel and the rules that can only match where it does. Sentinels
start with one literal character, which the matcher skips to; a clean text costs a few
such skips and no rule is tried. Every pattern starts at a boundary that its own
characters cannot cross, so repeated prefixes cost no more than their length.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agentic_os.text.secrets.judging import is_placeholder, is_random


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One kind of token: its id, its pattern, the group that is secret, and a last check.

    The pattern stays text, because most runs never need it; ``re`` keeps what it compiled.
    """

    id: str
    pattern: str
    group: int = 0
    accepts: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFamily:
    """Rules that can match only where ``sentinel`` does, and that only where ``char`` stands.

    Finding a word costs a tenth of what a pattern costs: ``char`` is as long as it can be.
    """

    char: str
    sentinel: re.Pattern[str]
    rules: tuple[SecretRule, ...]


def _written(value: str) -> bool:
    return not is_placeholder(value)


def _rule(
    identity: str, pattern: str, *, group: int = 0, accepts: Callable[[str], bool] = _written
) -> SecretRule:
    return SecretRule(id=identity, pattern=f"(?a){pattern}", group=group, accepts=accepts)


def _random_tail(value: str) -> bool:
    return is_random(value.split("-", 1)[1])


def _random_after_underscore(value: str) -> bool:
    return is_random(value.split("_", 1)[1])


_UNDERSCORE = SecretFamily(
    char="_",
    sentinel=re.compile(
        r"(?a)_(?:authToken|(?<=gitlab_)session="
        r"|(?<=re_)(?=[A-Za-z0-9]{8}_)|(?=[\w+/-]{16})(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=[sr]k_live_)|(?<=[sr]k_test_)"
        r"|(?<=whsec_)|(?<=hf_)|(?<=npm_)|(?<=do[opr]_v1_)|(?<=dckr_pat_)|(?<=shp(?:at|ca|pa|ss)_)"
        r"|(?<=glsa_)|(?<=glc_)|(?<=sbp_)|(?<=lin_api_)|(?<=gsk_)|(?<=r8_)|(?<=ntn_)|(?<=rubygems_)"
        r"|(?<=sntry[su]_)|(?<=fo1_)|(?<=api_org_)"
        r"|(?<=ops_)|(?<=CLOJARS_)|(?<=duffel_live_)|(?<=duffel_test_)|(?<=pscale_tkn_)|(?<=pscale_pw_)"
        r"|(?<=pscale_oauth_)|(?<=pnu_)|(?<=rdme_)|(?<=sm_[aps]at_)|(?<=shippo_live_)|(?<=shippo_test_)"
        r"|(?<=sq[upa]_)|(?<=sgp_)|(?<=tfp_)|(?<=fm2_)|(?<=fm1[ar]_)|(?<=live_)(?=[0-9a-f]{35}|pub_)"
        r"|(?<=test_)(?=[0-9a-f]{35}|pub_)"
        r"|(?<=figd_)|(?<=rnd_)|(?<=lsv2_pt_)|(?<=lsv2_sk_)|(?<=CCIPAT_)|(?<=bkua_)|(?<=blob_rw_)))"
    ),
    rules=(
        _rule("github-token", r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9_]{36,}"),
        _rule("github-token", r"(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{36,}"),
        _rule("stripe-key", r"(?<![\w-])[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
        _rule("stripe-key", r"(?<![\w-])whsec_[A-Za-z0-9+/]{32,}={0,2}"),
        _rule("huggingface-token", r"(?<!\w)(?:hf|api_org)_[A-Za-z0-9]{30,}"),
        _rule("npm-token", r"(?<!\w)npm_[A-Za-z0-9]{36,}"),
        _rule("npm-token", r":_authToken[ \t]*=[ \t]*([0-9A-Fa-f-]{36})", group=1),
        _rule("digitalocean-token", r"(?<!\w)do[opr]_v1_[0-9a-f]{64}"),
        _rule(
            "provider-token",
            r"(?<![\w-])(?:dckr_pat_[\w-]{27,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|glsa_\w{41}"
            r"|glc_[A-Za-z0-9+/]{32,}={0,2}|sbp_[0-9a-f]{40}|lin_api_[A-Za-z0-9]{40}"
            r"|gsk_[A-Za-z0-9]{48,}|r8_[A-Za-z0-9]{37,}|ntn_[A-Za-z0-9]{40,}"
            r"|rubygems_[0-9a-f]{48}|sntry[su]_[\w+/=]{40,}|fo1_[\w-]{43}|fm(?:2|1[ar])_[\w+/-]{60,}={0,3}"
            r"|ops_eyJ[A-Za-z0-9+/]{200,}={0,3}|CLOJARS_[0-9a-z]{60}|duffel_(?:live|test)_[\w=-]{43}"
            r"|pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}|pnu_[a-z0-9]{36}|rdme_[a-z0-9]{70}"
            r"|sm_[aps]at_[A-Za-z0-9]{16,}|shippo_(?:live|test)_[0-9a-fA-F]{40}|sq[upa]_[\w=-]{40}"
            r"|sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-fA-F]{40}|tfp_[\w.=-]{59}|figd_[\w-]{36,}"
            r"|rnd_[A-Za-z0-9]{28,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|CCIPAT_[A-Za-z0-9]{20,}_[0-9a-f]{40}"
            r"|bkua_[0-9a-f]{40}|vercel_blob_rw_\w{30,}"
            r"|(?:live|test)_(?:pub_[0-9a-f]{31}|[0-9a-f]{35})(?!\w))",
        ),
        _rule(
            "provider-token",
            r"(?<![\w-])re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?!\w)",
            accepts=_random_after_underscore,
        ),
        _rule("session-cookie", r"_gitlab_session=([0-9a-z]{32})", group=1),
    ),
)

_HYPHEN = SecretFamily(
    char="-",
    sentinel=re.compile(
        r"(?a)-(?:(?=us\d)(?<=[0-9a-z]{32}-)|(?=[0-9a-h]{8}-[0-9a-h]{8}(?![\w-]))(?<=[0-9a-h]{32}-)|(?=[\w.-]{10})(?:(?<=sk-)|(?<=glpat-)|(?<=gldt-)|(?<=gl[rf]t-)|(?<=gl(?:cbt|ptt|imt)-)|(?<=glsoat-)"
        r"|(?<=glagent-)|(?<=gloas-)|(?<=xox[a-z]-)|(?<=xapp-)|(?<=pypi-)|(?<=GOCSPX-)|(?<=xai-)|(?<=pplx-)"
        r"|(?<=tskey-)|(?<=PMAK-)|(?<=sq0(?:csp|atp)-)|(?<=A3-)|(?<=p8e-)"
        r"|(?<=key-)|(?<=fio-u-)|(?<=ico-)|(?<=s4t2ud-)|(?<=s4t2af-)|(?<=NRJS-)|(?<=NRII-)|(?<=NRAK-)"
        r"|(?<=API-)|(?<=HRKU-)|(?<=pul-)|(?<=tk-us-)|(?<=xkeysib-)|(?<=glffct-)|(?<=_TEST-)"
        r"|(?<=access-production-)|(?<=access-development-)|(?<=access-sandbox-)|(?<=xox[a-z]\.xox[a-z]-)"
        r"|(?<=tgp-v1-)|(?<=nvapi-)|(?<=tvly-)|(?<=fc-)))"
    ),
    rules=(
        _rule(
            "gitlab-token",
            r"(?<![\w-])gl(?:pat|dt|[rf]t|soat|cbt|ptt|imt|agent|oas)-[\w-]{20,}(?:\.[\w-]+){0,2}",
        ),
        _rule("anthropic-key", r"(?<![\w-])sk-ant-[\w-]{20,}"),
        _rule("openai-key", r"(?<![\w-])sk-(?!ant-)[\w-]{32,}", accepts=_random_tail),
        _rule("slack-token", r"(?<![\w-])xox[a-z]-[\w-]{10,}", accepts=_random_tail),
        _rule("slack-token", r"(?<![\w-])xapp-\d-[\w-]{10,}", accepts=_random_tail),
        _rule("pypi-token", r"(?<![\w-])pypi-[\w-]{50,}"),
        _rule("square-token", r"(?<![\w-])sq0(?:csp|atp)-[\w-]{22,}"),
        _rule("mailchimp-key", r"(?<![0-9A-Za-z])[0-9a-z]{32}-us\d{1,2}(?!\w)"),
        _rule("google-secret", r"(?<![\w-])GOCSPX-[\w-]{28}"),
        _rule(
            "provider-token",
            r"(?<![\w-])(?:xai-[A-Za-z0-9]{70,}|pplx-[A-Za-z0-9]{40,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}"
            r"|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
            r"|p8e-[0-9a-z]{32}|dnkey-[\w=-]{26}-[\w=-]{52}|fio-u-[\w=-]{64}|ico-[A-Za-z0-9]{32}"
            r"|s-s4t2(?:ud|af)-[0-9a-f]{64}|NRJS-[0-9a-f]{19}|NRII-[\w-]{32}|NRAK-[A-Z0-9]{27}"
            r"|HRKU-AA[\w-]{58}|pul-[0-9a-f]{40}|tk-us-[\w-]{48}|xkeysib-[0-9a-f]{64}-[0-9a-z]{16}"
            r"|glffct-[\w-]{20}|FLW(?:PUB|SEC)K_TEST-(?:[0-9a-h]{32}-X|[0-9a-h]{12})|nvapi-[\w-]{60,}"
            r"|tvly-(?:dev-)?[A-Za-z0-9]{30,}|access-(?:sandbox|development|production)-"
            r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2})",
        ),
        _rule(
            "provider-token",
            r"(?<![\w-])(?:API-[A-Z0-9]{26}(?!\w)|fc-[0-9a-f]{32}(?!\w))",
            accepts=_random_tail,
        ),
        _rule("mailgun-key", r"(?<![\w-])(?:pub)?key-[0-9a-f]{32}(?!\w)"),
        _rule("mailgun-key", r"(?<![\w-])[0-9a-h]{32}-[0-9a-h]{8}-[0-9a-h]{8}(?![\w-])"),
    ),
)

_UPPER_A = SecretFamily(
    char="A",
    sentinel=re.compile(
        r"(?a)A(?:(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}|Iza[\w-]{35}|ccountKey=|GE-SECRET-KEY-1|TATT3|KCp[A-Za-z0-9]{60}"
        r"|BSK[A-Za-z0-9+/]{100}|QVN[\w-]{35}|Q\.Ab8|A{9})"
    ),
    rules=(
        _rule(
            "aws-access-key",
            r"(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])",
        ),
        _rule("google-api-key", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
        _rule("azure-storage-key", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})", group=1),
        _rule("age-secret-key", r"(?<![A-Za-z0-9])AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
        _rule(
            "provider-token",
            r"(?<![\w-])(?:ATATT3[\w-]{20,}={0,2}\w*|AKCp[A-Za-z0-9]{60,}|ABSK[A-Za-z0-9+/]{100,}={0,2}"
            r"|AQVN[\w-]{35,38}|AQ\.Ab8[\w-]{40,}|A{22}[\w%]{80,100}|[0-9a-z]{11}A{10}[\w=-]{43})",
        ),
    ),
)

_UPPER_S = SecretFamily(
    char="S",
    sentinel=re.compile(r"(?a)S(?:K[0-9a-f]{32}|G\.[\w-]{16}|haredAccessKey=)"),
    rules=(
        _rule("twilio-key", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
        _rule("sendgrid-key", r"(?<![\w.-])SG\.[\w-]{16,}\.[\w-]{32,}"),
        _rule("azure-access-key", r"SharedAccessKey=([A-Za-z0-9+/]{42,}={0,2})", group=1),
    ),
)

_DOT = SecretFamily(
    char=".",
    sentinel=re.compile(r"(?a)\.(?=[\w-]{6}(?:[\w-]{10}|\.[\w-]{27}))"),
    rules=(
        _rule("jwt", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
        _rule(
            "discord-token",
            r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
            accepts=is_random,
        ),
        _rule("vault-token", r"(?<![\w.-])hv[sbr]\.[\w-]{24,}", accepts=_written),
        _rule("google-oauth-token", r"(?<![\w.-])ya29\.[\w-]{20,}"),
    ),
)

_DOTTED = SecretFamily(
    char=".",
    sentinel=re.compile(
        r"(?a)\.(?:(?<=dp\.)(?=(?:pt|ct|sa|st|scim|audit)\.)|(?<=\.atlasv1\.)|(?<=dt0c01\.)"
        r"|(?<=[ps]at\.)(?=[\w-]{22}\.)|(?<=sl\.)(?=[\w.=-]{120})|(?<=[ps]k\.)(?=[A-Za-z0-9]{60})"
        r"|(?<=t1\.)(?=[\w-]{4})|acc[_-]|(?<=v1\.)(?=0-[0-9a-f]{24})|(?<=[A-Za-z0-9]{14}\.)(?=[0-9a-f]{64})"
        r"|(?<=s\.)(?=[A-Za-z0-9]{24}(?![\w.-])))"
    ),
    rules=(
        _rule(
            "vault-token", r"(?<![\w.-])s\.([A-Za-z0-9]{24})(?![\w.-])", group=1, accepts=is_random
        ),
        _rule(
            "provider-token",
            r"(?<![\w.-])(?:dp\.(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44}"
            r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"
            r"|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"
            r"|sl\.(?:u\.)?[\w=-]{130,}|[ps]k\.[A-Za-z0-9]{60,}\.[\w-]{22}|t1\.[\w-]+={0,2}\.[\w-]{86}={0,2}"
            r"|(?:sc|ext|scauth|authress)_[0-9a-z]{5,30}\.[0-9a-z]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}"
            r"|v1\.0-[0-9a-f]{24}-[0-9a-f]{146})",
        ),
    ),
)

_MAXMIND = SecretFamily(
    char="_mmk",
    sentinel=re.compile(r"(?a)_mmk(?!\w)"),
    rules=(_rule("provider-token", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),),
)

_COLON = SecretFamily(
    char=":",
    sentinel=re.compile(r"(?a):AA[\w-]{33}"),
    rules=(_rule("telegram-token", r"(?<![\w:])\d{8,10}:(AA[\w-]{33})(?![\w-])", group=1),),
)

_SLASH = SecretFamily(
    char="/",
    sentinel=re.compile(r"/(?=api/webhooks/|services/T|IncomingWebhook/)"),
    rules=(
        _rule("slack-webhook", r"hooks\.slack\.com/services/(T\w+/B\w+/\w{20,})", group=1),
        _rule(
            "teams-webhook",
            r"webhook\.office\.com/webhookb2/([\w@-]+/IncomingWebhook/[\w/-]{32,})",
            group=1,
        ),
        _rule("discord-webhook", r"discord(?:app)?\.com/api/webhooks/\d+/([\w-]{60,})", group=1),
    ),
)

_TILDE = SecretFamily(
    char="~",
    sentinel=re.compile(r"(?a)~(?=[\w.~-]{31})"),
    rules=(
        _rule("openshift-token", r"(?<![\w-])sha256~[\w-]{43}(?![\w-])"),
        _rule(
            "azure-client-secret",
            r"(?<![\w.~-])[\w.~]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])",
            accepts=is_random,
        ),
    ),
)

_PIPE = SecretFamily(
    char="|",
    sentinel=re.compile(r"(?a)\|(?<=\d{15}\|)(?=[\w-]{27})"),
    rules=(_rule("facebook-token", r"(?<!\d)\d{15,16}\|([\w-]{27,40})(?![\w-])", group=1),),
)

# Tokens that begin with a word of their own and hold no separator.
_WORDS = tuple(
    SecretFamily(char=prefix, sentinel=re.compile(rf"(?a){look}"), rules=rules)
    for prefix, look, rules in (
        (
            "dapi",
            r"dapi[0-9a-f]{32}",
            (_rule("databricks-token", r"(?<![\w-])dapi[0-9a-f]{32}(?:-\d)?(?!\w)"),),
        ),
        (
            "LTAI",
            r"LTAI[A-Za-z0-9]{17}",
            (_rule("alibaba-key", r"(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{17,21}(?![A-Za-z0-9])"),),
        ),
        (
            "cmVmd",
            r"cmVmd[A-Za-z0-9]{59}",
            (_rule("artifactory-token", r"(?<![A-Za-z0-9])cmVmd[A-Za-z0-9]{59}(?![A-Za-z0-9])"),),
        ),
        (
            "4b1d",
            r"4b1d[A-Za-z0-9]{38}",
            (
                _rule(
                    "clickhouse-key",
                    r"(?<![A-Za-z0-9])4b1d(?=[0-9a-z]*[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])",
                ),
            ),
        ),
        (
            "EZ",
            r"EZ[AT]K[A-Za-z0-9]{54}",
            (_rule("easypost-key", r"(?<![A-Za-z0-9])EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])"),),
        ),
        (
            "EAA",
            r"EAA[A-Z][\w-]{22}",
            (
                _rule("facebook-token", r"(?<![A-Za-z0-9])EAA[CM][A-Za-z0-9]{100,}"),
                _rule(
                    "square-token", r"(?<![\w+/-])EAAA[\w-]{22,60}(?![\w+/=-])", accepts=is_random
                ),
            ),
        ),
        (
            "eyJrIjoi",
            r"eyJrIjoi[A-Za-z0-9]{60}",
            (_rule("grafana-key", r"(?<![\w-])eyJrIjoi[A-Za-z0-9]{60,400}={0,3}"),),
        ),
        (
            "ZXlK",
            r"ZXlK[A-Za-z0-9+/]{60}",
            (_rule("jwt", r"(?<![A-Za-z0-9+/])ZXlK(?:aGJHY2|hY21)[A-Za-z0-9+/_=-]{60,}"),),
        ),
        (
            "GR1348941",
            r"GR1348941[\w-]{20}",
            (_rule("gitlab-token", r"(?<![\w-])GR1348941[\w-]{20}(?![\w-])"),),
        ),
        (
            "YC",
            r"YC[\w-]{38}",
            (_rule("yandex-key", r"(?<![\w-])YC[\w-]{38}(?![\w-])", accepts=is_random),),
        ),
        (
            "11",
            r"11[0-9a-f]{32}",
            (_rule("jenkins-token", r"(?<![0-9A-Za-z])11[0-9a-f]{32}(?![0-9A-Za-z])"),),
        ),
        (
            "K",
            r"K[1-9A-HJ-NP-Za-km-z]{51}",
            (
                _rule(
                    "bitcoin-key", r"(?<![0-9A-Za-z+/])K[1-9A-HJ-NP-Za-km-z]{51}(?![0-9A-Za-z+/=])"
                ),
            ),
        ),
        (
            "L",
            r"L[1-9A-HJ-NP-Za-km-z]{51}",
            (
                _rule(
                    "bitcoin-key", r"(?<![0-9A-Za-z+/])L[1-9A-HJ-NP-Za-km-z]{51}(?![0-9A-Za-z+/=])"
                ),
            ),
        ),
    )
)

FAMILIES = (
    _UNDERSCORE,
    _HYPHEN,
    _UPPER_A,
    _UPPER_S,
    _DOT,
    _DOTTED,
    _MAXMIND,
    _COLON,
    _SLASH,
    _TILDE,
    _PIPE,
    *_WORDS,
)
