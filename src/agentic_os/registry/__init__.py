"""Which projects there are: discovery, descriptors, surfaces, identity, the fleet.

``load_fleet`` walks the roots, reads every descriptor and folds checkouts; a ``Fleet``
answers which project a word or a path means. The parts are here for those who need one:
``parse_descriptor`` is pure, ``walk`` only lists, ``survey`` only looks at names.
"""

from agentic_os.registry.codes import CODES, HELD_IN_NAMES, WALK_BOUNDS, CodeRow, diagnostic
from agentic_os.registry.containment import Escape, contained
from agentic_os.registry.descriptor import MAX_DESCRIPTOR_BYTES, parse_descriptor
from agentic_os.registry.discovery import Candidate, Ground, Progress, Walk, walk
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.identity import ProjectKey, slug_of
from agentic_os.registry.known import (
    KnownDescriptor,
    KnownDescriptors,
    decode_known,
    encode_known,
)
from agentic_os.registry.lookup import containing_project, find_project
from agentic_os.registry.memory_block import TIER_OF_STACK, DeclaredPath
from agentic_os.registry.project import Project, project_views
from agentic_os.registry.record import ScaffoldRecord, compare_record, read_record
from agentic_os.registry.surfaces import MEMORY_INDEX, survey
from agentic_os.registry.values import (
    CONFIG_NAME,
    LAYOUTS,
    Descriptor,
    Layout,
    NotADescriptor,
    ParsedDescriptor,
)

__all__ = [
    "CODES",
    "CONFIG_NAME",
    "HELD_IN_NAMES",
    "LAYOUTS",
    "MAX_DESCRIPTOR_BYTES",
    "MEMORY_INDEX",
    "TIER_OF_STACK",
    "WALK_BOUNDS",
    "Candidate",
    "CodeRow",
    "DeclaredPath",
    "Descriptor",
    "Escape",
    "Fleet",
    "Ground",
    "KnownDescriptor",
    "KnownDescriptors",
    "Layout",
    "NotADescriptor",
    "ParsedDescriptor",
    "Progress",
    "Project",
    "ProjectKey",
    "ScaffoldRecord",
    "Walk",
    "compare_record",
    "contained",
    "containing_project",
    "decode_known",
    "diagnostic",
    "encode_known",
    "find_project",
    "load_fleet",
    "parse_descriptor",
    "project_views",
    "read_record",
    "slug_of",
    "survey",
    "walk",
]
