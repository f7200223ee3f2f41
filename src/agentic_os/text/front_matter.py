"""Front matter by a tolerant line parser, never by a YAML loader.

The scalar keys of facts and notes are read as people write them: values are always
text (``no``, ``1.10`` and dates stay as written, `` #12`` is kept, ``: `` and a leading
``@``, ``*`` or backtick are no errors), because a YAML loader loses or refuses them
(producer contract, section 9, items 2 and 3). Rules:

- The block starts on the first line that is not blank and ends at the first line that is ``---``
  or ``...`` alone. Dashes anywhere else are text.
- A tool may write a block of its own above the author's. A second block right below the first is
  read, too, where it is nothing but ``key: value`` lines that name or describe the text; of a key
  in both the first block's value counts.
- A block between two ``+++`` lines is TOML; its scalars and lists of scalars are read.
- Quotes around a whole value are removed; block scalars (``|``, ``>``) and indented
  continuation lines are joined; lists become one text joined by ``, ``.
- Scalars nested under ``metadata`` are taken where no top-level key of that name exists
  (section 5: the nested form of facts). Other nested mappings are passed over.
- Text is never lost: a block without an end, or one without any key, stays in the body.
"""

import re
from collections.abc import Sequence

import msgspec
import tomli

YAML_STRING_TAG = "tag:yaml.org,2002:str"
"""The tag that YAML gives plain text."""
UNCLOSED = "FRONT_MATTER_UNCLOSED"
NO_KEYS = "FRONT_MATTER_NO_KEYS"
BAD_LINE = "FRONT_MATTER_LINE"
DUPLICATE_KEY = "FRONT_MATTER_DUPLICATE_KEY"
SECOND_BLOCK = "FRONT_MATTER_SECOND"

_NESTED_KEY = "metadata"
_SCALAR_KEYS = frozenset({"name", "title", "description", "type"})  # never read as lists
_NAMING_KEYS = _SCALAR_KEYS | {"tags"}
_TOML_END = re.compile(r"\n\+\+\+[ \t]*(?:\n|\Z)")
_END = re.compile(r"\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]{0,2}(?:[ \t]+#.*)?\Z")
_KEY = re.compile(r"[^\W\d][\w .\-/]*\Z")
_QUOTE_END = r"[ \t]*(?:(?<=[ \t])#.*)?\Z"
_DOUBLE_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"' + _QUOTE_END, re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'([^']*(?:''[^']*)*)'" + _QUOTE_END, re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "/": "/", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a file's head and the text after it.

    Attributes:
        fields: key to text, as written; keys keep their case.
        present: whether the text starts with a front-matter block.
        closed: whether that block ends.
        body: the text after the block, or the whole text when there is none.
        body_line: the 1-based line of the file where ``body`` starts.
        problems: stable codes of what was tolerated, each once.
    """

    fields: dict[str, str]
    present: bool
    closed: bool
    body: str
    body_line: int
    problems: tuple[str, ...] = ()


def split_front_matter(text: str) -> FrontMatter:
    """Split ``text`` (LF line ends, no byte order mark) into fields and body."""
    if text[:1] in "\n \t" and text[:1]:
        return _after_blank_lines(text)
    if text.startswith("+++"):
        return _split_toml(text)
    first = _first_block(text)
    if not first.closed or not first.body.lstrip(" \t\n").startswith("---"):
        return first
    return _with_second(first)


def _after_blank_lines(text: str) -> FrontMatter:
    """Read a block that blank lines stand above; without a whole one all of it is text."""
    start = len(text) - len(text.lstrip(" \t\n"))
    start = text.rfind("\n", 0, start) + 1
    if not start or not text.startswith(("---", "+++"), start):
        return _body_only(text)
    found = split_front_matter(text[start:])
    if not found.closed or not found.fields:
        return _body_only(text)
    return msgspec.structs.replace(found, body_line=found.body_line + text.count("\n", 0, start))


def _with_second(first: FrontMatter) -> FrontMatter:
    """Read the block below the first one, if it is one."""
    blank = len(first.body) - len(first.body.lstrip(" \t\n"))
    start = first.body.rfind("\n", 0, blank) + 1
    second = _first_block(first.body[start:])
    if not second.closed or second.problems or second.fields.keys().isdisjoint(_NAMING_KEYS):
        return first
    return msgspec.structs.replace(
        first,
        fields=second.fields | first.fields,
        body=second.body,
        body_line=first.body_line + first.body.count("\n", 0, start) + second.body_line - 1,
        problems=(*first.problems, SECOND_BLOCK),
    )


def _split_toml(text: str) -> FrontMatter:
    """Read a block between ``+++`` lines."""
    first_end = text.find("\n")
    end = _TOML_END.search(text, first_end) if first_end >= 0 else None
    if end is None or text[3:first_end].strip(" \t"):
        return _body_only(text)
    try:
        table = tomli.loads(text[first_end + 1 : end.start() + 1])
    except (ValueError, RecursionError):
        return _body_only(text, BAD_LINE)
    fields = {name: _toml_text(value) for name, value in table.items()}
    return FrontMatter(
        fields={name: value for name, value in fields.items() if value is not None},
        present=True,
        closed=True,
        body=text[end.end() :],
        body_line=text.count("\n", 0, end.end()) + 1,
    )


def _toml_text(value: object) -> str | None:
    """Return a value as text, a list joined; ``None`` for a table."""
    if isinstance(value, dict):
        return None
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _toml_text(item)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first_block(text: str) -> FrontMatter:
    first_end = text.find("\n")
    if first_end < 0 or not text.startswith("---") or text[3:first_end].strip(" \t"):
        return _body_only(text)
    end = _END.search(text, first_end)
    if end is None:
        return FrontMatter(
            fields={}, present=True, closed=False, body=text, body_line=1, problems=(UNCLOSED,)
        )
    lines = text[first_end + 1 : end.start()].split("\n") if end.start() > first_end else []
    fields, problems = _parse(lines, nested=False)
    if not fields and not all(_is_blank(line) for line in lines):
        return _body_only(text, NO_KEYS)
    return FrontMatter(
        fields=fields,
        present=True,
        closed=True,
        body=text[end.end() :],
        body_line=len(lines) + 3,
        problems=tuple(dict.fromkeys(problems)) if problems else (),
    )


def _body_only(text: str, *problems: str) -> FrontMatter:
    return FrontMatter(
        fields={}, present=False, closed=False, body=text, body_line=1, problems=problems
    )


def _is_blank(line: str) -> bool:
    return not line or line.isspace() or line.lstrip()[0] == "#"


def _parse(lines: Sequence[str], *, nested: bool) -> tuple[dict[str, str], list[str]]:
    """Read ``key: value`` lines; each line is looked at once."""
    fields: dict[str, str] = {}
    fallback: dict[str, str] = {}
    problems: list[str] = []
    at, count = 0, len(lines)
    while at < count:
        line = lines[at]
        at += 1
        if not line or line[0] == "#" or line.isspace():
            continue
        key, colon, value = line.partition(":")
        name = key if key.isidentifier() else _key_name(key)
        if not colon or not name or value.startswith("//"):
            problems.append(BAD_LINE)
            continue
        value = value.strip()
        more: Sequence[str] = ()
        if at < count and lines[at][:1] in " \t-":  # true for an empty line too
            end = _end_of_value(lines, at, listed=not value)
            more, at = lines[at:end], end
        if name == _NESTED_KEY and not nested:
            inner = _flow_pairs(value) if value.startswith("{") else _dedented(more)
            fallback.update(_parse(inner, nested=True)[0])
            if inner:
                continue
        if name in fields:
            problems.append(DUPLICATE_KEY)
        read = _value(name, value, more) if more else _scalar(name, value)
        if read is not None:
            fields[name] = read
    return (fallback | fields if fallback else fields), problems


def _key_name(key: str) -> str:
    """Return the key without its quotes, or ``None`` if it is no plain word."""
    key = key.rstrip()
    if key[:1] in {'"', "'"} and key[-1:] == key[:1]:
        key = key[1:-1]
    return key if _KEY.match(key) else ""


def _end_of_value(lines: Sequence[str], at: int, *, listed: bool) -> int:
    """Return where the indented lines of a value end (list items need no indent)."""
    while at < len(lines):
        line = lines[at]
        if line and line[0] not in " \t" and not (listed and _is_item(line)):
            break
        at += 1
    return at


def _is_item(line: str) -> bool:
    return line.startswith("- ") or line == "-"


def _value(name: str, value: str, more: Sequence[str]) -> str | None:
    """Join a value with its further lines; ``None`` for a nested mapping."""
    if _BLOCK_SCALAR.match(value):
        return _block_scalar(value[0], more)
    parts = [part for part in (line.strip() for line in more) if part]
    if value or not parts:
        return _scalar(name, " ".join([value, *parts]) if parts else value)
    if _is_item(parts[0]):
        return ", ".join(_items(parts))
    key, colon, after = parts[0].partition(":")
    if colon and after[:1] in {"", " "} and _key_name(key):
        return None
    return _scalar(name, " ".join(parts))


def _items(parts: Sequence[str]) -> list[str]:
    """Return the texts of list items; a line without a dash continues the one above."""
    items: list[list[str]] = []
    for part in parts:
        if _is_item(part):
            items.append([_unquoted(part[1:].strip())])
        elif part[0] != "#":
            items[-1].append(part)
    return [text for text in (" ".join(item).strip() for item in items) if text]


def _block_scalar(style: str, more: Sequence[str]) -> str:
    lines = _dedented(more)
    if style == "|":
        return "\n".join(line.rstrip() for line in lines).strip("\n")
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line.strip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n".join(" ".join(paragraph) for paragraph in paragraphs if paragraph)


def _dedented(lines: Sequence[str]) -> list[str]:
    """Remove the indent that all lines with text share."""
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    shared = min(indents, default=0)
    return [line[shared:] for line in lines]


def _scalar(name: str, value: str) -> str:
    if not value:
        return value
    first = value[0]
    if first in {'"', "'"}:
        return _unquoted(value)
    if first == "[" and value[-1] == "]" and value[1:2] != "[" and name not in _SCALAR_KEYS:
        return ", ".join(filter(None, (_unquoted(item) for item in _split_flow(value[1:-1]))))
    return value


def _flow_pairs(value: str) -> list[str]:
    """Turn ``{a: b, c: d}`` into the lines ``a: b`` and ``c: d``."""
    return _split_flow(value[1:].removesuffix("}"))


def _split_flow(text: str) -> list[str]:
    """Split at the commas that stand outside quotes."""
    pieces = text.split(",")
    last = {mark: _last_ending(pieces, mark) for mark in "\"'"}
    items: list[str] = []
    at = 0
    while at < len(pieces):
        end = at
        piece = pieces[at].strip()
        if piece[:1] not in last:  # in a mapping the quote follows the key
            piece = piece.partition(":")[2].lstrip()
        mark = piece[:1]
        if mark in last and (piece == mark or piece[-1] != mark) and last[mark] > at:
            end = at + 1
            while not pieces[end].rstrip().endswith(mark):
                end += 1
        items.append(",".join(pieces[at : end + 1]).strip())
        at = end + 1
    return [item for item in items if item]


def _last_ending(pieces: Sequence[str], mark: str) -> int:
    """Return the last piece that a quote ends, so that no search runs for nothing."""
    for at in range(len(pieces) - 1, -1, -1):
        if pieces[at].rstrip().endswith(mark):
            return at
    return -1


def _unquoted(value: str) -> str:
    """Remove the quotes around a whole value, and a comment after them."""
    if value[:1] == '"' and (match := _DOUBLE_QUOTED.match(value)):
        inner = match.group(1)
        if "\\" not in inner:
            return inner
        # JSON writes an emoji as two escapes; a lone half becomes U+FFFD.
        text = _ESCAPE.sub(_escape, inner)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value[:1] == "'" and (match := _SINGLE_QUOTED.match(value)):
        return match.group(1).replace("''", "'")
    return value


def _escape(match: re.Match[str]) -> str:
    long, short, single = match.groups()
    if single is not None:
        return _ESCAPES.get(single, match.group())
    return chr(int(long or short, 16))
