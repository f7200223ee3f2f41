"""Scripts that put no blanks between words: cut into pairs, in the index and in a question.

A tokenizer that splits at blanks makes one token of a whole Chinese, Japanese, Korean or Thai
sentence. Every two neighbouring characters are a term instead, so that any run of a text is found
as a row of pairs, and the last character stands alone, so that a single one is found as a prefix.

>>> pairs("数据库"), pairs("库")
(('数据', '据库'), ('库',))
>>> index_pairs("重跑gen任务")
['重跑', '跑', 'gen', '任务', '务']
"""

import re
import unicodedata
from itertools import pairwise

_CHARACTERS = (
    "\u0e01-\u0e5b"  # Thai
    "\u0e81-\u0edf"  # Lao
    "\u1000-\u109f"  # Myanmar
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul, which glues particles to its words
    "\u1780-\u17dd"  # Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff66-\uff9f"  # Kana of half the width
)
_RUN = re.compile(f"[{_CHARACTERS}]+")
_MIXED = re.compile(rf"[\w{_CHARACTERS}]*[{_CHARACTERS}][\w{_CHARACTERS}]*")


def is_unsegmented(text: str) -> bool:
    """Return whether a text holds a character of such a script."""
    return not text.isascii() and _RUN.search(text) is not None


def pairs(run: str) -> tuple[str, ...]:
    """Cut a run of one such script into pairs, marks above and below letters apart."""
    letters = [char for char in run if not unicodedata.category(char).startswith("M")]
    if len(letters) < 2:  # noqa: PLR2004 - a pair
        return tuple(letters)
    return tuple(map("".join, pairwise(letters)))


def split_scripts(word: str) -> list[tuple[str, bool]]:
    """Split a word at changes of script; each piece says whether it is unsegmented.

    >>> split_scripts("gen任务")
    [('gen', False), ('任务', True)]
    """
    pieces = []
    at = 0
    for match in _RUN.finditer(word):
        if match.start() > at:
            pieces.append((word[at : match.start()], False))
        pieces.append((match.group(), True))
        at = match.end()
    if at < len(word):
        pieces.append((word[at:], False))
    return pieces


def index_pairs(text: str) -> list[str]:
    """Return what the index needs of a text's unsegmented runs, in their order.

    Runs of other scripts that touch them count too: a tokenizer does not part them.
    """
    if text.isascii():
        return []
    found: list[str] = []
    for match in _MIXED.finditer(text):
        for piece, unsegmented in split_scripts(match.group()):
            if unsegmented:
                cut = pairs(piece)
                found += cut
                if cut and len(cut[-1]) > 1:
                    found.append(cut[-1][-1])
            else:
                found.append(piece.lower())
    return found
