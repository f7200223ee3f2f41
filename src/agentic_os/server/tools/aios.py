"""The AIOS folder's three tools, exactly as the DotAIOS convention words them.

Names, inputs, bounds and documents are the convention's (its MCP adapter); failures are JSON-RPC
errors, never results. Arguments are checked before the memory choice, and with memory off the
folder is not touched.
"""

import re
from collections.abc import Mapping
from typing import Final

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.documents import search_text, skill_text, working_context_document
from agentic_os.aios.folder.json_text import pretty
from agentic_os.aios.follow.references import REFERENCE_CHARS
from agentic_os.aios.follow.request import follow_source
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import QUERY_CHARS, search_aios
from agentic_os.aios.search.values import SCOPES
from agentic_os.errors import AgenticOSError
from agentic_os.server.codes import ERRORS
from agentic_os.server.scope.aios import Access
from agentic_os.text.unicode_form import CONTROL

PROJECT_CHARS: Final = 200
CONTEXT_BUDGET: Final = (256, 32_000, 6_000)
SEARCH_BUDGET: Final = (3_530, 32_000, 6_000)
SKILL_BUDGET: Final = (256, 32_000, 6_000)
MODES: Final = ("shared", "project", "off")


Arguments = Mapping[str, object]


def read_working_context(access: Access, arguments: Arguments) -> str:
    """Answer ``read_working_context`` with its text.

    Raises:
        UsageError: an argument is wrong; AiosError as the folder refuses.
    """
    _only(arguments, {"memory", "project", "limit", "budget"})
    memory = _choice(arguments, "memory", MODES)
    project = _selector(arguments)
    limit = _integer(arguments, "limit", (1, 10, 3))
    budget = _integer(arguments, "budget", CONTEXT_BUDGET)
    policy = resolve_policy(mode=memory, project=project)
    brief = read_brief(access(policy), policy, sessions=limit, budget=budget)
    return pretty(working_context_document(brief))


def search(access: Access, arguments: Arguments) -> str:
    """Answer ``search_aios`` with its text.

    Raises:
        UsageError: an argument is wrong; AiosError as the folder refuses.
    """
    following = "follow" in arguments
    allowed = {"follow", "memory", "project", "budget"}
    _only(arguments, allowed if following else (allowed - {"follow"}) | {"query", "scope", "limit"})
    memory = _choice(arguments, "memory", MODES)
    project = _selector(arguments, plain=True)
    budget = _integer(arguments, "budget", SEARCH_BUDGET)
    if following:
        reference = _text(arguments, "follow", REFERENCE_CHARS)
        policy = resolve_policy(mode=memory, project=project)
        page = follow_source(access(policy), policy, reference=reference, budget=budget)
        return pretty(page.as_json())
    query = _text(arguments, "query", QUERY_CHARS)
    scope = _choice(arguments, "scope", SCOPES) or "all"
    limit = _integer(arguments, "limit", (1, 20, 10))
    if scope == "projects" and project is None and memory != "off":
        raise _wrong("scope `projects` needs `project`")
    policy = resolve_policy(mode=memory, project=project)
    answer = search_aios(access(policy), policy, query=query, scope=scope, limit=limit)
    return search_text(answer, budget)


def resolve(access: Access, arguments: Arguments) -> str:
    """Answer ``resolve_skill`` with its text.

    Raises:
        UsageError: an argument is wrong; AiosError as the folder refuses.
    """
    _only(arguments, {"intent", "memory", "project", "limit", "budget"})
    intent = _text(arguments, "intent", QUERY_CHARS)
    memory = _choice(arguments, "memory", MODES)
    project = _selector(arguments)
    limit = _integer(arguments, "limit", (1, 10, 1))
    budget = _integer(arguments, "budget", SKILL_BUDGET)
    if (project is not None) != (memory == "project") and memory != "off":
        raise _wrong("`project` and memory `project` belong together")
    policy = resolve_policy(mode=memory, project=project)
    return skill_text(resolve_skill(access(policy), policy, intent=intent, limit=limit), budget)


def _only(arguments: Arguments, allowed: set[str]) -> None:
    for name in arguments:
        if name not in allowed:
            raise _wrong(f"unknown argument {name[:60]!r}")


def _text(arguments: Arguments, name: str, most: int) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= most or not value.strip():
        raise _wrong(f"`{name}` must be a text of 1 to {most} characters")
    return value


def _choice(arguments: Arguments, name: str, choices: tuple[str, ...]) -> str | None:
    if name not in arguments:
        return None
    value = arguments[name]
    if not isinstance(value, str) or value not in choices:
        raise _wrong(f"`{name}` must be one of {', '.join(choices)}")
    return value


def _integer(arguments: Arguments, name: str, bounds: tuple[int, int, int]) -> int:
    least, most, default = bounds
    if name not in arguments:
        return default
    value = arguments[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(f"`{name}` must be a whole number from {least} to {most}")
    return value


def _selector(arguments: Arguments, *, plain: bool = False) -> str | None:
    if "project" not in arguments:
        return None
    value = arguments["project"]
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= PROJECT_CHARS
        or not value.strip()
        or CONTROL.search(value)
        or (plain and re.search(r"[\s/\\]", value))
    ):
        raise _wrong("`project` must be a project's slug or id")
    return value


def _wrong(message: str) -> AgenticOSError:
    return ERRORS.error("ARGUMENT_INVALID", message)
