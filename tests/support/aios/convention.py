"""A reader of an AIOS folder that knows nothing but the convention: another program's eyes."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path


def records(folder: Path, family: str) -> Iterator[dict[str, object]]:
    """Every record of events or signals: shards by number, the active archive, what is live."""
    memory = folder / "memory"
    paths = sorted(memory.glob(f"{family}-archive.[0-9]*.jsonl"))
    paths += [memory / f"{family}-archive.jsonl"]
    paths += [memory / "events.jsonl"] if family == "events" else []
    paths += sorted((memory / "signals").glob("*.jsonl")) if family == "signals" else []
    for path in paths:
        if path.exists():
            for line in path.read_text("utf-8").split("\n"):
                if line:
                    yield json.loads(line)


def sessions(folder: Path) -> Iterator[tuple[dict[str, object], dict[str, str], str]]:
    """Every index row with the front matter and the body of its file."""
    index = folder / "memory/sessions/index.jsonl"
    for line in index.read_text("utf-8").splitlines():
        row = json.loads(line)
        text = (folder / row["path"]).read_text("utf-8")
        found = re.fullmatch(r"---\n(.*?)\n---\n\n(.*)", text, re.DOTALL)
        assert found is not None
        pairs = (line.split(": ", 1) for line in found[1].split("\n"))
        yield row, {name: value.strip('"') for name, value in pairs}, found[2]


def body_hash(body: str) -> str:
    """The hash that a row keeps of a body."""
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def turns(body: str) -> list[tuple[str, str]]:
    """The roles and contents of a body, by its markers."""
    marker = re.compile(r"^\*\*([a-z][a-z0-9_-]*)(?: · \d\d:\d\d)?\*\*$", re.MULTILINE)
    found = list(marker.finditer(body))
    ends = [one.start() for one in found[1:]] + [len(body)]
    return [
        (one[1], re.sub(r"^\\", "", body[one.end() : end].strip("\n"), flags=re.MULTILINE))
        for one, end in zip(found, ends, strict=True)
    ]
