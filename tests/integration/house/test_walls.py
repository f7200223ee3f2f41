"""Every wall between the rooms is shown to hold, and to fall when it is broken on purpose."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tomli

ROOT = Path(__file__).parents[3]
LINTER = Path(sys.executable).with_name("lint-imports")
RUFF = Path(sys.executable).with_name("ruff")

# Contract, and what is appended to which files to break it.
PLANTS: list[tuple[str, dict[str, str]]] = [
    ("floors", {"text/budget.py": "import agentic_os.files.reading\n"}),
    ("floors", {"settings/values.py": "import agentic_os.cli.output\n"}),
    ("floors", {"registry/descriptor/values.py": "import agentic_os.code.values\n"}),
    ("floors", {"doctor/identifiers.py": "import agentic_os.cli.output\n"}),
    ("floors", {"errors.py": "import agentic_os.results\n"}),
    ("floors", {"files/places.py": "def f() -> None:\n    import agentic_os.registry\n"}),
    ("floors", {"newroom/__init__.py": '"""A room that nobody put on a floor."""\n'}),
    ("witness", {"witness/rule/tables.py": "import agentic_os.ledger.line.entry\n"}),
    ("witness", {"witness/rule/tables.py": "import agentic_os.aios.context.notes\n"}),
    ("witness", {"crypto/keys/pairs.py": "import agentic_os.registry.descriptor.values\n"}),
    ("fleet-stream", {"tiers/interface.py": "import agentic_os.ledger.line.entry\n"}),
    ("fleet-stream", {"text/budget.py": "import agentic_os.witness.rule.tables\n"}),
    ("ledger-stream", {"ledger/line/entry.py": "import agentic_os.registry.descriptor.values\n"}),
    ("ledger-stream", {"witness/rule/tables.py": "import agentic_os.tiers.interface\n"}),
    ("witness-sides", {"witness/service/desk.py": "import agentic_os.witness.client.http\n"}),
    ("rules", {"witness/rule/tables.py": "import sqlite3\n"}),
    ("aios-writers", {"aios/notes/records.py": "import shutil\n"}),
    ("page", {"web/documents.py": "import agentic_os.aggregate.store.database\n"}),
    ("floors", {"web/served.py": "import agentic_os.server.privacy\n"}),
    ("rules", {"ledger/rule/gate.py": "import agentic_os.files.reading\n"}),
    (
        "circles",
        {
            "text/budget.py": "import agentic_os.text.tokens\n",
            "text/tokens.py": "import agentic_os.text.budget\n",
        },
    ),
    (
        "circles",
        {
            "aios/search/lines.py": "import agentic_os.aios.context.notes\n",
            "aios/context/notes.py": "import agentic_os.aios.search.lines\n",
        },
    ),
]


def contracts() -> dict[str, str]:
    """Names of the contracts by id."""
    settings = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found = settings["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract["name"] for contract in found}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that may be broken."""
    folder = tmp_path_factory.mktemp("walls")
    shutil.copytree(
        ROOT / "src/agentic_os",
        folder / "agentic_os",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy2(ROOT / "pyproject.toml", folder)
    return folder


@contextmanager
def planted(copy: Path, plant: dict[str, str]) -> Iterator[None]:
    before: dict[Path, bytes | None] = {}
    try:
        for name, text in plant.items():
            path = copy / "agentic_os" / name
            before[path] = path.read_bytes() if path.exists() else None
            path.parent.mkdir(exist_ok=True)
            with path.open("a") as file:
                file.write("\n" + text)
        yield
    finally:
        for path, data in before.items():
            if data is None:
                shutil.rmtree(path.parent)
            else:
                path.write_bytes(data)


def lint(copy: Path, *contract: str) -> tuple[int, str]:
    """Run the linter on a copy: its exit code and what it says."""
    chosen = [word for each in contract for word in ("--contract", each)]
    done = subprocess.run(
        [LINTER, "--cache-dir", copy / "cache", *chosen],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout


def test_the_walls_hold(copy: Path) -> None:
    code, said = lint(copy)

    assert code == 0, said
    for name in contracts().values():
        assert f"{name} KEPT" in said
    assert f"Contracts: {len(contracts())} kept, 0 broken." in said


@pytest.mark.parametrize(
    ("contract", "plant"), PLANTS, ids=[f"{each[0]}-{'-'.join(each[1])}" for each in PLANTS]
)
def test_a_broken_wall_is_noticed(copy: Path, contract: str, plant: dict[str, str]) -> None:
    with planted(copy, plant):
        code, said = lint(copy, contract)

    assert code == 1
    name = contracts()[contract]
    assert f"{name} BROKEN" in said or "newroom" in said


def test_every_wall_is_broken_once() -> None:
    assert {contract for contract, _ in PLANTS} == contracts().keys()


def banned() -> list[str]:
    settings = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    rules = settings["tool"]["ruff"]["lint"]["flake8-tidy-imports"]
    names: list[str] = rules["banned-module-level-imports"]
    return names


def ruff(copy: Path) -> tuple[int, str]:
    done = subprocess.run(
        [RUFF, "check", "--no-cache", "--select", "TID253", "agentic_os"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout


def test_heavy_packages_are_imported_inside_functions_only(copy: Path) -> None:
    assert ruff(copy)[0] == 0
    inside = "def f() -> None:\n" + "".join(f"    import {name}\n" for name in banned())
    with planted(copy, {"text/budget.py": inside}):
        assert ruff(copy)[0] == 0
    for name in banned():
        with planted(copy, {"text/budget.py": f"import {name}\n"}):
            code, said = ruff(copy)
        assert code == 1
        assert f"`{name}` is banned at the module level" in said
    assert {"numpy", "torch", "networkx", "mcp", "cryptography"} <= set(banned())
