"""Writes AIOS folders of the DotAIOS convention, and file layers that refuse or interfere."""

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.layer import FileLayer, Stamp
from agentic_os.files.reading import Entry, Folder

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TODAY, YESTERDAY = "2026-11-30", "2026-11-29"
SECRET = "ghp_" + "k7Qz2Vb9Xn4Lm8Rt6Yw3Pd5Hs1Jc0Fa2Gu7E"
"""A token-shaped text that the redaction rules find."""


class AiosBuilder:
    """A folder under construction; ``access`` reads it at a fixed moment."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("aios.json", '{"schema_version":"1.2.0"}')

    def write(self, relative: str, content: str | bytes) -> Path:
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode("utf-8") if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    def jsonl(self, relative: str, *rows: object) -> Path:
        return self.write(
            relative, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        )

    def project(self, slug: str, body: str = "", /, **fields: object) -> Path:
        front = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
        return self.write(f"projects/{slug}/README.md", f"---\n{front}---\n{body}")

    def skill(self, folder: str, description: str, *triggers: str) -> Path:
        return self.write(
            f"skills/{folder}/SKILL.md",
            f"---\nname: {folder}\ndescription: {description}\n"
            f"triggers: {', '.join(triggers)}\n---\n",
        )

    def session(self, session_id: str, captured_at: str, body: str, **fields: object) -> None:
        """Write a captured session and its index row."""
        agent = str(fields.get("agent", "claude-code"))
        name = f"{captured_at[:19].replace(':', '-')}_{agent}_{session_id[:6]}.md"
        path = f"memory/sessions/{captured_at[:10]}/{name}"
        self.write(path, f'---\nagent: {agent}\nsession_id: "{session_id}"\n---\n\n{body}')
        row: dict[str, object] = {
            "session_id": session_id,
            "agent": agent,
            "captured_at": captured_at,
        }
        row |= {"turns": 2, "title": None, "path": path, **fields}
        index = self.root / "memory/sessions/index.jsonl"
        with index.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def access(self, **changes: Any) -> AiosAccess:
        return AiosAccess(root=self.root, clock=lambda: NOW, **changes)

    def complete(self) -> "AiosBuilder":
        """Write every record type of the convention."""
        self.write(
            "aios.json",
            '{\n  "schema_version": "1.2.0",\n  "created_at": "2026-01-01T00:00:00.000Z",\n'
            '  "ai_tools": ["claude-code"],\n  "vault_path": null\n}\n',
        )
        self.write(
            "context/identity.md", "---\ntype: identity\n---\n# Ada\n\nBuilds quiet tools.\n"
        )
        self.write("context/priorities.md", "# Priorities\n\n## Current Bets\n- Ship the gate\n")
        self.write(
            "context/work.md", "# Work\n\n## Current Work\nThe release policy.\n\n## Past\nOld.\n"
        )
        self.write("context/north-star.md", "# North star\n\nCalm software.\n")
        self.write("context/preferences.md", "# Preferences\n\nShort answers.\n")
        self.write(
            "decisions/log.md",
            "# Decisions\n\n## 2026-10-01 First\nWhy.\n\n## 2026-10-02 Second\n\n"
            "## 2026-10-03 Third\n\n## 2026-10-04 Fourth\nBecause of the rollout.\n",
        )
        self.write(
            f"memory/daily/{TODAY}.md",
            f"---\ndate: {TODAY}\n---\n# {TODAY}\n\n## Focus\n\nFinish the gate\n\n## Plan\n"
            "<!-- plan -->\n- [ ] write tests\n- [x] read code\n* review\n- fourth\n- fifth\n"
            "- Carried over from 2026-11-28: call Bo\n\n## Close\n",
        )
        self.write(
            f"memory/daily/{YESTERDAY}.md",
            f"# {YESTERDAY}\n\n## Close\n\n### Done\n- x\n\n### Carry-over\n- Pay the bill\n\n"
            "### Reflection\nfine\n",
        )
        self.write("memory/inbox/note.md", "# Phone note\n\nAsk about the rollout.\n")
        self.jsonl(
            "memory/events.jsonl",
            {
                "ts": "2026-11-30T08:00:00.000Z",
                "type": "plan",
                "summary": "Planned the rollout",
                "project": "alpha",
                "project_id": "A1",
            },
            {"ts": "2026-11-29T08:00:00.000Z", "type": "brief", "summary": "Brief written"},
            {"ts": "2026-11-20T08:00:00.000Z", "type": "brief", "summary": "Too old"},
        )
        self.jsonl(
            f"memory/signals/pc-{TODAY}.jsonl",
            {"ts": "2026-11-30T07:00:00.000Z", "summary": "Gate is green", "project": "alpha"},
        )
        self.jsonl(f"memory/signals/{YESTERDAY}.jsonl", {"note": "undated signal"})
        self.jsonl("memory/signals/2026-11-28.jsonl", {"summary": "older signal"})
        self.jsonl(
            "memory/events-archive.000001.jsonl",
            {"ts": "2026-01-01T00:00:00Z", "type": "brief", "summary": "Archived rollout"},
        )
        self.jsonl(
            "memory/events-archive.jsonl",
            {"ts": "2026-02-01T00:00:00Z", "type": "brief", "summary": "Active archive rollout"},
        )
        self.jsonl(
            "memory/signals-archive.jsonl",
            {"ts": "2026-02-02T00:00:00Z", "summary": "Archived signal"},
        )
        self.write("memory/errors.jsonl", '{"never":"projected rollout"}\n')
        self.project(
            "alpha",
            "# Alpha\n\nThe release policy: two reviews.\n\nThen ship.\n",
            id="A1",
            project="alpha",
            name="Alpha",
            description="The first project.",
            status="active",
            domain=["build", "make"],
            repo_url="git@github.com:o/alpha.git",
        )
        self.project("beta", "# Beta\n\nNotes.\n", project_id="B2", slug="apex", status="paused")
        self.write("projects/alpha/notes.md", "# Alpha notes\n\nRollout steps.\n")
        self.session(
            "a1b2c3d4",
            "2026-11-30T09:15:00.000Z",
            "**user · 09:15**\n\nShip on Friday?\n\n**assistant**\n\nYes.\n",
            title="Ship on Friday?",
            project="alpha",
            project_id="A1",
        )
        self.session(
            "e5f6a7b8",
            "2026-11-29T10:00:00.000Z",
            "**user**\n\nWhat about the rollout plan?\n\n**assistant**\n\nSoon.\n",
            title="Plans",
            project="beta",
        )
        self.skill("ship", "Prepare a release and publish it.", "cut a release", "publish version")
        self.skill("notes", "Write meeting notes.", "meeting notes", "take notes")
        self.write("skills/_registry.json", '{"skills":["ship","notes"]}')
        self.write("skills/RESOLVER.md", "# Skill resolver\n\n| rollout | ship |\n")
        self.write("plugins/demo/manifest.json", '{"name":"demo","description":"Rollout helper"}')
        self.write("plugins/demo/README.md", "# Demo\n\nHelps with the rollout.\n")
        self.write("plugins/demo/other.json", '{"rollout":"not searched"}')
        self.write("references/style.md", "# Style\n\nRollout wording.\n")
        self.write(
            "vault/wiki/rollout.md",
            "---\ndescription: How we do a rollout\n---\n# Rollouts\n\nSlowly.\n",
        )
        self.write("vault/.obsidian/app.md", "rollout hidden\n")
        self.write("vault/credentials.md", "rollout secret\n")
        self.write("connections/apis/google-workspace.md", "# Google\n")
        self.write("connections/registry.md", "# Registry\n")
        self.write("schedules.yml", "schedules:\n  - name: daily-brief\n    enabled: false\n")
        self.write("README.md", "# My AIOS\n")
        self.write("AGENTS.md", "# Agents\n")
        return self


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Observe everything below a folder that a write would change."""
    seen: dict[str, tuple[object, ...]] = {}
    for folder, names, files in os.walk(root):
        for name in (".", *names, *files):
            path = Path(folder, name)
            found = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            seen[str(path.relative_to(root))] = (
                found.st_mode,
                found.st_size,
                found.st_mtime_ns,
                found.st_ctime_ns,
                found.st_nlink,
                hashlib.sha256(data).hexdigest(),
            )
    return seen


class RaisingLayer(FileLayer):
    """A file layer on which every access is a failed test."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise AssertionError("the file layer was touched")

    look_at = real_path = link_target = open_root = open_folder = stamp_folder = _refuse
    stamp = names = open_file = stamp_file = read = close = _refuse


class MeddlingLayer(FileLayer):
    """A file layer that runs a change of the folder at a chosen step.

    Args:
        step: the name of a method, and of what it works on (a file or folder name).
        change: what happens, once, after that step.
        before: run the change before the step instead.
        skip: how many such steps pass first.
    """

    def __init__(
        self,
        step: tuple[str, str],
        change: Callable[[], object],
        *,
        before: bool = False,
        skip: int = 0,
    ) -> None:
        self._step, self._change, self._before, self._left = step, change, before, skip
        self.done = False
        self._names: dict[int, str] = {}

    def _meddle(self, method: str, name: str, *, before: bool) -> None:
        if self.done or (method, name) != self._step or before != self._before:
            return
        if self._left:
            self._left -= 1
            return
        self.done = True
        self._change()

    def stamp(self, folder: Folder, name: str) -> Stamp | None:
        self._meddle("stamp", name, before=True)
        found = super().stamp(folder, name)
        self._meddle("stamp", name, before=False)
        return found

    def open_folder(self, parent: Folder, name: str) -> Folder | None:
        self._meddle("open_folder", name, before=True)
        found = super().open_folder(parent, name)
        self._meddle("open_folder", name, before=False)
        return found

    def open_file(self, folder: Folder, name: str) -> int | None:
        self._meddle("open_file", name, before=True)
        handle = super().open_file(folder, name)
        if handle is not None:
            self._names[handle] = name
        self._meddle("open_file", name, before=False)
        return handle

    def read(self, handle: int, count: int) -> bytes:
        name = self._names.get(handle, "")
        self._meddle("read", name, before=True)
        data = super().read(handle, count)
        self._meddle("read", name, before=False)
        return data

    def names(self, folder: Folder, *, limit_entries: int) -> tuple[list[Entry], bool]:
        self._meddle("names", "", before=True)
        found = super().names(folder, limit_entries=limit_entries)
        self._meddle("names", "", before=False)
        return found


class CountingLayer(FileLayer):
    """A file layer that remembers which files were opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open_file(self, folder: Folder, name: str) -> int | None:
        self.opened.append(name)
        return super().open_file(folder, name)
