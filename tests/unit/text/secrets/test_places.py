"""Secrets that are known by where they stand, and what looks like one and is none."""

import pytest

from agentic_os.text.secrets.redaction import Redactor

SECRET = "q7Rk2vX9mL4tZ8bN"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
REDACTOR = Redactor()


@pytest.mark.parametrize(
    "text",
    [
        "machine api.example.org login ann password {}",
        "machine api.example.org\n  login ann\n  password {}\n",
        "default login ann password {} machine x",
        "db.internal:5432:app:ann:{}",
        "*:*:app:ann:{}",
        "https://a.blob.core.windows.net/c?sv=2024&sr=b&sig={}q7Rk2vX9mL4tZ8bN%3D",
        "https://storage.example.org/o?Expires=1&Signature={}q7Rk2vX9mL4tZ8bN",
        "https://b.example.org/k?X-Amz-Security-Token={}q7Rk2vX9mL4tZ8bN",
        "Cookie: session={}",
        "Set-Cookie: theme=dark; sid={}; Path=/",
        "Authorization: Token {}",
        "'Authorization': 'ApiKey {}'",
        '<add key="ClearTextPassword" value="{}" />',
        "Passwort: {}",
        "Kennwort ist {}",
        "mot de passe : {}",
        "contrase\u00f1a: {}",
        "senha={}",
        "wachtwoord: {}",
        "\u043f\u0430\u0440\u043e\u043b\u044c: {}",
        "\u5bc6\u7801: {}",
        "\u30d1\u30b9\u30ef\u30fc\u30c9: {}",
        "the password is {}",
        "notes/token={}.md",
        "notes/api_key={}/read.md",
    ],
)
def test_what_stands_in_such_a_place_is_replaced(text: str) -> None:
    done = REDACTOR.redact(text.format(SECRET))

    assert done.findings
    assert SECRET not in done.text
    assert done.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "ann:$2y$10$" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ",
        "ann:$apr1$aB3dE5gH$7jK9mN1pQ3rS5tU7vW9xY1",
        "ann:{SHA}7jK9mN1pQ3rS5tU7vW9xY1zA3bC5=",
        "$argon2id$v=19$m=65536,t=3,p=4$aB3dE5gH7jK9$mN1pQ3rS5tU7vW9xY1zA3bC5dE7f",
    ],
)
def test_the_hash_of_a_password_is_replaced(text: str) -> None:
    assert [item.rule for item in REDACTOR.redact(text).findings] == ["password-hash"]


@pytest.mark.parametrize(
    "text",
    [
        f'".claude/hooks/pre_secret_scan.sh": "{DIGEST}"',
        f".github/token.yml: {DIGEST}",
        f"docs/how-to/deal-with-secrets.md = {DIGEST}",
        f"commit {DIGEST[:40]}",
        "cookie: none",
        "Cookie: theme=dark; lang=en",
        "the password is stored in the vault",
        "the token is rotated every 90 days",
        "Passwort: siehe Tresor",
        "Authorization: Bearer <token>",
        "machine learning needs a password policy",
        "private_key = ed25519.Ed25519PrivateKey",
        "auth = module.X509AuthorityKeyIDExtension",
        "?sort=signature=ascending",
        "id: 123e4567-e89b-42d3-a456-426614174000",
        "heroku_app_id: see the dashboard",
        "10:30:12:app:read",
        "$1 and $2 are the arguments",
        "git log --format=%H | head",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert REDACTOR.redact(text).text == text
