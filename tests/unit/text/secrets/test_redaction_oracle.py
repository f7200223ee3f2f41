"""A well-known detector as the oracle: what its provider rules can match, we replace.

The tokens are drawn from the detector's own patterns. Not compared: its entropy and
keyword rules (ours differ on purpose) and its rules for JSON web tokens and basic
authentication, which also match what is none.
"""

import importlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.text.secrets.judging import entropy_bits, is_placeholder
from agentic_os.text.secrets.redaction import Redactor

DETECTORS = [
    ("aws", "AWSKeyDetector", 0),
    ("azure_storage_key", "AzureStorageKeyDetector", 0),
    ("discord", "DiscordBotTokenDetector", 0),
    ("github_token", "GitHubTokenDetector", 0),
    *(("gitlab_token", "GitLabTokenDetector", number) for number in (0, 2, 3, 4, 5, 6)),
    ("mailchimp", "MailchimpDetector", 0),
    ("openai", "OpenAIDetector", 0),
    ("pypi_token", "PypiTokenDetector", 0),
    ("pypi_token", "PypiTokenDetector", 1),
    ("sendgrid", "SendGridDetector", 0),
    ("square_oauth", "SquareOAuthDetector", 0),
    ("stripe", "StripeDetector", 0),
]
LIKELY_BITS = 3.0
REDACTOR = Redactor()


def pattern_of(module: str, detector: str, number: int) -> str:
    found = importlib.import_module(f"detect_secrets.plugins.{module}")
    pattern = getattr(found, detector).denylist[number].pattern
    assert isinstance(pattern, str)
    return pattern.replace(r"(?!\w)", "").replace("\\\\", "")


@pytest.mark.parametrize(("module", "detector", "number"), DETECTORS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_what_the_oracle_matches_is_replaced(
    data: st.DataObject, module: str, detector: str, number: int
) -> None:
    pattern = re.compile(pattern_of(module, detector, number), re.ASCII)
    token = data.draw(
        st.from_regex(pattern, fullmatch=True).filter(
            lambda value: (
                not is_placeholder(value)
                and entropy_bits(value) > LIKELY_BITS
                and (value[-1].isalnum() or value[-1] == "=")
                and "=" not in value.partition("=")[2].rstrip("=")
            )
        )
    )
    found = REDACTOR.redact(f"see {token} there")
    assert found.findings, token
    assert token not in found.text


def test_the_oracle_and_we_agree_on_clean_prose() -> None:
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import transient_settings

    names = sorted({detector for _, detector, _ in DETECTORS} | {"PrivateKeyDetector"})
    prose = [
        "The deployment token is rotated by the platform team every quarter.",
        "- [Secrets handling](secrets.md) — where passwords live",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "password: ${DB_PASSWORD}",
        "See https://example.org/a/b?c=d#e and mail me@example.org.",
    ]
    with transient_settings({"plugins_used": [{"name": name} for name in names]}):
        for line in prose:
            assert list(scan_line(line)) == []
            assert REDACTOR.redact(line).findings == ()
