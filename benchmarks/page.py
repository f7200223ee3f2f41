"""The page's budgets in a real browser, drawn in software. Prints Markdown.

Needs Chromium (Debian's) and playwright. Absolute times say what this machine did; the share of a
bare page of the same server and browser, taken in the same run, is what compares.
"""

import argparse
import gzip
import http.client
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measure import environment
from playwright.sync_api import Page, sync_playwright
from synthetic_fleet import write_fleet

from agentic_os.web.shells import read_build

ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/login#(\S+)")
FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
WORDS = ("retry policy", "rate limit", "the deploy", "owner of the queue")
FRAMES = 40
MOST_MILLISECONDS = 900_000
"""A first look at a million nodes of code graphs takes minutes."""
FIRST_PAINT = """
() => new Promise((done) => new PerformanceObserver((list) => {
  for (const entry of list.getEntriesByName("first-contentful-paint")) done(entry.startTime);
}).observe({ type: "paint", buffered: true }))
"""
TWO_FRAMES = """
() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
"""


# An hour of updates in a few minutes: the server as it is, but for the pause between two looks.
HASTY = """
import sys
from agentic_os.web.live import Watcher
from agentic_os.cli.entry import main
Watcher.__init__.__kwdefaults__["pause"] = 0.02
sys.exit(main(sys.argv[1:]))
"""
UPDATES_AN_HOUR = 1_800
"""One every two seconds: so quickly a change is on the page."""


@contextmanager
def served(
    fleet: Path, home: Path, command: tuple[str, ...] = ("-m", "agentic_os")
) -> Iterator[tuple[str, str, int]]:
    process = subprocess.Popen(
        [sys.executable, *command, "dashboard", "--no-open", "--root", str(fleet)],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if match := ADDRESS.search(line):
                yield match[1], match[2], process.pid
                break
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def sizes() -> None:
    build = read_build()
    script = len(gzip.compress(build.files[build.names["page"]].data, 9))
    style = len(gzip.compress(build.files[build.names["style"]].data, 9))
    print(f"| script and style, compressed | {(script + style) / 1024:.1f} KiB | 40 |")


def painted(page: Page, address: str) -> list[float]:
    """First contentful paint of the search page, several times, in milliseconds."""
    found = []
    for _ in range(7):
        page.goto(f"{address}/search")
        page.locator("h1").wait_for()
        found.append(page.evaluate(FIRST_PAINT))
    return found[1:]


TYPING = """
(key) => new Promise((done) => {
  const field = document.getElementById("question");
  const began = performance.now();
  const watch = new MutationObserver(() => {
    if (document.querySelector(".stale, .wait")) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  });
  const every = { subtree: true, childList: true, attributes: true, characterData: true };
  watch.observe(document.getElementById("page"), every);
  field.value = field.value + key;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  setTimeout(() => done(-1), 5000);
})
"""


def typed(page: Page, address: str) -> list[float]:
    """From a key to painted hits, in milliseconds; the pause of typing is in it."""
    found = []
    for words in WORDS:
        page.goto(f"{address}/search")
        page.locator("#question").wait_for()
        page.locator("#question").fill(words[:2])
        page.locator("ol.hits").wait_for(state="attached")
        page.wait_for_timeout(300)
        for key in words[2:]:
            found.append(page.evaluate(TYPING, key))
            page.wait_for_timeout(150)
    return [value for value in found if value > 0]


PANNING = """
(frames) => new Promise((done) => {
  const picture = document.querySelector(".picture");
  const box = picture.getBoundingClientRect();
  const [left, top] = [box.left, box.top + 100];
  const at = (x) => ({ clientX: left + x, clientY: top, pointerId: 1, bubbles: true });
  picture.setPointerCapture = () => {};
  picture.dispatchEvent(new PointerEvent("pointerdown", at(400)));
  const times = [];
  let last = performance.now();
  const step = (left) => {
    picture.dispatchEvent(new PointerEvent("pointermove", at(400 - (frames - left) * 3)));
    requestAnimationFrame(() => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (left > 0) step(left - 1);
      else { picture.dispatchEvent(new PointerEvent("pointerup", at(0))); done(times); }
    });
  };
  step(frames);
})
"""


def pictured(page: Page, address: str) -> tuple[float, list[float], str]:
    """Seconds to the first picture, milliseconds a frame while panning, what the view holds."""
    began = time.monotonic()
    page.goto(f"{address}/graph")
    summary = page.locator(".picture ~ p[role=status][aria-live]").first
    summary.filter(has_text="project").wait_for()
    page.evaluate(TWO_FRAMES)
    first = time.monotonic() - began
    page.wait_for_timeout(1_000)
    return first, page.evaluate(PANNING, FRAMES)[5:], summary.inner_text()


def memory_of(pid: int) -> float:
    """Resident MiB of a process."""
    text = Path(f"/proc/{pid}/status").read_text("utf-8")
    match = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(match[1]) / 1024 if match else 0.0


def updated(
    page: Page, address: str, fleet: Path, pid: int, edits: int
) -> tuple[float, float, float]:
    """Seconds from an edit to the open page (median), memory before and after so many edits."""
    page.goto(f"{address}/search?q=zanzibar")
    page.locator("h1").wait_for()
    page.wait_for_timeout(2_000)
    project = next(path.parent for path in sorted(fleet.rglob("MEMORY.md")))
    waits, before = [], 0.0
    for number in range(edits):
        (project / "fresh.md").write_text(f"---\nname: fresh\n---\nzanzibar word{number}\n")
        began = time.monotonic()
        page.locator(".hits", has_text=f"word{number}").wait_for(timeout=60_000)
        waits.append(time.monotonic() - began)
        if number == edits // 3:
            before = memory_of(pid)
    return statistics.median(waits), before, memory_of(pid)


def hour(folder: Path, updates: int) -> None:
    """The server's memory over an hour of updates, each seen by a stream and asked for."""
    fleet, home = folder / "hour", folder / "hour-home"
    write_fleet(fleet, projects=50, facts=20)
    home.mkdir()
    project = next(path.parent for path in sorted(fleet.rglob("MEMORY.md")))
    with served(fleet, home, ("-c", HASTY)) as (address, code, pid):
        host = address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("POST", "/login", body=code)
        answer = connection.getresponse()
        cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
        answer.read()
        listening = http.client.HTTPConnection(host, timeout=60)
        listening.request("GET", "/api/events", headers={"Cookie": cookie})
        stream = listening.getresponse()
        seen, taken = [], time.monotonic()
        for number in range(updates):
            (project / "fresh.md").write_text(f"---\nname: fresh\n---\nzanzibar word{number}\n")
            while not stream.readline().startswith(b"data:"):
                pass
            if number % 10 == 0:
                asking = http.client.HTTPConnection(host, timeout=60)
                asking.request("GET", "/api/search?q=zanzibar", headers={"Cookie": cookie})
                assert asking.getresponse().read()
                asking.close()
            seen.append(memory_of(pid))
        taken = time.monotonic() - taken
    part = max(1, updates // 10)
    first, last = statistics.median(seen[part : 2 * part]), statistics.median(seen[-part:])
    said = f"{first:.1f} to {last:.1f} MiB, at most {max(seen):.1f}"
    print(f"| the server's memory over {updates} updates ({taken:.0f} s) | {said} | flat |")


def row(name: str, values: list[float], unit: str, target: str) -> None:
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"| {name} | p50 {statistics.median(ordered):.0f}, p95 {p95:.0f} {unit} | {target} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=1_000)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--updates", type=int, default=UPDATES_AN_HOUR, help="0 for none")
    parser.add_argument("--only-hour", action="store_true", help="measure the memory alone")
    options = parser.parse_args()
    chromium: Any = shutil.which("chromium")
    python = platform.python_version()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {python}, software GL\n")
    print("| what | measured | target |\n|---|---|---|")
    sizes()
    with tempfile.TemporaryDirectory() as folder:
        if options.updates:
            hour(Path(folder), options.updates)
        if options.only_hour:
            return
        fleet = Path(folder, "fleet")
        write_fleet(fleet, projects=options.projects, facts=20, graph_nodes=options.nodes)
        home = Path(folder, "home")
        home.mkdir()
        with served(fleet, home) as (address, code, pid), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.set_default_timeout(MOST_MILLISECONDS)
            page.goto(f"{address}/login#{code}")
            page.wait_for_url(f"{address}/")
            page.locator("table").first.wait_for()
            row("first contentful paint", painted(page, address), "ms", "150")
            row("key to painted hits", typed(page, address), "ms", "60, 150")
            first, frames, summary = pictured(page, address)
            print(f"| first picture ({summary}) | {first:.2f} s | 1 |")
            row("a frame while panning", frames, "ms", "60")
            wait, before, after = updated(page, address, fleet, pid, options.edits)
            print(f"| an edit on the open page | {wait:.1f} s | 2 |")
            flat = f"{before:.0f} to {after:.0f} MiB"
            print(f"| the server's memory over {options.edits} edits | {flat} | flat |")
            browser.close()


if __name__ == "__main__":
    main()
