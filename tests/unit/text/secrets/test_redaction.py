"""Secrets go, visibly and counted; hashes, placeholders, paths and words stay.

The tokens are made up here from a seeded generator, so that no scanner of this
repository takes them for real ones.
"""

import base64
import hashlib
import random
import string

import pytest

from agentic_os.text.secrets.redaction import Redacted, Redactor, SecretFinding

DICE = random.Random(20260101)
ALNUM = string.ascii_letters + string.digits
WORDY = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


def chars(count: int, alphabet: str = ALNUM) -> str:
    """Random characters that start and end with a letter or digit and hold both."""
    made = [DICE.choice(alphabet) for _ in range(count)]
    made[0], made[-1] = DICE.choice(ALNUM), DICE.choice(ALNUM)
    if alphabet in (HEX, BASE32, BECH32):
        made[0], made[-1] = DICE.choice(alphabet), DICE.choice(alphabet)
    made[count // 2] = next(char for char in alphabet if char.isdigit())
    return "".join(made)


def b64(count: int) -> str:
    return base64.b64encode(DICE.randbytes(count)).decode()


def pem(kind: str, lines: int = 3) -> str:
    body = "\n".join(chars(64, ALNUM + "+/") for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


PROVIDERS = {
    "github-token": [
        *(f"gh{kind}_{chars(36)}" for kind in "pousr"),
        f"github_pat_{chars(22)}_{chars(59)}",
    ],
    "gitlab-token": [
        f"glpat-{chars(20, WORDY)}",
        f"glpat-{chars(27, WORDY)}.01.{chars(9)}",
        f"glrt-{chars(20, WORDY)}",
        f"gldt-{chars(20, WORDY)}",
        f"glimt-{chars(25, WORDY)}",
        f"glagent-{chars(50, WORDY)}",
        f"gloas-{chars(64, WORDY)}",
        f"glsoat-{chars(20, WORDY)}",
        f"glcbt-{chars(2, HEX)}_{chars(20, WORDY)}",
        f"glptt-{chars(40, HEX)}",
    ],
    "aws-access-key": [
        f"AKIA{chars(16, BASE32)}",
        f"ASIA{chars(16, BASE32)}",
        f"A3TX{chars(16, BASE32)}",
    ],
    "google-api-key": [f"AIza{chars(35, WORDY)}"],
    "google-secret": [f"GOCSPX-{chars(28, WORDY)}"],
    "google-oauth-token": [f"ya29.{chars(60, WORDY)}"],
    "slack-token": [
        f"xoxb-{chars(12, '0123456789')}-{chars(12, '0123456789')}-{chars(24)}",
        f"xoxp-{chars(12, '0123456789')}-{chars(32, HEX)}",
        f"xapp-1-A{chars(10, BASE32)}-{chars(13, '0123456789')}-{chars(64, HEX)}",
    ],
    "stripe-key": [
        f"sk_live_{chars(24)}",
        f"rk_live_{chars(24)}",
        f"sk_test_{chars(99)}",
        f"whsec_{chars(32)}",
    ],
    "openai-key": [
        f"sk-{chars(20)}T3BlbkFJ{chars(20)}",
        f"sk-proj-{chars(74, WORDY)}T3BlbkFJ{chars(74, WORDY)}",
        f"sk-svcacct-{chars(60, WORDY)}",
        f"sk-{chars(32, HEX)}",
        f"sk-or-v1-{chars(64, HEX)}",
    ],
    "anthropic-key": [f"sk-ant-api03-{chars(93, WORDY)}AA", f"sk-ant-oat01-{chars(80, WORDY)}"],
    "huggingface-token": [f"hf_{chars(34)}"],
    "npm-token": [f"npm_{chars(36)}"],
    "pypi-token": [f"pypi-AgEIcHlwaS5vcmc{chars(150, WORDY)}"],
    "sendgrid-key": [f"SG.{chars(22, WORDY)}.{chars(43, WORDY)}"],
    "twilio-key": [f"SK{chars(32, HEX)}"],
    "digitalocean-token": [f"dop_v1_{chars(64, HEX)}", f"doo_v1_{chars(64, HEX)}"],
    "discord-token": [f"MTA{chars(21)}.{chars(6)}.{chars(38, WORDY)}"],
    "jwt": [f"eyJ{chars(30)}.eyJ{chars(60)}.{chars(43, WORDY)}"],
    "vault-token": [f"hvs.{chars(90, WORDY)}", f"hvb.{chars(90, WORDY)}"],
    "age-secret-key": [f"AGE-SECRET-KEY-1{chars(58, BECH32)}"],
    "square-token": [f"sq0csp-{chars(43, WORDY)}", f"sq0atp-{chars(22, WORDY)}"],
    "mailchimp-key": [f"{chars(32, HEX)}-us12"],
    "provider-token": [
        f"AKCp{chars(69)}",
        f"dckr_pat_{chars(27, WORDY)}",
        f"shpat_{chars(32, HEX)}",
        f"glsa_{chars(32)}_{chars(8, HEX)}",
        f"glc_{chars(60)}",
        f"sbp_{chars(40, HEX)}",
        f"lin_api_{chars(40)}",
        f"gsk_{chars(52)}",
        f"r8_{chars(37)}",
        f"ntn_{chars(46)}",
        f"rubygems_{chars(48, HEX)}",
        f"sntrys_{chars(80)}",
        f"fo1_{chars(43, WORDY)}",
        f"xai-{chars(80)}",
        f"pplx-{chars(48)}",
        f"tskey-auth-{chars(12)}-{chars(32)}",
        f"PMAK-{chars(24, HEX)}-{chars(34, HEX)}",
        f"ATATT3{chars(180, WORDY)}={chars(8, HEX)}",
    ],
}
PROVIDER_CASES = [(rule, token) for rule, tokens in PROVIDERS.items() for token in tokens]


@pytest.fixture
def redactor() -> Redactor:
    return Redactor()


def rules(found: Redacted) -> list[str]:
    return [finding.rule for finding in found.findings]


# --- provider tokens --------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "token"), PROVIDER_CASES)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "see {}.",
        "`{}`",
        '"{}"',
        "({})",
        "x\n- {} and more\ny",
        "token={}",
        "<{}>",
        "é{}é",
        "{},",
    ],
)
def test_provider_tokens_go(redactor: Redactor, rule: str, token: str, around: str) -> None:
    found = redactor.redact(around.format(token))
    assert found.text == around.format(f"[redacted:{rule}]")
    assert rules(found) == [rule]


@pytest.mark.parametrize(("rule", "token"), PROVIDER_CASES)
def test_what_only_contains_the_like_of_a_token_stays(
    redactor: Redactor, rule: str, token: str
) -> None:
    for text in (f"x{token}", token[:12], f"{token[:12]} {token[12:]}"):
        assert rule not in rules(redactor.redact(text)), text


@pytest.mark.parametrize(
    ("text", "redacted", "rule"),
    [
        (f"1234567890:AA{'x1B' * 11}", "1234567890:[redacted:telegram-token]", "telegram-token"),
        (
            f"AccountName=a;AccountKey={b64(64)};E=x",
            "AccountName=a;AccountKey=[redacted:azure-storage-key];E=x",
            "azure-storage-key",
        ),
        (
            f"Endpoint=sb://x/;SharedAccessKey={b64(32)}",
            "Endpoint=sb://x/;SharedAccessKey=[redacted:azure-access-key]",
            "azure-access-key",
        ),
        (
            "//registry.npmjs.org/:_authToken = 0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d",
            "//registry.npmjs.org/:_authToken = [redacted:npm-token]",
            "npm-token",
        ),
        (
            f"https://hooks.slack.com/services/T{chars(9)}/B{chars(9)}/{chars(24)}",
            "https://hooks.slack.com/services/[redacted:slack-webhook]",
            "slack-webhook",
        ),
        (
            f"https://discord.com/api/webhooks/123456/{chars(68, WORDY)}",
            "https://discord.com/api/webhooks/123456/[redacted:discord-webhook]",
            "discord-webhook",
        ),
    ],
)
def test_only_the_secret_part_goes(redactor: Redactor, text: str, redacted: str, rule: str) -> None:
    found = redactor.redact(f"first\n{text}\n")
    assert found.text == f"first\n{redacted}\n"
    assert found.findings == (SecretFinding(rule=rule, line=2),)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "sk-your-api-key-goes-here-" + "1" * 20,
        "sk-learn-like-names-with-many-words-v2-and-more",
        "xoxb-your-token-here",
        "npm_config_cache_directory_setting_name_longer",
        "hf_hub_download_and_other_function_names_too",
        "pypi-publish-workflow",
        "glpat-xxxxxxxxxxxxxxxxxxxx",
        "module.some_function_name_here.another_attribute_name",
        "SG.Module.function",
        "hvs.short",
        "eyJust.eyJust.words",
        "12:30:AA",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
        "0123456789abcdef0123456789abcdef-us",
        "us-east-us12",
        "task-force-one-thousand-two-hundred-and-thirty",
        "https://hooks.slack.com/services/T000/B000/xxxxxxxxxxxxxxxxxxxxxxxx",
    ],
)
def test_the_like_of_tokens_and_examples_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


# --- key blocks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ],
)
def test_key_blocks_go_and_their_lines_stay(redactor: Redactor, kind: str) -> None:
    text = f"before\n{pem(kind)}\nafter\nAPI_KEY={chars(32)}"
    found = redactor.redact(text)
    assert (
        found.text
        == "before\n[redacted:private-key]\n\n\n\n\nafter\nAPI_KEY=[redacted:assigned-secret]"
    )
    assert found.findings == (
        SecretFinding(rule="private-key", line=2),
        SecretFinding(rule="assigned-secret", line=8),
    )


def test_key_blocks_with_headers_and_indents_go(redactor: Redactor) -> None:
    text = (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n"
        f"{chars(64)}\n-----END RSA PRIVATE KEY-----"
    )
    assert redactor.redact(text).text == "[redacted:private-key]" + "\n" * 5
    quoted = "\n".join(f"    > {line}" for line in pem("PRIVATE KEY").split("\n"))
    assert redactor.redact(quoted).text == "    > [redacted:private-key]" + "\n" * 4


def test_a_key_block_within_one_line_goes(redactor: Redactor) -> None:
    block = pem("PRIVATE KEY").replace("\n", "\\n")
    assert redactor.redact(f'{{"k": "{block}\\n"}}').text == '{"k": "[redacted:private-key]\\n"}'


def test_a_key_block_without_end_goes_as_far_as_it_looks_like_one(redactor: Redactor) -> None:
    block = pem("EC PRIVATE KEY").rpartition("\n")[0]
    assert redactor.redact(f"{block}\nPlain prose follows.").text == (
        "[redacted:private-key]\n\n\n\nPlain prose follows."
    )
    assert redactor.redact(block).text == "[redacted:private-key]\n\n\n"
    assert redactor.redact(f"{block}\n").text == "[redacted:private-key]\n\n\n\n"
    assert redactor.redact(block.replace("\n", " ")).text == "[redacted:private-key]"


def test_an_unended_block_does_not_swallow_the_next(redactor: Redactor) -> None:
    first = pem("RSA PRIVATE KEY").rpartition("\n")[0]
    text = f"{first}\nPlain words between them.\n{pem('EC PRIVATE KEY')}\n"
    found = redactor.redact(text)
    assert rules(found) == ["private-key", "private-key"]
    assert "Plain words between them." in found.text
    assert found.text.count("\n") == text.count("\n")


def test_a_stray_end_line_ends_nothing(redactor: Redactor) -> None:
    block = pem("RSA PRIVATE KEY")
    end = block.rpartition("\n")[2]
    text = f"{end}\n{block}\nbetween\n{end}\n{block}\nafter"
    found = redactor.redact(text)
    assert found.text == (
        f"{end}\n[redacted:private-key]\n\n\n\n\nbetween\n"
        f"{end}\n[redacted:private-key]\n\n\n\n\nafter"
    )


def test_a_key_right_after_an_unended_block_is_another(redactor: Redactor) -> None:
    block = pem("RSA PRIVATE KEY").rpartition("\n")[0]
    text = f"{block}\nPrivate-Lines: 1\n{chars(64)}\n\nPlain words here.\n{pem('PRIVATE KEY')}"
    found = redactor.redact(text)
    assert rules(found) == ["private-key"] * 3
    assert found.text.startswith("[redacted:private-key]\n\n\n\n[redacted:private-key]\n\n")
    assert "\nPlain words here.\n" in found.text
    assert found.text.count("\n") == text.count("\n")


def test_ssh2_and_putty_keys_go(redactor: Redactor) -> None:
    ssh2 = (
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n"
        f"{chars(64)}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"
    )
    assert redactor.redact(ssh2).text == "[redacted:private-key]\n\n"
    putty = (
        f"Public-Lines: 1\nAAAA\nPrivate-Lines: 2\n{chars(64)}\n{chars(40)}\n"
        f"Private-MAC: {chars(40, HEX)}"
    )
    assert redactor.redact(putty).text == "Public-Lines: 1\nAAAA\n[redacted:private-key]\n\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "the line `-----BEGIN PRIVATE KEY-----` starts it",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nyour key here\n-----END PRIVATE KEY-----",
        pem("CERTIFICATE"),
        pem("PUBLIC KEY"),
        pem("PGP PUBLIC KEY BLOCK"),
        "a PRIVATE KEY is private",
    ],
)
def test_public_and_empty_blocks_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


# --- addresses and headers --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgres://bob:s3cr3t@db:5432/x", "postgres://bob:[redacted:url-password]@db:5432/x"),
        ("https://:tok3n@host/x", "https://:[redacted:url-password]@host/x"),
        ("https://u:p%40ss@host", "https://u:[redacted:url-password]@host"),
        ("git+https://oauth2:abc123@h/r.git", "git+https://oauth2:[redacted:url-password]@h/r.git"),
        ("a redis://x:hunter2@h b", "a redis://x:[redacted:url-password]@h b"),
    ],
)
def test_passwords_in_addresses_go(redactor: Redactor, text: str, redacted: str) -> None:
    found = redactor.redact(text)
    assert found.text == redacted
    assert rules(found) == ["url-password"]


@pytest.mark.parametrize(
    "text",
    [
        "https://user@host/path",
        "https://host:8080/path@x",
        "https://user:password@host",
        "https://user:$PASS@host",
        "https://user:${PASS}@host",
        "https://user:<password>@host",
        "https://user:***@host",
        "https://user:--------@host",
        "https://user:0101@host",
        "https://host/a:b@c",
        "git@github.com:owner/repo",
        "ssh://git@host:22/x",
        "mail me@example.org: now",
        "http://a http://b:c d@e",
    ],
)
def test_addresses_without_a_password_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


@pytest.mark.parametrize(
    "header",
    [
        f"Authorization: Bearer {chars(40)}",
        f"authorization: bearer {chars(24)}",
        f'-H "Authorization: Bearer {chars(30)}"',
        f"BEARER {chars(40, WORDY)}",
        f"Authorization: Basic {base64.b64encode(b'bob:hunter2pass').decode()}",
        f"Proxy-Authorization: basic {base64.b64encode(b'bob:pa55').decode()}",
        f"Authorization: Basic {base64.b64encode(b'bob:hunter2pass:password').decode()}",
    ],
)
def test_authorization_headers_go(redactor: Redactor, header: str) -> None:
    found = redactor.redact(header)
    assert rules(found) == ["authorization-header"]
    assert found.text.rstrip('"').endswith(" [redacted:authorization-header]")


@pytest.mark.parametrize(
    "text",
    [
        "Bearer token123 is here",
        "Bearer $TOKEN_1234567",
        "Bearer <token-123456>",
        "bearer of bad news 123",
        "Basic understanding2 helps",
        "Basic " + base64.b64encode(b"no colon here").decode(),
        "Basic " + base64.b64encode(b"user:password").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:\xff\xff\xff").decode(),
        "Basic " + base64.b64encode(b"onlyuser:").decode(),
        "Basic " + base64.b64encode(b":onlyhunter2").decode(),
        "Basic " + base64.b64encode(b"bob:hunter2pass").decode().replace("b", "-b", 1),
        "Basic abcdefghi",
    ],
)
def test_headers_without_a_secret_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


# --- assignments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template",
    [
        "password={}",
        "PASSWORD = {}",
        'password: "{}"',
        "'passwd': '{}',",
        "db_passwd={}",
        "DB_PWD={}",
        "export SECRET_KEY={}",
        "secretAccessKey: {}",
        "client_secret => '{}'",
        "auth_token: `{}`",
        "- **Token**: {}",
        "api_key={}",
        "apikey: {}",
        "API-KEY: {}",
        "api key: {}",
        "access-key={}",
        "private_key = {}",
        "signing key: {}",
        "credential: {}",
        "credentials={}",
        "x-auth: {}",
        "authorization: {}",
        "passphrase: {}",
        'token := "{}"',
        "secret == '{}'",
        "?access_token={}&x=1",
        "spring.datasource.password={}",
        "key: value\n  api_key: {}",
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        chars(16),
        chars(32, HEX),
        chars(64, HEX),
        chars(40, ALNUM + "/"),
        "qpRZFAUqvcbBcORk",
        "Tr0ub4dor",
    ],
)
def test_random_values_given_to_a_secrets_name_go(
    redactor: Redactor, template: str, value: str
) -> None:
    found = redactor.redact(template.format(value))
    assert found.text == template.format("[redacted:assigned-secret]")
    assert rules(found) == ["assigned-secret"]


@pytest.mark.parametrize(
    "value", ["P@ssw0rd!23", "Summer2024!x", "hunter2#hunter", "a1b2c3d4", "ab12cd34ef"]
)
def test_passwords_that_people_make_go_too(redactor: Redactor, value: str) -> None:
    assert redactor.redact(f"password: {value}").text == "password: [redacted:assigned-secret]"


def test_padding_goes_with_the_value(redactor: Redactor) -> None:
    value = f"{chars(30, ALNUM + '+/')}=="
    assert redactor.redact(f"secret={value}").text == "secret=[redacted:assigned-secret]"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "short1",
        "12345678901",
        "94817263504",
        "aaaaaaaa1",
        "abababab1212",
        "plainwords",
        "correct-horse-battery",
        "oauth2-proxy",
        "bearer_v2",
        "feedback_token-013",
        "kubernetes-secret-v2-prod1",
        "v1beta1-something",
        "gpt-4o-2024-08-06",
        "2024-01-02T10:11:12Z",
        "cl100k_base",
        "getAuth2Token",
        "user1.getAuth2Token",
        "config.api_key_v2",
        "getUserAccountAuthenticationToken",
        "123e4567-e89b-12d3-a456-426614174000",
        "sha256:" + "0123456789abcdef" * 4,
        "SHA1-" + "0123456789abcdef" * 2,
        "/etc/ssl/private/k3y1a2b3.pem",
        "~/.ssh/id_ed25519",
        "./s3cr3t5/a1b2c3",
        "../x1y2z3/key",
        "C:\\k3y5\\a1b2",
        "k3y5a1b2c3.pem",
        "projects/p1/secrets/db1/versions/2",
        "https://auth.host.org/oauth2/v2/a1b2c3",
        "${DB_PASSWORD1}",
        "$(cat /run/secrets/a1b2c3d4)",
        "$DB_PASSWORD_1",
        "{{ secrets.a1b2c3d4 }}",
        "<your-key-a1b2c3>",
        "%DB_PASS_1A2B%",
        "GITHUB_TOKEN_2",
        "process.env.A1B2C3D4E5",
        "os.environ['A1B2C3D4']",
        "changeme123a4b5",
        "change-me-1a2b3c",
        "your-token-1a2b3c4d",
        "example1a2b3c4d",
        "xxxxxxxx1a2b3c4d",
        "1234567890abcdefgh",
        "password123",
        "***********1a",
        "abc...1a2b3c4d",
        "vault:secret/a1b2c3",
        "op://vault1/item2/field3",
        "[redacted:assigned-secret]",
        "prompt('a1b2c3d4')",
        "Optional[str2]",
    ],
)
def test_values_that_are_no_secrets_stay(redactor: Redactor, value: str) -> None:
    text = f"token: {value}"
    assert redactor.redact(text) == Redacted(text=text)
    quoted = f'password = "{value}"'
    assert redactor.redact(quoted) == Redacted(text=quoted)


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "commit",
        "sha256",
        "key",
        "cache_key",
        "author",
        "authority",
        "tokenizer",
        "tokenizers",
        "token_count",
        "token_id",
        "secretId",
        "password_hash",
        "passwordHash",
        "token_sha256",
        "api_key_name",
        "access_key_id",
        "secret_path",
        "authUrl",
        "token_type",
        "token_expires_at",
        "monkey",
        "see token, then",
    ],
)
def test_random_values_of_other_names_stay(redactor: Redactor, name: str) -> None:
    text = f"{name}: {chars(32)}"
    assert redactor.redact(text) == Redacted(text=text)


@pytest.mark.parametrize("name", ["secret_valid", "token_format", "auth_chat", "secret_void"])
def test_an_ending_counts_only_as_a_word(redactor: Redactor, name: str) -> None:
    assert rules(redactor.redact(f"{name}: {chars(32)}")) == ["assigned-secret"]


def test_a_name_on_another_line_is_no_name(redactor: Redactor) -> None:
    text = f"the token\n: {chars(32)}"
    assert redactor.redact(text) == Redacted(text=text)


@pytest.mark.parametrize(
    "text",
    [
        "fixed in 0123456789abcdef0123456789abcdef01234567",
        "commit: " + "0123456789abcdef" * 2 + "01234567",
        "sha256 = " + hashlib.sha256(b"").hexdigest(),
        "integrity: sha512-" + b64(64),
        'etag: "' + chars(32, HEX) + '"',
        "index 3f2a9c1..8b7d6e5 100644",
        "[Title](file.md) — secret handling token",
    ],
)
def test_hashes_and_prose_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


# --- command lines ------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["hunter22secret", "q9Zx7Lm2Pw4K", "Summer2024!x", "ab12cd34ef"])
@pytest.mark.parametrize(
    "template",
    [
        "mysql --password {} shop",
        "mysql --password={} shop",
        "tool --db-password '{}'",
        'tool --api-key "{}"',
        "tool --apikey\t{}",
        "gh auth --with.token {}",
        "TOOL --TOKEN {}",
        "curl -u ada:{} https://example.org",
        "curl --user ada@example.org:{}",
        "curl --user 'ada:{}'",
    ],
)
def test_what_follows_a_secrets_flag_goes(redactor: Redactor, template: str, value: str) -> None:
    found = redactor.redact(template.format(value))
    assert found.text == template.format("[redacted:assigned-secret]")
    assert rules(found) == ["assigned-secret"]


@pytest.mark.parametrize(
    "template",
    [
        "helm --set=db.password={}",
        "helm --set=a.name=b,db.password={} --wait",
        "docker run --env=DB_PASSWORD={}",
        "tool --opt x=y=secret={}",
        "see: password={}",
    ],
)
@pytest.mark.parametrize("value", ["q9Zx7Lm2Pw4K", chars(31, ALNUM) + "="])
def test_the_last_separator_assigns(redactor: Redactor, template: str, value: str) -> None:
    assert redactor.redact(template.format(value)).text == template.format(
        "[redacted:assigned-secret]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "docker login --password-stdin a1b2c3d4e5",
        "tool --token-file /run/secrets/t0k3n1",
        "tool --password $DB_PASSWORD_1",
        "tool --password ${DB_PASSWORD_1}",
        "tool --token <your-token-1a>",
        "tool --token $(cat t0k3n1a2)",
        "tool --password short1",
        "tool --password correct-horse-battery",
        "tool --token my-service-token2",
        "tool --secret kubernetes-secret-v2-prod1",
        "tool --secret id=a1b2c3d4,src=x",
        "tool --token ~/.config/t0k3n/a1",
        "tool --password aaaa1111",
        "docker run -u 1000:1000100010",
        "docker run -u www-data:group-2024",
        "git commit --author a1b2c3d4e5",
        "tool --tokenizer a1b2c3d4e5",
        "tool --password\na1b2c3d4e5",
        "a|---password a1b2c3d4e5",
        "helm --set=image.tag=a1b2c3d4e5f6",
        "x:y:a1b2c3d4e5f6",
    ],
)
def test_flags_and_values_that_are_no_secrets_stay(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == Redacted(text=text)


# --- the whole --------------------------------------------------------------------------


def test_a_clean_text_is_the_same_object(redactor: Redactor) -> None:
    text = "plain text: with a colon, an @, an = and some-dashes_and.dots\n"
    found = redactor.redact(text)
    assert found.text is text
    assert found.findings == ()


def test_findings_are_in_order_with_their_lines(redactor: Redactor) -> None:
    key, token = chars(32), f"ghp_{chars(36)}"
    text = f"{pem('PRIVATE KEY')}\n\n{token} {token}\nhttps://a:b1c2@h\napi_key: {key}"
    found = redactor.redact(text)
    assert [(finding.rule, finding.line) for finding in found.findings] == [
        ("private-key", 1),
        ("github-token", 7),
        ("github-token", 7),
        ("url-password", 8),
        ("assigned-secret", 9),
    ]
    assert found.text.count("\n") == text.count("\n")
    assert found.text.endswith("api_key: [redacted:assigned-secret]")


def test_overlapping_rules_give_one_finding(redactor: Redactor) -> None:
    token = f"ghp_{chars(36)}"
    found = redactor.redact(f"Authorization: Bearer {token}")
    assert found.text == "Authorization: Bearer [redacted:github-token]"
    wider = redactor.redact(f"password={token}%%{chars(20)}")
    assert wider.text == "password=[redacted:assigned-secret]"
    assert len(wider.findings) == 1


def test_partly_overlapping_rules_cover_both(redactor: Redactor) -> None:
    found = redactor.redact("https://user:token=a1b2c3d4e5@x9y8z7w6 rest")
    assert found.text == "https://user:[redacted:url-password] rest"
    assert len(found.findings) == 1


def test_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    text = (
        "\n".join(token for _, token in PROVIDER_CASES)
        + f"\nsecret: {chars(20)}\n{pem('PRIVATE KEY')}"
    )
    once = redactor.redact(text)
    assert len(once.findings) == len(PROVIDER_CASES) + 2
    again = redactor.redact(once.text)
    assert again == Redacted(text=once.text)


@pytest.mark.parametrize("hashed", [True, False])
def test_what_the_person_allowed_stays(*, hashed: bool) -> None:
    token, other = f"ghp_{chars(36)}", f"ghp_{chars(36)}"
    entry = hashlib.sha256(token.encode()).hexdigest() if hashed else token
    found = Redactor(frozenset({entry})).redact(f"{token}\n{other}")
    assert found.text == f"{token}\n[redacted:github-token]"
    assert found.findings == (SecretFinding(rule="github-token", line=2),)


def test_the_allow_list_is_exact() -> None:
    token = f"ghp_{chars(36)}"
    for entry in (
        token[:-1],
        token + "x",
        token.upper(),
        hashlib.sha256(token.encode()).hexdigest()[1:],
    ):
        assert Redactor(frozenset({entry})).redact(token).findings


def test_an_allowed_password_in_an_address_stays() -> None:
    text = "postgres://dev:devpass1@localhost/db"
    assert Redactor(frozenset({"devpass1"})).redact(text) == Redacted(text=text)


def test_secrets_beside_odd_characters_are_handled(redactor: Redactor) -> None:
    token = f"ghp_{chars(36)}"
    for text in (f"\ud83d {token}", f"\0{token}\0", f"İ{token}\u2028", f"{token}\U0001f680"):
        found = redactor.redact(text)
        assert token not in found.text
        assert rules(found) == ["github-token"]
