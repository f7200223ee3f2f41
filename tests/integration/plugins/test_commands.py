"""Plugins on the command line, from an empty folder to an agent's call."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentic_os.files.places import places_from
from agentic_os.plugins.keeping.house import plugin_places
from agentic_os.plugins.keeping.policy import FILE_NAME
from agentic_os.server.application import make_application
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.definitions import MAX_DEFINITIONS_CHARS
from mcp import Client
from support.fleet.builder import FleetBuilder
from support.plugins import guests
from support.plugins.packages import Recipe, request
from support.process.cli_call import call
from support.process.cli_process import Finished

ID = "org.example.hello"
OPERATION = "core.hello"
TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def ok(*arguments: str | Path) -> Finished:
    done = call(*arguments)
    assert done.code == 0, done.stderr.decode()
    return done


def document(*arguments: str | Path) -> Any:
    return json.loads(call(*arguments, "--json").stdout)["data"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "hello"
    ok("plugins", "new", folder, "--id", ID, "--lang", "wat")
    ok("plugins", "build", folder)
    ok("plugins", "pack", folder, "--out", tmp_path / "hello.aiiospkg")
    return tmp_path / "hello.aiiospkg"


def health() -> tuple[str, str]:
    """Status and words of the whole doctor's check of plugins."""
    found = [one for one in document("doctor")["checks"] if one["id"] == "plugins"]
    assert len(found) == 1
    return found[0]["status"], found[0]["message"]


def test_the_whole_doctor_looks_at_plugins(package: Path) -> None:
    assert health() == ("none", "nothing to check: no plugin is installed")
    ok("plugins", "install", package, "--allow-unsigned")
    assert health() == (
        "ok",
        "Installed plugins verify, and the roots and grants of plugins count.",
    )

    policy = plugin_places(places_from(os.environ)).config / FILE_NAME
    allowed = policy.read_text()
    policy.write_text(allowed.replace("sha256:", "sha256:0", 1))
    status, words = health()
    assert status == "fail"
    assert "plugins.toml" in words or ID in words
    policy.write_text(allowed.replace('"allow-listed"', '"refuse"'))
    status, words = health()
    assert (status, words.split(":")[0]) == ("fail", ID)
    assert "PLUGIN_T0_REFUSED" in words


def test_from_a_template_to_a_call(package: Path) -> None:
    tried = ok("plugins", "test", package.parent / "hello", OPERATION)
    assert json.loads(tried.stdout) == {"hi": True}

    refused = call("plugins", "install", package)
    assert refused.code == 3
    assert b"PLUGIN_T0_REFUSED" in refused.stderr
    assert b"--allow-unsigned" in refused.stderr

    ok("plugins", "install", package, "--allow-unsigned")
    assert json.loads(ok("plugins", "run", ID, OPERATION).stdout) == {"hi": True}
    view = document("plugins", "list")["plugins"][0]
    assert (view["plugin"], view["tier"], view["state"]) == (ID, "T0", "ready")

    ok("plugins", "remove", ID)
    assert document("plugins", "list")["plugins"] == []
    gone = call("plugins", "run", ID, OPERATION)
    assert gone.code == 1
    assert b"PLUGIN_UNKNOWN" in gone.stderr


def test_two_packings_are_one_archive(package: Path, tmp_path: Path) -> None:
    ok("plugins", "pack", tmp_path / "hello", "--out", tmp_path / "again.aiiospkg")

    assert package.read_bytes() == (tmp_path / "again.aiiospkg").read_bytes()


def test_signing_pinning_and_revoking_with_keys_of_ones_own(package: Path, places: Path) -> None:
    ok("plugins", "sign", package, "--publisher", "example.org")
    keys = places / "data/plugins/keys"
    status = keys / "aiii_plugin_publisher_certifier_status.json"
    assert b"TRUST_ROOT_UNAVAILABLE" in call("plugins", "verify", package).stderr

    assert call("plugins", "trust", "add", keys / "certifier.public.json").code == 64
    ok("plugins", "trust", "add", keys / "certifier.public.json", "--fast")
    assert b"REVOCATION_STATUS_UNAVAILABLE" in call("plugins", "verify", package).stderr
    ok("plugins", "trust", "status", status)
    assert document("plugins", "verify", package)["tier"] == "T1"
    ok("plugins", "install", package)

    old = status.read_bytes()
    ok("plugins", "trust", "revoke", package)
    ok("plugins", "trust", "status", status)
    ran = call("plugins", "run", ID, OPERATION)
    assert ran.code == 3
    assert b"TRUST_PAYLOAD_REVOKED" in ran.stderr
    status.write_bytes(old)
    assert b"rollback" in call("plugins", "trust", "status", status).stderr
    assert call("plugins", "doctor").code == 3

    root = document("plugins", "trust", "list")["roots"][0]
    assert root["trust_epoch"] == 2
    ok("plugins", "trust", "remove", root["key_id"])
    assert b"TRUST_ROOT_UNAVAILABLE" in call("plugins", "run", ID, OPERATION).stderr


def test_an_accepted_epoch_stands_in_the_ledger_of_an_identity(package: Path, places: Path) -> None:
    laws = places / "laws.txt"
    laws.write_text("Say what is so.")
    ok("ledger", "init", "--domain", "example.org", "--laws", laws)
    ok("plugins", "sign", package, "--publisher", "example.org")
    keys = places / "data/plugins/keys"
    ok("plugins", "trust", "add", keys / "certifier.public.json", "--fast")

    ok("plugins", "trust", "status", keys / "aiii_plugin_publisher_certifier_status.json")

    shown = ok("ledger", "show", "--type", "trust.epoch_accepted", "--json")
    root = document("plugins", "trust", "list")["roots"][0]["key"]
    assert root.encode() in shown.stdout


def installed(tmp_path: Path, recipe: Recipe) -> None:
    path = tmp_path / "made.aiiospkg"
    path.write_bytes(recipe.packed())
    ok("plugins", "install", path, "--allow-unsigned")


def test_a_grant_counts_at_once_and_so_does_its_end(tmp_path: Path) -> None:
    recipe = Recipe(module=guests.caller([request("kv.list")]), capabilities=("ring4.kv",))
    installed(tmp_path, recipe)

    def said() -> str:
        reply = json.loads(ok("plugins", "run", recipe.plugin, "core.echo").stdout)[0]
        return "denied" if "error" in reply else "done"

    assert said() == "denied"
    ok("plugins", "grant", recipe.plugin, "ring4.kv")
    assert said() == "done"
    assert call("plugins", "grant", recipe.plugin, "fleet.read").code == 64
    ok("plugins", "revoke", recipe.plugin)
    assert said() == "denied"
    outcomes = [one["outcome"] for one in document("plugins", "log")["receipts"]]
    assert outcomes == ["POLICY_DENY", "ok", "POLICY_DENY"]


def test_a_plugin_asks_the_fleet_and_proposes_to_the_queue(
    tmp_path: Path, fleet: FleetBuilder
) -> None:
    project = fleet.project("shop")
    project.fact("parser", f"The parser is written by hand. {TOKEN}")
    ok("roots", "add", fleet.root)
    asks = ("fleet.read", "agent.propose")
    recipe = Recipe(
        module=guests.caller(
            [
                request("fleet.search", arguments={"query": "parser"}),
                request("agent.observe", arguments={"observations": ["parsers are by hand"]}),
            ]
        ),
        capabilities=asks,
    )
    installed(tmp_path, recipe)
    ok("plugins", "grant", recipe.plugin, *asks)

    replies = json.loads(ok("plugins", "run", recipe.plugin, "core.echo").stdout)

    hits = replies[0]["result"]["operation_result"]["hits"]
    assert hits[0]["project"].startswith("shop")
    assert TOKEN not in json.dumps(hits)
    assert document("plugins", "proposals")["proposals"][0]["text"] == "parsers are by hand"
    assert document("plugins", "proposals", "--drop")["dropped"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("plugins", "run", ID, OPERATION, "no json"), 64),
        (("plugins", "run", ID, OPERATION, "[1]"), 64),
        (("plugins", "verify", "nowhere.aiiospkg"), 64),
        (("plugins", "new", ".", "--id", ID), 1),
        (("plugins", "new", "x", "--id", "NO NAME"), 1),
        (("plugins", "new", "x", "--id", ID, "--lang", "cobol"), 64),
        (("plugins", "build", "."), 1),
        (("plugins", "pack", "."), 3),
        (("plugins", "grant", ID), 64),
        (("plugins", "trust", "add", "nowhere.json"), 64),
        (("plugins", "trust", "remove", "nobody"), 64),
    ],
)
def test_bad_input_has_a_code(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    done = call(*arguments, current=tmp_path)

    assert done.code == code, done.stderr
    assert done.stdout == b""


def test_a_policy_that_is_wrong_names_its_line(places: Path, package: Path) -> None:
    (places / "config").mkdir()
    (places / "config/plugins.toml").write_text('unsigned = "refuse"\n\n[[grant]]\nplugi = "a.b"\n')

    done = call("plugins", "verify", package)

    assert done.code == 1
    assert b"plugins.toml line 4" in done.stderr


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_agents_see_operations_only_where_the_person_offers_them(
    tmp_path: Path, person: Any
) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    recipe = Recipe(
        module=guests.saying(
            b'{"jsonrpc":"2.0","id":"h1","result":{"status":"ok","operation_result":'
            b'"key ' + TOKEN.encode() + b'"}}'
        ),
        operation={**Recipe().operation, "input": schema},
    )
    installed(tmp_path, recipe)
    served = ServedPerson(person=person)
    name = "plugin_org_example_echo__core_echo"

    async def names() -> list[str]:
        async with Client(make_application(lambda: served)) as client:
            listed = (await client.list_tools()).tools
            text = json.dumps(
                [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed]
            )
            assert len(text) <= MAX_DEFINITIONS_CHARS
            return [one.name for one in listed]

    assert name not in await names()
    ok("plugins", "grant", recipe.plugin, "--tools")
    assert await names() == [*(await names())[:6], name]

    async with Client(make_application(lambda: served)) as client:
        answer = await client.call_tool(name, {"name": "x"})
        assert answer.structured_content is not None
        assert TOKEN not in json.dumps(answer.structured_content)
        wrong = await client.call_tool(name, {"name": 5})
        assert wrong.is_error
        ok("plugins", "revoke", recipe.plugin, "--tools")
        with pytest.raises(Exception, match="unknown tool"):
            await client.call_tool(name, {"name": "x"})
