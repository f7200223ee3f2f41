"""Untrusted text made harmless for a terminal, a page or a model (design section 6).

Control characters, bidirectional overrides, invisible characters and terminal escapes
become visible text such as ``<U+202E>``; emoji sequences keep the joiners and variation
selectors that they need.
"""

import re

# Everything that needs a look, in one class: C0 (but tab and newline), DEL and C1, soft
# hyphen, Arabic letter mark, Mongolian separators, zero-width and bidi characters, line
# and paragraph separators, word joiners and deprecated format controls, Hangul fillers,
# variation selectors, BOM, interlinear annotation, tags, surrogates, non-characters.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINER = "\u200d"
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_MIN_FENCE_CHARS = 3

# Blocks whose characters take a variation selector or a joiner in ordinary writing, as
# first and last code points: keycap bases, symbols, arrows, dingbats, pictographs.
_PICTURES = (
    (0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39), (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C),
    (0x2049, 0x2049), (0x20E3, 0x20E3), (0x2122, 0x2122), (0x2139, 0x2139), (0x2190, 0x21FF),
    (0x2300, 0x23FF), (0x2460, 0x24FF), (0x25A0, 0x27BF), (0x2900, 0x297F), (0x2B00, 0x2BFF),
    (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF),
)  # fmt: skip
# Mathematics, Mongolian and CJK ideographs, which have standardised variants.
_VARIANT_BASES = (
    (0x1820, 0x18AA), (0x2200, 0x22FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
# Scripts in which ZERO WIDTH (NON-)JOINER is spelling, not disguise: Arabic, Syriac, the
# Indic scripts, Sinhala, Tibetan, Myanmar, Khmer, Mongolian.
_JOINING_SCRIPTS = ((0x600, 0x8FF), (0x900, 0xDFF), (0xF00, 0x109F), (0x1780, 0x18AF))


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """Return ``text`` with every hidden or controlling character spelt out.

    Tabs stay; newlines stay unless ``keep_newlines`` is false (then ``<U+000A>``).
    A carriage return, an escape, a bidi or zero-width character, a tag character, a lone
    surrogate and a variation selector that selects nothing become ``<U+XXXX>``.
    """
    if not keep_newlines and "\n" in text:
        text = text.replace("\n", "<U+000A>")
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(_spell, text)


def terminal_safe(text: str) -> str:
    """Return ``text`` harmless on a terminal and encodable as UTF-8.

    As ``visible``: newlines and tabs stay. For a name within a line use ``one_line``.
    """
    return visible(text)


def one_line(text: str) -> str:
    """Return ``text`` as ``visible`` does, with newlines and tabs spelt out too."""
    return visible(text, keep_newlines=False).replace("\t", "<U+0009>")


def fence(text: str, info: str = "") -> str:
    """Put ``text`` into a Markdown code fence that nothing inside can close.

    ``info`` is a label (reduced to letters, digits and ``-_.+``); the text is made
    visible first.
    """
    body = visible(text)
    longest = max((len(run) for run in re.findall("`{3,}", body)), default=0)
    marks = "`" * max(_MIN_FENCE_CHARS, longest + 1)
    label = re.sub(r"[^\w.+-]", "", info)
    end = "" if body.endswith("\n") or not body else "\n"
    return f"{marks}{label}\n{body}{end}{marks}"


def _spell(match: re.Match[str]) -> str:
    """Spell one suspect out, unless its neighbours make it ordinary writing."""
    char = match.group()
    text, at = match.string, match.start()
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if char == _JOINER:
        base = text[at - 2] if before in _SELECTORS and at > 1 else before
        if _is(_PICTURES, base) and _is(_PICTURES, after):
            return char
    if char in _SELECTORS and (_is(_PICTURES, before) or _is(_VARIANT_BASES, before)):
        return char
    if char in "\u200c\u200d" and _is(_JOINING_SCRIPTS, before):
        return char
    return f"<U+{ord(char):04X}>"


def _is(blocks: tuple[tuple[int, int], ...], char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in blocks)
