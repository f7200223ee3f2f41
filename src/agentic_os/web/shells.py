"""The HTML of the pages: a shell that names its page, and the built files with their hashes."""

import html
import importlib.resources
import json
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agentic_os.web.codes import ERRORS
from agentic_os.web.gate import STATIC_PATH

PAGES: Final[Mapping[str, str]] = {
    "/": "fleet",
    "/project": "project",
    "/search": "search",
    "/file": "file",
    "/memory": "memory",
    "/capabilities": "capabilities",
    "/instructions": "instructions",
    "/graph": "graph",
    "/aios": "aios",
    "/identity": "identity",
    "/health": "health",
}
"""The pages, and the name under which the script knows each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    """A file of the build."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The built files, read once: their names by use, and their content by name."""

    names: Mapping[str, str]
    files: Mapping[str, StaticFile]

    def page(self, name: str) -> str:
        """Return the shell of a page."""
        title = html.escape(name.capitalize())
        return _shell(
            title,
            head=f'<script type="module" src="{self._address("page")}"></script>',
            style=self._address("style"),
            icon=self._address("icon"),
            # What the script draws over: a heading is there before it runs.
            body=f'<body data-page="{html.escape(name)}"><div id="page"><header class="top">'
            f'<strong class="brand">agentic-os</strong></header><main id="main"><h1>{title}</h1>'
            '<p class="wait" role="status">Reading…</p></main></div>'
            "<noscript><p>This page needs its script; the commands answer the same."
            "</p></noscript></body>",
        )

    def login(self) -> str:
        """Return the page that exchanges the code in its address."""
        return _shell(
            "Log in",
            head=f'<script type="module" src="{self._address("login")}"></script>',
            style=self._address("style"),
            icon=self._address("icon"),
            body='<body><main class="login"><h1>agentic-os</h1>'
            '<p id="said" role="status">Logging in…</p></main></body>',
        )

    def _address(self, use: str) -> str:
        return html.escape(STATIC_PATH + self.names[use])


def read_build() -> Build:
    """Read the built files out of the package.

    Raises:
        ServerError: ``PAGE_NOT_BUILT``: an installation without them.
    """
    folder = importlib.resources.files("agentic_os.web") / "static"
    try:
        names: dict[str, str] = json.loads((folder / "names.json").read_text("utf-8"))
        files = {name: (folder / name).read_bytes() for name in names.values()}
    except (OSError, ValueError):
        raise ERRORS.error("PAGE_NOT_BUILT") from None
    return Build(
        names=names,
        files={
            name: StaticFile(
                data=data, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream"
            )
            for name, data in files.items()
        },
    )


def _shell(title: str, *, head: str, style: str, icon: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · agentic-os</title>"
        f'<link rel="stylesheet" href="{style}"><link rel="icon" href="{icon}">'
        f"{head}</head>{body}</html>"
    )
