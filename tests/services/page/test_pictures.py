"""Pictures of every page of the example fleet, kept for people to look at in ``build/page``.

The README shows one of them: ``docs/page.png`` is ``memory-wide-light.png``, copied.
"""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect, sync_playwright

from support.process.page import served

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "build/page"
SIZES = {"wide": (1280, 800), "phone": (360, 740), "small": (1600, 1000)}
"""``small`` is what 80 % zoom makes of a screen of 1280 points."""
PAGES = {
    "fleet": "/",
    "search": "/search?q=rate+limit",
    "memory": "/memory",
    "capabilities": "/capabilities",
    "instructions": "/instructions",
    "graph": "/graph",
    "identity": "/identity",
    "health": "/health",
}
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PNG = b"\x89PNG"
LEAST_BYTES = 8_000
"""An empty page compresses to less."""


def shown(tab: Tab, address: str) -> None:
    tab.goto(address)
    tab.locator("h1").wait_for()
    expect(tab.locator(".wait")).to_have_count(0, timeout=60_000)
    tab.evaluate("() => new Promise((done) => setTimeout(done, 400))")


def test_pictures_are_taken_of_every_page() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with served(ROOT / "examples/fleet") as page, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(f"{page.address}/login#{page.code}")
        tab.wait_for_url(f"{page.address}/")
        for name, path in PAGES.items():
            for form, (width, height) in SIZES.items():
                tab.set_viewport_size({"width": width, "height": height})
                for scheme in ("light", "dark") if form == "wide" else ("light",):
                    tab.emulate_media(color_scheme=scheme)
                    shown(tab, page.address + path)
                    picture = tab.screenshot(path=PICTURES / f"{name}-{form}-{scheme}.png")
                    assert picture.startswith(PNG)
                    assert len(picture) > LEAST_BYTES, (name, form)
        browser.close()
