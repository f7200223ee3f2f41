"""Secrets in any surroundings go; everything else, and the lines, stay."""

import string

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_os.text.secrets.judging import is_placeholder
from agentic_os.text.secrets.redaction import Redactor

REDACTOR = Redactor()
ALNUM = string.ascii_letters + string.digits
PIECES = [
    *" \n\t:=@/\"'`,;()[]{}<>|-_.#é\0\u2028",
    *("word ", "password", "token: ", "api_key=", "Bearer ", "https://u:", "://", "@host "),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "AAAAB3NzaC1yc2EAAAADAQAB\n"),
    *("ghp_", "sk-", "AKIA", "xoxb-", "eyJ", "a1B2c3D4e5F6", "x" * 40, "0123456789abcdef" * 2),
]
texts = st.lists(st.sampled_from(PIECES), max_size=50).map("".join) | st.text(max_size=200)
words = st.text(string.ascii_lowercase + " \n.,!?é—", max_size=60)
tokens = st.builds(
    lambda prefix, body: prefix + body,
    st.sampled_from(["ghp_", "gho_", "npm_"]),
    st.text(ALNUM, min_size=36, max_size=36).filter(lambda body: len(set(body)) > 8),
).filter(lambda token: not is_placeholder(token))
unbroken = settings(deadline=None, max_examples=300)


@unbroken
@given(texts)
def test_lines_and_the_rest_of_the_text_stay(text: str) -> None:
    found = REDACTOR.redact(text)
    assert found.text.count("\n") == text.count("\n")
    count = text.count("\n") + 1
    lines = [finding.line for finding in found.findings]
    assert lines == sorted(lines)
    assert all(1 <= line <= count for line in lines)
    assert (found.text == text) == (not found.findings)
    assert found.text.count("[redacted:") == len(found.findings) + text.count("[redacted:")


@unbroken
@example("", "ghp_00000000000000000GETeNV0000000000012", "")
@given(words, tokens, words)
def test_a_token_in_any_prose_goes_and_the_prose_stays(before: str, token: str, after: str) -> None:
    found = REDACTOR.redact(f"{before} {token} {after}")
    assert token not in found.text
    assert found.text.startswith(f"{before} [redacted:")
    assert found.text.endswith(f"] {after}")
    assert [finding.line for finding in found.findings] == [before.count("\n") + 1]


@unbroken
@given(words, tokens, words)
def test_an_allowed_token_stays_in_any_prose(before: str, token: str, after: str) -> None:
    text = f"{before} {token} {after}"
    assert Redactor(frozenset({token})).redact(text).text == text


@unbroken
@given(words)
def test_prose_stays(text: str) -> None:
    assert REDACTOR.redact(text).text == text


@unbroken
@given(st.binary(min_size=20, max_size=32), st.sampled_from(["commit ", "sha256: ", "rev=", ""]))
def test_hashes_stay(digest: bytes, name: str) -> None:
    text = f"{name}{digest.hex()}"
    assert REDACTOR.redact(text).text == text
