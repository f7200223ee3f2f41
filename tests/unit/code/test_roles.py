"""What a file is for."""

import pytest

from agentic_os.code.roles import PATH_ROLES, role_of

CASES = {
    "product": ("src/app/main.py", "httpx/_client.py", "lib/testing/fixture.py", "contest.py", ""),
    "test": ("tests/a.py", "src/a_test.go", "src/a.spec.ts", "src/__tests__/a.js", "test_a.py"),
    "document": ("docs/a.py", "docs_src/a/b.py", "README.md", "examples/x.ts", "notes/a.ipynb"),
    "vendored": ("src/_vendor/a.py", "node_modules/a/tests/b.js", "third_party/a/docs/x.md"),
}


@pytest.mark.parametrize("role", PATH_ROLES)
def test_a_files_place_says_what_it_is_for(role: str) -> None:
    assert {path: role_of(path) for path in CASES[role]} == dict.fromkeys(CASES[role], role)
