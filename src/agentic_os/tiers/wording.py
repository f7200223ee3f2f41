r"""What a question asks for in words, and whether a text holds it. Pure.

Texts are compared in one Unicode form, without case and with any white space for a blank.

>>> wording = Wording.of('light of the "red lamp"')
>>> wording.left_out, wording.phrases
(('of', 'the'), ('red lamp',))
>>> wording.holds_phrases("the Red\nlamp is lit"), wording.holds_phrases("a lamp, red")
(True, False)
"""

import re
from dataclasses import dataclass

from agentic_os.text.tokens import Term, fts_query, is_identifier, read_query
from agentic_os.text.unicode_form import composed, folded

MIN_GRAM_CHARS = 3
"""Shorter runs of characters have no trigram."""
MAX_GRAMS_ENTRIES = 24
"""Trigrams asked of the index; the text itself decides afterwards."""
_MIN_QUOTED_CHARS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words of one question.

    Attributes:
        text: the question, outer quotes apart, in the composed form.
        needle: the same, folded: the run of characters that is looked for literally.
        terms: what is asked for.
        left_out: words that are not asked for.
        phrases: quoted phrases, folded; a text must hold each.
        match: the full-text expression that asks for every term; ``None`` if there is none.
        loose: the one that asks for any of them.
        is_name: whether the question is one identifier.
        whole: finds the question if it is one word, as a whole; else ``None``.
    """

    text: str
    needle: str
    terms: tuple[Term, ...]
    left_out: tuple[str, ...]
    phrases: tuple[str, ...]
    match: str | None
    loose: str | None
    is_name: bool
    whole: re.Pattern[str] | None

    @classmethod
    def of(cls, question: str) -> "Wording":
        """Read a question."""
        question = composed(question.replace("\0", " "))
        text = literal_text(question)
        is_name = is_identifier(text)
        if is_name:
            text = text.removesuffix("()")
        words = read_query(question)
        is_word = is_name or text.isalnum()
        flags = re.NOFLAG if is_name else re.IGNORECASE
        return cls(
            text=text,
            needle=spaced(text),
            terms=words.asked,
            left_out=words.left_out,
            phrases=tuple(spaced(term.text) for term in words.asked if term.phrase),
            match=fts_query(question),
            loose=fts_query(question, any_term=True),
            is_name=is_name,
            whole=re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", flags) if is_word else None,
        )

    @property
    def is_word(self) -> bool:
        """Whether the question is one plain word."""
        return self.whole is not None and not self.is_name

    def holds_phrases(self, text: str) -> bool:
        """Return whether a text holds every quoted phrase."""
        if not self.phrases:
            return True
        said = spaced(text)
        return all(phrase in said for phrase in self.phrases)

    def holds_question(self, text: str) -> bool:
        """Return whether a text holds the whole question literally."""
        if " " not in self.needle:
            # Nothing that white space could part: folding is enough, and several times cheaper.
            return bool(self.needle) and self.needle in folded(text)
        return self.needle in spaced(text)


def literal_text(text: str) -> str:
    """Return the characters that a query looks for literally: itself, outer quotes apart."""
    trimmed = text.strip()
    if len(trimmed) >= _MIN_QUOTED_CHARS and trimmed[0] == trimmed[-1] == '"':
        inner = trimmed[1:-1]
        return inner if '"' not in inner else trimmed
    return trimmed


def spaced(text: str) -> str:
    """Fold a text and make one blank of every white space."""
    return " ".join(folded(text).split()) if not text.isspace() else ""


def gram_query(text: str) -> str | None:
    """Build the expression that asks for a text's trigrams; ``None`` if it has none."""
    # Other white space may part the words there: grams across it are the last resort.
    words = [run for run in composed(text).split() if len(run) >= MIN_GRAM_CHARS]
    runs = words or [composed(text)]
    grams = dict.fromkeys(
        run[start : start + MIN_GRAM_CHARS]
        for run in runs
        for start in range(len(run) - MIN_GRAM_CHARS + 1)
    )
    quoted = ['"' + gram.replace('"', '""') + '"' for gram in list(grams)[:MAX_GRAMS_ENTRIES]]
    return " AND ".join(quoted) or None
