"""Sources and manifests, read as text: imports, symbols, uses, routes, packages.

Re-exported are the values. The readers (``reading.read_source``, ``manifests.read_manifest``)
are imported from their modules, since they bring the grammars along, which a fleet without
graphs never needs.
"""

from agentic_os.code.manifest_values import (
    Command,
    Dependency,
    Entry,
    Manifest,
    Package,
    Script,
)
from agentic_os.code.values import (
    Binding,
    Holder,
    HttpCall,
    Import,
    Language,
    Launch,
    Mount,
    Route,
    SourceFacts,
    Symbol,
    Use,
)

__all__ = [
    "Binding",
    "Command",
    "Dependency",
    "Entry",
    "Holder",
    "HttpCall",
    "Import",
    "Language",
    "Launch",
    "Manifest",
    "Mount",
    "Package",
    "Route",
    "Script",
    "SourceFacts",
    "Symbol",
    "Use",
]
