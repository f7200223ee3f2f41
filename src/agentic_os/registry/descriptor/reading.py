"""A project's descriptor: bytes to a frozen value with diagnostics.

Pure. Producer contract, sections 2, 3, 9, 10 and 11; reader behaviours, sections 4 and 6.

- Whatever the bytes are, an answer comes back: a ``Descriptor``, degraded where nothing
  usable could be read, or ``NotADescriptor`` for another tool's file.
- Only the keys named here are looked at; unknown ones are ignored, wrong ones left out
  and reported. Nothing of the file is echoed but names, cut and made visible.
- Features are detected; the contract version gates nothing.
"""

import re

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor import yaml_nodes
from agentic_os.registry.descriptor.fields import Fields, clean_name
from agentic_os.registry.descriptor.memory_block import DECLINED, STACK_ALIASES, TIER_OF_STACK
from agentic_os.registry.descriptor.record import has_surrogate_escapes, split_record
from agentic_os.registry.descriptor.values import (
    CONFIG_NAME,
    CONTEXTS,
    Descriptor,
    Layout,
    NotADescriptor,
    ParsedDescriptor,
)
from agentic_os.results import Diagnostic
from agentic_os.text.decoding import UTF16_BOMS, decode
from agentic_os.text.fencing import one_line

MAX_DESCRIPTOR_BYTES = 262_144

_EVIDENT_KEYS = frozenset({"project_key", "github_project_number"})
_MEMORY_KEYS = frozenset({"tier", "memory_path", "vault_path", "graph_path", "rag_endpoint"})
# What YAML refuses in its text; NUL is gone already.
_CONTROLS = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


def parse_descriptor(data: bytes, *, layout: Layout, folder_name: str) -> ParsedDescriptor:
    """Read the bytes of a ``config.yaml``; never raises.

    Args:
        data: the whole file; more than ``MAX_DESCRIPTOR_BYTES`` is not looked at.
        layout: the folder it lies in.
        folder_name: the project folder's name, which stands in for a missing name.
    """
    path = f"{layout}/{CONFIG_NAME}"
    if len(data) > MAX_DESCRIPTOR_BYTES:
        return NotADescriptor(layout=layout, foreign=False, diagnostics=(too_large(path),))
    problems: list[Diagnostic] = []
    text = _text(data, path, problems)
    split = split_record(text)
    if has_surrogate_escapes(split.record):
        message = "the scaffold record holds escaped surrogate pairs"
        problems.append(diagnostic("RECORD_ESCAPES", message, path=path))
    root = yaml_nodes.compose(split.visible)
    if isinstance(root, yaml_nodes.Broken) and _CONTROLS.search(split.visible):
        message = "control characters were replaced"
        problems.append(diagnostic("DESCRIPTOR_CONTROL_CHARACTERS", message, path=path))
        root = yaml_nodes.compose(_CONTROLS.sub("\ufffd", split.visible))
    plain_name = clean_name(folder_name) or "project"
    if root is None:
        problems.append(diagnostic("DESCRIPTOR_EMPTY", "the descriptor is empty", path=path))
        return _degraded(layout, plain_name, problems)
    if isinstance(root, yaml_nodes.Broken):
        code = "DESCRIPTOR_TOO_DEEP" if root.too_deep else "DESCRIPTOR_UNPARSEABLE"
        message = f"the descriptor cannot be read: {one_line(root.reason)}"
        problems.append(diagnostic(code, message, path=path, line=root.line))
        return _degraded(layout, plain_name, problems)
    top = yaml_nodes.block(root)
    if top is None or not _ours(top, record=bool(split.record)):
        message = f"{path} is another tool's configuration"
        foreign = diagnostic("DESCRIPTOR_FOREIGN", message, path=path)
        return NotADescriptor(layout=layout, foreign=True, diagnostics=(foreign,))
    return Fields(top, layout=layout, path=path, problems=problems).read(plain_name)


def too_large(path: str) -> Diagnostic:
    """Say that a descriptor is larger than the cap."""
    message = f"the descriptor is larger than {MAX_DESCRIPTOR_BYTES} bytes"
    return diagnostic("DESCRIPTOR_TOO_LARGE", message, path=path)


def _text(data: bytes, path: str, problems: list[Diagnostic]) -> str:
    decoded = decode(data)
    if decoded.replaced or data[:2] in UTF16_BOMS:
        message = "the descriptor is not plain UTF-8"
        problems.append(diagnostic("DESCRIPTOR_NOT_UTF8", message, path=path))
    return decoded.text


def _degraded(layout: Layout, name: str, problems: list[Diagnostic]) -> Descriptor:
    return Descriptor(layout=layout, name=name, degraded=True, diagnostics=tuple(problems))


def _ours(top: yaml_nodes.Block, *, record: bool) -> bool:
    """Whether the file follows the contract (producer contract, section 11).

    A ``project`` mapping alone proves nothing: other tools have one. It takes a key that
    only the contract has, the scaffold record, a memory block of the contract, or a
    context.
    """
    project = yaml_nodes.block(top.nodes.get("project"))
    if record:
        return True
    if project is None:
        return False
    if any(key.startswith("project_init_") or key in _EVIDENT_KEYS for key in project.nodes):
        return True
    context = yaml_nodes.scalar(top.nodes.get("context"))
    if context is not None and context.text in CONTEXTS:
        return True
    memory = yaml_nodes.block(top.nodes.get("memory"))
    if memory is None:
        return False
    stack = yaml_nodes.scalar(memory.nodes.get("stack"))
    word = STACK_ALIASES.get(stack.text, stack.text) if stack else ""
    return word in TIER_OF_STACK or word == DECLINED or not _MEMORY_KEYS.isdisjoint(memory.nodes)
