"""Every page in a real browser: what it shows, that it can be used by keys alone, and that hostile
text stays text. A violation of the policy, an error on the console, or a request to another host
fails each of these tests.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Request, expect, sync_playwright
from playwright.sync_api import Page as Tab

from agentic_os.tiers.graph.picture import CROSS
from support.fleet.builder import FleetBuilder
from support.graph.builder import GRAPH, graph_of
from support.graph.code import pyproject
from support.process.page import Page, served

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[3]
PAGES = (
    "/",
    "/search?q=lighthouse",
    "/memory",
    "/capabilities",
    "/instructions",
    "/graph",
    "/aios?memory=off",
    "/identity",
    "/health?status=all",
)
CODE = {
    "lib": {
        "pyproject.toml": pyproject("fancy"),
        "fancy/__init__.py": "def load(): ...\n\ndef load_all(): ...\n",
    },
    "app": {
        "pyproject.toml": pyproject("app", "fancy"),
        "app.py": "import fancy\n\ndef main():\n    fancy.load()\n",
    },
}
EVIL = (
    '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script>'
    '<svg onload="window.__pwned=1"></svg> [link](javascript:window.__pwned=1) \u202eexe.gnp'
)
WAIT_MILLISECONDS = 60_000
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None
)
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


class Watched:
    """A tab whose every fault is kept."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        self.tab: Tab = context.new_page()
        self.tab.set_default_timeout(WAIT_MILLISECONDS)
        self.tab.on("console", self._console)
        self.tab.on("pageerror", lambda fault: self.faults.append(f"error: {fault}"))
        self.tab.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        # A document that is refused (no AIOS folder, say) is an answer, and the browser logs it.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.faults.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.page.address, "data:")):
            self.faults.append(f"asked {request.url}")

    def open(self, path: str) -> Tab:
        self.tab.goto(self.page.address + path)
        self.tab.locator("h1").wait_for()
        expect(self.tab.locator(".wait")).to_have_count(0, timeout=WAIT_MILLISECONDS)
        return self.tab


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    assert CHROMIUM is not None, ".ci/services installs chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(fleet: FleetBuilder) -> Iterator[Page]:
    for name, words in (("shop", "20/s"), ("till", "40/s")):
        project = fleet.project(name)
        project.fact("rate", f"- **Rate limit**: {words}\n\nThe lighthouse answers.\n")
        project.fact("same", "The same lighthouse in both.\n")
        project.write("AGENTS.md", f"# Rules\n\n- **Line length**: {words[:2]}\n")
        project.capabilities(skills={f"steer-{name}": "Steers", "deploy": f"Deploys a {name}"})
    fleet.project("shop").write("CLAUDE.md", "Other words.\n")
    for name, files in CODE.items():
        coded = fleet.project(name, "obsidian-graphify")
        for path, text in files.items():
            coded.write(path, text)
        coded.write(GRAPH, json.dumps(graph_of(files)))
    evil = fleet.project("evil")
    evil.fact("evil", f"lighthouse {EVIL}\n")
    with served(fleet.root) as page:
        yield page


@pytest.fixture
def opened(chromium: Any, page: Page) -> Iterator[Callable[..., Watched]]:
    contexts: list[BrowserContext] = []
    tabs: list[Watched] = []

    def make(**options: Any) -> Watched:
        assert tabs == [], "the code logs one browser in"
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        watched = Watched(context, page)
        tabs.append(watched)
        watched.tab.goto(f"{page.address}/login#{page.code}")
        watched.tab.wait_for_url(f"{page.address}/")
        assert page.code not in watched.tab.url
        return watched

    yield make
    for watched in tabs:
        assert watched.faults == []
        assert watched.tab.evaluate("() => window.__pwned") is None
    for context in contexts:
        context.close()


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_accessible_in_light_and_dark(
    opened: Callable[..., Watched], path: str
) -> None:
    axe = (ROOT / "web/node_modules/axe-core/axe.min.js").read_text("utf-8")
    watched = opened(color_scheme="light", bypass_csp=True)
    for scheme in ("light", "dark"):
        watched.tab.emulate_media(color_scheme=scheme)
        tab = watched.open(path)
        tab.evaluate(axe)
        found = tab.evaluate("() => axe.run()")["violations"]
        faults = [(item["id"], [node["html"] for node in item["nodes"]]) for item in found]
        assert faults == [], (path, scheme)
        assert tab.title().endswith("· agentic-os")


def test_a_page_is_readable_on_a_phone_and_at_any_width(opened: Callable[..., Watched]) -> None:
    watched = opened(viewport={"width": 320, "height": 640})
    for width in (320, 1024, 3840):
        watched.tab.set_viewport_size({"width": width, "height": 700})
        for path in PAGES:
            tab = watched.open(path)
            wide = tab.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, (path, width)


def test_search_as_one_types_by_keys_alone(opened: Callable[..., Watched]) -> None:
    watched = opened()
    tab = watched.open("/search")
    tab.keyboard.type("lighthouse")
    tab.locator(".hit").first.wait_for()
    assert "q=lighthouse" in tab.url
    assert tab.locator("mark").first.inner_text().lower() == "lighthouse"
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("() => document.activeElement.className") == "title"
    name = tab.evaluate("() => document.activeElement.textContent")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/file?**")
    tab.locator("tr.chosen").wait_for()
    assert tab.locator("table.code").inner_text()
    tab.go_back()
    tab.locator(".hit").first.wait_for()
    assert tab.locator("#question").input_value() == "lighthouse"
    assert name
    tab.keyboard.press("/")
    assert tab.evaluate("() => document.activeElement.id") == "question"


def test_a_facet_narrows_and_why_is_said(opened: Callable[..., Watched]) -> None:
    watched = opened()
    tab = watched.open("/search?q=lighthouse")
    tab.locator(".hit").first.wait_for()
    every = tab.locator(".hit").count()
    tab.locator("aside fieldset").last.locator("button").first.click()
    tab.locator('button[aria-pressed="true"]').wait_for()
    tab.locator(".stale").wait_for(state="detached")
    assert "project=" in tab.url
    assert 0 < tab.locator(".hit").count() < every
    tab.locator(".why summary").first.click()
    assert "Read again" in tab.locator(".why").first.inner_text()


def test_hostile_text_is_shown_as_text(opened: Callable[..., Watched]) -> None:
    watched = opened()
    for path in ("/search?q=lighthouse", "/memory", "/"):
        tab = watched.open(path)
        assert tab.locator("main img, main script, main svg[onload]").count() == 0
    tab = watched.open("/search?q=lighthouse")
    tab.locator(".hit").first.wait_for()
    assert "<script>window.__pwned=1</script>" in tab.locator(".hits").inner_text()
    assert "\u202e" not in tab.locator("main").inner_text()
    assert tab.locator('a[href^="javascript"]').count() == 0


def test_differences_stand_side_by_side(opened: Callable[..., Watched]) -> None:
    tab = opened().open("/memory")
    sides = tab.locator(".difference .sides").first.locator(".value").all_inner_texts()
    assert sorted(sides) == ["20/s", "40/s"]
    assert tab.locator(".difference").count() >= 2


def test_what_a_link_stands_for_is_shown_by_a_click_and_by_keys_alone(
    opened: Callable[..., Watched],
) -> None:
    tab = opened().open("/graph")
    row = tab.locator("tr", has_text="projects").filter(has_text="lib").first
    row.wait_for()
    row.get_by_role("button", name="Show").focus()
    tab.keyboard.press("Enter")
    evidence = tab.locator(".evidence")
    evidence.locator("tbody tr").first.wait_for()
    by_keys = evidence.locator("table").inner_text()
    assert "fancy/__init__.py" in by_keys
    assert "app.py" in by_keys
    evidence.get_by_role("button", name="Close").click()
    evidence.wait_for(state="detached")

    # In the picture: the middle of a link, from where the camera puts the whole graph.
    tab.evaluate("() => new Promise((done) => setTimeout(done, 500))")
    tab.locator(".picture").scroll_into_view_if_needed()
    box = tab.locator(".picture").bounding_box()
    assert box is not None
    view = tab.evaluate("async () => (await (await fetch('/api/graph-view')).json()).data")
    extent, marks = view["extent"], view["marks"]
    a, b = next(link[:2] for link in view["links"] if link[3] & CROSS)
    middle = ((marks[a][at] + marks[b][at]) / 2 for at in (1, 2))
    wide, high = extent["x1"] - extent["x0"], extent["y1"] - extent["y0"]
    scale = 0.92 * min(box["width"] / wide, box["height"] / high)
    x, y = (
        start + length / 2 + (place - (extent[f"{axis}0"] + extent[f"{axis}1"]) / 2) * scale
        for start, length, place, axis in zip(
            (box["x"], box["y"]), (box["width"], box["height"]), middle, "xy", strict=True
        )
    )
    tab.mouse.click(x, y)
    evidence.locator("tbody tr").first.wait_for()
    assert "fancy/__init__.py" in evidence.inner_text()
    tab.locator(".picture").focus()
    tab.keyboard.press("Escape")
    evidence.wait_for(state="detached")


def test_a_drag_moves_the_picture_and_asks_for_what_it_shows(
    opened: Callable[..., Watched],
) -> None:
    tab = opened().open("/graph")
    tab.locator("h3", has_text="Links of the view").wait_for()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    before = tab.locator(".picture").screenshot()
    box = tab.locator(".picture").bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 300, box["y"] + 200)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 340, box["y"] + 230, steps=8)
    tab.mouse.up()
    tab.evaluate("() => new Promise((done) => setTimeout(done, 800))")

    assert tab.locator(".picture").screenshot() != before
    assert any("graph-view" in url for url in asked)


def test_instructions_and_the_matrix_of_kinds(opened: Callable[..., Watched]) -> None:
    tab = opened().open("/instructions")
    sides = tab.locator(".difference").first
    sides.wait_for()
    assert "Line length" in sides.inner_text()
    assert {"AGENTS.md:3"} == {
        text.rpartition(" ")[2] for text in sides.locator("li").all_inner_texts()
    }
    drift = tab.get_by_role("region", name="Drift inside a repository")
    assert "AGENTS.md and CLAUDE.md differ" in drift.inner_text()
    matrix = tab.get_by_role("region", name="Harnesses by project")
    assert "AGENTS.md" in matrix.inner_text()
    tab.get_by_label("Filter").fill("till")
    expect(matrix.locator("tbody tr")).to_have_count(1)
    tab.get_by_role("link", name="Capabilities").click()
    kinds = tab.get_by_role("region", name="Kinds by project")
    kinds.wait_for()
    assert "skill" in kinds.inner_text()
    assert kinds.locator("tbody tr").count() >= 2


def test_an_edit_is_on_the_open_page_by_itself(
    opened: Callable[..., Watched], fleet: FleetBuilder
) -> None:
    tab = opened().open("/search?q=zanzibar")
    assert "Nothing was found" in tab.locator("main").inner_text()
    fleet.project("shop").fact("fresh", "zanzibar\n")
    tab.locator(".hit").first.wait_for()


def test_a_browser_that_is_not_logged_in_is_told_how(chromium: Any, page: Page) -> None:
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(page.address + "/search")
    tab.locator("#said", has_text="Open the address").wait_for()
    tab.goto(f"{page.address}/login#wrong")
    tab.locator("#said", has_text="used already").wait_for()
    context.close()


def test_it_prints(opened: Callable[..., Watched], tmp_path: Path) -> None:
    tab = opened().open("/memory")
    tab.emulate_media(media="print")
    assert not tab.locator("header.top").is_visible()
    printed = tmp_path / "memory.pdf"
    tab.pdf(path=printed)
    assert printed.read_bytes().startswith(b"%PDF")
