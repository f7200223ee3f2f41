"""Checks that a printed document is what its published schema says, and nothing more."""

import json
from pathlib import Path
from typing import Any

import jsonschema

from support.process.cli_process import Finished

PUBLISHED = Path(__file__).parents[3] / "docs/reference/schemas"


def data_of(finished: Finished, name: str) -> Any:
    """The data of a document that follows its schema; a member that it lacks is refused, too."""
    document = finished.document
    assert document["schema"] == f"agentic-os/{name}/v1"
    schema = json.loads((PUBLISHED / f"{name}.json").read_text("utf-8"))
    for definition in schema["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(schema).validate(document)
    return document["data"]
