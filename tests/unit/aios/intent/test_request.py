import json
import os
from pathlib import Path
from typing import get_args

import pytest

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.intent.request import resolve_intent
from agentic_os.aios.intent.tools import Marker, ToolRequest, resolve_tool
from agentic_os.aios.intent.values import IntentResolution, RefusalReason, refusal
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.projects.placement import checkout_of, default_state_path, read_mappings
from agentic_os.aios.projects.repository import selected_repository
from agentic_os.aios.projects.routing import ConventionKind, observe_route, parse_conventions
from agentic_os.aios.projects.values import ProjectIdentity
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from support.aios.builder import SECRET, AiosBuilder, MeddlingLayer, RaisingLayer

DEFERRED = resolve_policy(mode="project", deferred_project=True)
ALPHA = ProjectIdentity(slug="alpha", alias="alpha", id="A1")


class Machine:
    """A folder, a checkout of alpha, and the map that joins them."""

    def __init__(self, aios: AiosBuilder, base: Path) -> None:
        self.aios = aios
        self.checkout = base / "code/alpha"
        self.checkout.mkdir(parents=True)
        self.state = base / "data/aios/projects.json"
        self.map(A1=self.checkout)

    def map(self, **paths: Path) -> None:
        entries = {}
        for project_id, path in paths.items():
            found = path.stat()
            identity = {"type": "directory", "dev": str(found.st_dev), "ino": str(found.st_ino)}
            entries[project_id] = {"path": str(path), "root_identity": identity}
        self.write({"version": 1, "paths": entries})

    def write(self, document: object) -> None:
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.state.write_text(json.dumps(document))

    def access(self, **changes: object) -> AiosAccess:
        return self.aios.access(**{"state_path": self.state, **changes})

    def resolve(self, intent: str = "cut a release", **options: object) -> IntentResolution:
        access = options.pop("access", None) or self.access()
        policy = options.pop("policy", DEFERRED)
        return resolve_intent(access, policy, intent=intent, **options)  # type: ignore[arg-type]  # by name

    def git(self, remote: str) -> None:
        (self.checkout / ".git").mkdir()
        (self.checkout / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (self.checkout / ".git/config").write_text(f'[remote "origin"]\n\turl = {remote}\n')


@pytest.fixture
def machine(full: AiosBuilder, tmp_path: Path) -> Machine:
    return Machine(full, tmp_path)


def reason(answer: IntentResolution) -> str:
    assert answer.status == "refused"
    assert answer.location is None
    assert answer.recovery
    return answer.next_action.summary


def test_a_matched_intent(machine: Machine) -> None:
    (machine.checkout / "AGENTS.md").write_text("# Rules\n")
    (machine.checkout / "skills/own").mkdir(parents=True)
    (machine.checkout / "skills/own/SKILL.md").write_text("x")
    answer = machine.resolve(project="alpha", conventions=("agents-md",))
    document = json.loads(answer.text())
    assert list(document) == [
        "schema",
        "status",
        "project",
        "project_route",
        "memory",
        "skill",
        "omissions",
        "recovery",
        "next_action",
        "budget",
        "location",
    ]
    assert document["schema"] == "dotaios.intent-resolution/v1"
    assert document["status"] == "matched"
    assert document["project"] == {
        "id": "A1",
        "slug": "alpha",
        "name": "Alpha",
        "purpose": "The first project.",
        "identity": "verified",
    }
    assert document["project_route"] == {
        "status": "ready",
        "advisory": True,
        "fresh_context_required": True,
        "conventions": [
            {"kind": "agents-md", "resource": "AGENTS.md"},
            {"kind": "repository-skill", "resource": "skills/own/SKILL.md"},
        ],
        "supported": [{"kind": "agents-md", "resource": "AGENTS.md"}],
    }
    assert document["memory"]["receipt"] == "Memory: This project"
    assert document["memory"]["scope"] == "alpha"
    assert "two reviews" in document["memory"]["context"]
    assert document["skill"]["resource"] == "skills/ship/SKILL.md"
    assert document["omissions"] == [
        "supplemental_project_sources_not_requested",
        "project_native_execution_not_started",
    ]
    assert document["next_action"]["state"] == "approval_required"
    assert document["budget"]["used"] == utf16_length(answer.text()) <= 8000
    assert document["location"] == str(machine.checkout)


def test_the_checkout_of_the_working_directory(machine: Machine, tmp_path: Path) -> None:
    inside = machine.checkout / "src"
    inside.mkdir()
    assert machine.resolve(cwd=inside).project is not None
    assert reason(machine.resolve(cwd=tmp_path)) == "detached_directory"
    assert reason(machine.resolve()) == "detached_directory"
    machine.map(A1=machine.checkout, B2=inside)
    assert reason(machine.resolve(cwd=inside)) == "ambiguous_directory"


def test_selection(machine: Machine) -> None:
    assert reason(machine.resolve(project="nobody")) == "unknown_project"
    assert reason(machine.resolve(project="beta")) == "project_identity_unverified"
    machine.aios.project("gamma", id="G", project="alpha")
    assert reason(machine.resolve(project="alpha")) == "ambiguous_project"
    assert machine.resolve(project="A1").project is not None


def test_shared_memory_in_a_resolution(machine: Machine) -> None:
    answer = machine.resolve(project="alpha", policy=resolve_policy(mode="shared"))
    assert answer.memory.scope is None
    assert "### Identity" in answer.memory.context


@pytest.mark.parametrize("budget", [1024, 1200, 1600, 2200, 3000, 32_000])
def test_the_budget_holds(machine: Machine, budget: int) -> None:
    machine.aios.project("alpha", 'quote " and \\ back\n\n' * 80, id="A1", description="d")
    answer = machine.resolve(project="alpha", budget=budget)
    assert answer.used == utf16_length(answer.text()) <= budget
    if answer.status == "refused":
        assert reason(answer) == "fixed_envelope_exceeds_budget"
        assert budget <= 1600
    else:
        assert ("project_context_truncated" in answer.omissions) == answer.truncated


def test_skills_that_do_not_decide(machine: Machine) -> None:
    none = machine.resolve("zzz", project="alpha")
    assert (none.status, none.skill.status) == ("partial", "no_match")
    assert "governing_skill_no_match" in none.omissions
    assert none.next_action.state == "approval_required"
    machine.aios.skill("ship2", "Prepare a release and publish it.", "cut a release")
    both = machine.resolve(project="alpha")
    assert (both.status, both.skill.status) == ("partial", "ambiguous")
    assert both.next_action.state == "clarification_required"
    candidates = both.skill.as_json()["candidates"]
    assert isinstance(candidates, list)
    assert [list(c) for c in candidates if isinstance(c, dict)] == [
        ["name", "resource", "score"]
    ] * 2


def test_a_tool_request(machine: Machine) -> None:
    request = ToolRequest(capability="google.gmail.search", query="invoices")
    answer = machine.resolve(project="alpha", tool=request)
    document = json.loads(answer.text())
    assert "project_route" not in document
    assert document["tool"] == {
        "status": "matched",
        "capability": "google.gmail.search",
        "connection": "google-workspace",
        "configured": True,
        "authenticated": "unknown",
        "argv_suffix": ["google", "gmail", "search", "--query", "invoices", "--json"],
    }
    refused = machine.resolve(project="alpha", tool=ToolRequest(capability="google.gmail.send"))
    assert refused.status == "partial"
    assert "configured_tool_refused" in refused.omissions
    assert refused.next_action.state == "clarification_required"
    (machine.aios.root / "connections/apis/google-workspace.md").unlink()
    missing = machine.resolve("zzz", project="alpha", tool=request)
    assert "configured_tool_no_match" in missing.omissions
    assert missing.next_action.state == "clarification_required"
    elsewhere = machine.resolve(project="nobody", tool=request)
    assert json.loads(elsewhere.text())["tool"]["status"] == "not_evaluated"


def test_the_registered_remote_must_be_the_checkouts(machine: Machine) -> None:
    machine.git("https://github.com/O/Alpha")
    assert machine.resolve(project="alpha").project is not None
    (machine.checkout / ".git/config").write_text('[remote "origin"]\n\turl = https://h/o/other\n')
    assert reason(machine.resolve(project="alpha")) == "project_identity_unverified"
    machine.aios.project("alpha", id="A1")
    assert machine.resolve(project="alpha").project is not None


def test_authorities_that_cannot_be_read(machine: Machine) -> None:
    machine.aios.write("skills/open/SKILL.md", "---\nname: x\n")
    assert reason(machine.resolve(project="alpha")) == "local_authority_unreadable"
    machine.aios.write("skills/open/SKILL.md", "x")
    for number in range(65):
        (machine.checkout / f".agents/skills/s{number}").mkdir(parents=True)
    assert reason(machine.resolve(project="alpha")) == "project_identity_unverified"


def test_a_context_that_cannot_be_read(machine: Machine) -> None:
    machine.aios.write("memory/events.jsonl", b"\xff")
    assert reason(machine.resolve(project="alpha")) == "project_context_unreadable"


def test_a_catalog_that_changes_meanwhile(machine: Machine) -> None:
    layer = MeddlingLayer(
        ("stamp", "AGENTS.md"), lambda: machine.aios.write("memory/events.jsonl", b"\xff")
    )
    answer = machine.resolve(project="alpha", access=machine.access(files=layer))
    assert reason(answer) == "project_context_unreadable"
    changing = MeddlingLayer(
        ("read", "README.md"), lambda: machine.aios.project("alpha", id="A1", project="x"), skip=1
    )
    answer = machine.resolve(project="A1", access=machine.access(files=changing))
    assert reason(answer) == "project_catalog_changed"


def test_a_missing_folder_is_an_error(machine: Machine) -> None:
    (machine.aios.root / "aios.json").unlink()
    with pytest.raises(AiosError) as caught:
        machine.resolve(project="alpha")
    assert caught.value.code == "DOTAIOS_FOLDER_MISSING"


@pytest.mark.parametrize(
    "options",
    [
        {"intent": ""},
        {"intent": " x"},
        {"intent": "a\nb"},
        {"intent": "x" * 1001},
        {"budget": 1023},
        {"budget": 32_001},
    ],
)
def test_arguments(machine: Machine, options: dict[str, object]) -> None:
    with pytest.raises(AiosError) as caught:
        machine.resolve(**{"project": "alpha", **options})  # type: ignore[arg-type]  # by name
    assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


def test_secrets_of_a_readme_stay_out(machine: Machine) -> None:
    machine.aios.project("alpha", "x", id="A1", name=f"N {SECRET}", description=f"D {SECRET}")
    machine.aios.skill("leaky", "cut a release", f"cut a release {SECRET}")
    answer = machine.resolve(project="A1")
    assert SECRET not in answer.text()
    assert answer.project is not None
    assert (answer.project.name, answer.project.purpose) == ("alpha", None)
    assert answer.skill.name == "ship"


@pytest.mark.parametrize("tool", [None, ToolRequest(capability="x")])
@pytest.mark.parametrize("budget", [1024, 8000])
def test_off_touches_nothing(tool: ToolRequest | None, budget: int) -> None:
    access = AiosAccess(root=Path("/nowhere"), files=RaisingLayer(), state_path=Path("/x/y"))
    answer = resolve_intent(
        access, resolve_policy(mode="off"), intent="x", tool=tool, budget=budget
    )
    assert answer.next_action.state == "memory_off"
    assert answer.memory.notice
    assert utf16_length(answer.text()) == answer.used <= budget


def test_the_map_of_checkouts(machine: Machine, tmp_path: Path) -> None:
    def status(mapping: object) -> str:
        machine.write({"version": 1, "paths": {"A1": mapping}})
        return checkout_of(machine.access(), ALPHA, read_mappings(machine.access())).status

    good = {"type": "directory", "dev": "1", "ino": "1"}
    assert status(None) == "unmapped"
    assert status("/legacy") == "legacy"
    invalid: object
    for invalid in (
        [],
        {},
        {"path": "relative", "root_identity": good},
        {"path": "/a\0", "root_identity": good},
        {"path": "/a", "root_identity": {"type": "file", "dev": "1", "ino": "1"}},
        {"path": "/a", "root_identity": {"type": "directory", "dev": 1, "ino": "1"}},
        {"path": "/a", "root_identity": {"type": "directory", "dev": "x", "ino": "1"}},
    ):
        assert status(invalid) == "invalid"
    assert status({"path": str(tmp_path / "none"), "root_identity": good}) == "unavailable"
    assert status({"path": str(machine.checkout), "root_identity": good}) == "changed"
    link = tmp_path / "link"
    link.symlink_to(machine.checkout)
    assert status({"path": str(link), "root_identity": good}) == "unavailable"
    assert status({"path": "a" * 5000, "root_identity": good}) == "invalid"
    assert status({"path": "/" + "a" * 5000, "root_identity": good}) == "unavailable"


def test_a_checkout_inside_the_folder_must_be_its_workspace(machine: Machine) -> None:
    inside = machine.aios.root / "workspaces/alpha"
    for path, verified in ((inside, True), (machine.aios.root / "elsewhere", False)):
        path.mkdir(parents=True)
        machine.map(A1=path)
        found = checkout_of(machine.access(), ALPHA, read_mappings(machine.access()))
        assert found.verified is verified
    without_id = ProjectIdentity(slug="x", alias="x", id=None)
    assert checkout_of(machine.access(), without_id, {}).status == "unmapped"


def test_maps_that_are_not_valid(machine: Machine, tmp_path: Path) -> None:
    def code(**access: object) -> str:
        with pytest.raises(AiosError) as caught:
            read_mappings(machine.access(**access))
        return caught.value.code

    invalid = "DOTAIOS_PROJECT_STATE_INVALID"
    document: object
    for document in ([], {"version": 2}, {"paths": []}):
        machine.write(document)
        assert code() == invalid
    machine.state.write_text("{")
    assert code() == invalid
    machine.state.unlink()
    assert read_mappings(machine.access()) == {}
    os.mkfifo(machine.state)
    assert code() == invalid
    assert code(state_path=machine.aios.root / "map.json") == invalid
    (tmp_path / "into").symlink_to(machine.aios.root / "memory")
    assert code(state_path=tmp_path / "into/map.json") == invalid
    assert read_mappings(machine.access(state_path=tmp_path / "none/map.json")) == {}
    assert read_mappings(machine.access(state_path=None)) == {}
    assert default_state_path(tmp_path) == tmp_path / "aios/projects.json"


def test_conventions(machine: Machine) -> None:
    route = observe_route(machine.access(), machine.checkout, ("claude-md",))
    assert (route.status, route.conventions) == ("no_convention", ())
    (machine.checkout / "AGENTS.md").write_text("x")
    (machine.checkout / "CLAUDE.md").symlink_to("AGENTS.md")
    for name in ("good", ".hidden", "bad name"):
        folder = machine.checkout / ".agents/skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("x")
    (machine.checkout / ".agents/skills/empty").mkdir()
    route = observe_route(machine.access(), machine.checkout, ("claude-md",))
    assert route.status == "unsupported_by_host"
    assert [convention.resource for convention in route.conventions] == [
        "AGENTS.md",
        ".agents/skills/good/SKILL.md",
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (None, ()),
        ("agents-md", ("agents-md",)),
        ("claude-md,agents-md", ("claude-md", "agents-md")),
    ],
)
def test_supported_conventions(text: str | None, kinds: tuple[ConventionKind, ...]) -> None:
    assert parse_conventions(text) == kinds


@pytest.mark.parametrize(
    "text", ["", "agents-md,", "agents-md,agents-md", "cursor", "agents-md, x"]
)
def test_unsupported_conventions(text: str) -> None:
    with pytest.raises(AiosError) as caught:
        parse_conventions(text)
    assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


@pytest.mark.parametrize(
    ("request_", "marker", "status", "detail"),
    [
        (ToolRequest(capability="google.gmail.inbox"), "configured", "matched", None),
        (
            ToolRequest(capability="google.gmail.read", message_id="a-1"),
            "configured",
            "matched",
            None,
        ),
        (
            ToolRequest(capability="google.calendar.prep", date_window="week"),
            "configured",
            "matched",
            None,
        ),
        (ToolRequest(capability="google.drive.list", page_size=100), "configured", "matched", None),
        (ToolRequest(capability=""), "configured", "refused", "invalid_capability"),
        (ToolRequest(capability=" x"), "configured", "refused", "invalid_capability"),
        (ToolRequest(capability="a\0"), "configured", "refused", "invalid_capability"),
        (ToolRequest(capability="x" * 101), "configured", "refused", "invalid_capability"),
        (ToolRequest(capability="google.gmail.inbox"), "unsafe", "refused", "unsafe_configuration"),
        (
            ToolRequest(capability="google.drive.delete"),
            "configured",
            "refused",
            "write_capability_refused",
        ),
        (ToolRequest(capability="slack.read"), "configured", "no_match", "unsupported_capability"),
        (
            ToolRequest(capability="google.gmail.inbox"),
            "missing",
            "no_match",
            "connection_not_configured",
        ),
        (
            ToolRequest(capability="google.gmail.inbox", query="x"),
            "configured",
            "refused",
            "extra_parameters_refused",
        ),
        (
            ToolRequest(capability="google.gmail.search"),
            "configured",
            "refused",
            "required_parameter_missing",
        ),
        (
            ToolRequest(capability="google.gmail.search", query="--x"),
            "configured",
            "refused",
            "invalid_query",
        ),
        (
            ToolRequest(capability="google.drive.find", query="a\nb"),
            "configured",
            "refused",
            "invalid_query",
        ),
        (
            ToolRequest(capability="google.gmail.read", message_id="-x"),
            "configured",
            "refused",
            "invalid_message_id",
        ),
        (
            ToolRequest(capability="google.calendar.agenda", date_window="year"),
            "configured",
            "refused",
            "invalid_date_window",
        ),
        (
            ToolRequest(capability="google.drive.list", page_size=101),
            "configured",
            "refused",
            "invalid_page_size",
        ),
    ],
)
def test_the_closed_table_of_tools(
    request_: ToolRequest, marker: Marker, status: str, detail: str | None
) -> None:
    found = resolve_tool(request_, marker)
    assert (found.status, found.reason) == (status, detail)
    assert found.as_json()["authenticated"] == "unknown"
    assert ("argv_suffix" in found.as_json()) == (status == "matched")


def test_a_marker_that_is_no_file(machine: Machine) -> None:
    marker = machine.aios.root / "connections/apis/google-workspace.md"
    request = ToolRequest(capability="google.gmail.inbox")
    marker.unlink()
    marker.mkdir()
    assert machine.resolve(project="alpha", tool=request).text().count("unsafe_configuration") == 1
    marker.rmdir()
    marker.parent.rmdir()
    marker.parent.symlink_to(machine.checkout)
    assert machine.resolve(project="alpha", tool=request).text().count("unsafe_configuration") == 1


def test_the_repository_of_the_selected_project(full: AiosBuilder) -> None:
    assert selected_repository(full.access(), resolve_policy(project="A1")) == "github.com/o/alpha"
    assert selected_repository(full.access(), resolve_policy(project="beta")) is None
    assert selected_repository(full.access(), resolve_policy()) is None
    with pytest.raises(AiosError) as caught:
        selected_repository(full.access(), resolve_policy(project="nobody"))
    assert caught.value.code == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"


def test_every_refusal_fits_into_the_smallest_budget() -> None:
    for each in get_args(RefusalReason):
        for tool in (False, True):
            answer = refusal(DEFERRED, each, budget=1024, tool=tool)
            assert utf16_length(answer.text()) == answer.used <= 1024
