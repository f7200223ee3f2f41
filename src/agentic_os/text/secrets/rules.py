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
    """Rules that can match only where ``sentinel`` does, and that only where ``char`` is."""

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


_UNDERSCORE = SecretFamily(
    char="_",
    sentinel=re.compile(
        r"(?a)_(?:authToken|(?=[\w-]{16})(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=[sr]k_live_)|(?<=[sr]k_test_)"
        r"|(?<=whsec_)|(?<=hf_)|(?<=npm_)|(?<=do[opr]_v1_)|(?<=dckr_pat_)|(?<=shp(?:at|ca|pa|ss)_)"
        r"|(?<=glsa_)|(?<=glc_)|(?<=sbp_)|(?<=lin_api_)|(?<=gsk_)|(?<=r8_)|(?<=ntn_)|(?<=rubygems_)"
        r"|(?<=sntry[su]_)|(?<=fo1_)|(?<=api_org_)))"
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
            r"|rubygems_[0-9a-f]{48}|sntry[su]_[\w+/=]{40,}|fo1_[\w-]{43})",
        ),
    ),
)

_HYPHEN = SecretFamily(
    char="-",
    sentinel=re.compile(
        r"(?a)-(?:(?=us\d)(?<=[0-9a-z]{32}-)|(?=[\w.-]{10})(?:(?<=sk-)|(?<=glpat-)|(?<=gldt-)|(?<=gl[rf]t-)|(?<=gl(?:cbt|ptt|imt)-)|(?<=glsoat-)"
        r"|(?<=glagent-)|(?<=gloas-)|(?<=xox[a-z]-)|(?<=xapp-)|(?<=pypi-)|(?<=GOCSPX-)|(?<=xai-)|(?<=pplx-)"
        r"|(?<=tskey-)|(?<=PMAK-)|(?<=sq0(?:csp|atp)-)))"
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
            r"|PMAK-[0-9a-f]{24}-[0-9a-f]{34})",
        ),
    ),
)

_UPPER_A = SecretFamily(
    char="A",
    sentinel=re.compile(
        r"(?a)A(?:(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}|Iza[\w-]{35}|ccountKey=|GE-SECRET-KEY-1|TATT3|KCp[A-Za-z0-9]{60})"
    ),
    rules=(
        _rule(
            "aws-access-key",
            r"(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])",
        ),
        _rule("google-api-key", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
        _rule("azure-storage-key", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})", group=1),
        _rule("age-secret-key", r"(?<![A-Za-z0-9])AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
        _rule("provider-token", r"(?<![\w-])(?:ATATT3[\w-]{20,}={0,2}\w*|AKCp[A-Za-z0-9]{60,})"),
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

_COLON = SecretFamily(
    char=":",
    sentinel=re.compile(r"(?a):AA[\w-]{33}"),
    rules=(_rule("telegram-token", r"(?<![\w:])\d{8,10}:(AA[\w-]{33})(?![\w-])", group=1),),
)

_SLASH = SecretFamily(
    char="/",
    sentinel=re.compile(r"/(?=api/webhooks/|services/T)"),
    rules=(
        _rule("slack-webhook", r"hooks\.slack\.com/services/(T\w+/B\w+/\w{20,})", group=1),
        _rule("discord-webhook", r"discord(?:app)?\.com/api/webhooks/\d+/([\w-]{60,})", group=1),
    ),
)

FAMILIES = (_UNDERSCORE, _HYPHEN, _UPPER_A, _UPPER_S, _DOT, _COLON, _SLASH)
