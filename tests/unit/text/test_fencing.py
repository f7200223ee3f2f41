"""Untrusted text: nothing hidden, nothing that steers a terminal or closes a fence."""

import pytest

from agentic_os.text.fencing import fence, one_line, terminal_safe, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größe 東京 עברית", "größe 東京 עברית"),
        ("tab\there\nnext", "tab\there\nnext"),
        ("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"),
        ("bell\x07 back\x08 nul\0", "bell<U+0007> back<U+0008> nul<U+0000>"),
        ("over\rwrite", "over<U+000D>write"),
        ("form\x0c vert\x0b", "form<U+000C> vert<U+000B>"),
        ("del\x7f c1\x9b31m nel\x85", "del<U+007F> c1<U+009B>31m nel<U+0085>"),
        ("a\u202eb\u2066c\u2069", "a<U+202E>b<U+2066>c<U+2069>"),
        ("\u200e\u200f\u061c", "<U+200E><U+200F><U+061C>"),
        ("zero\u200bwidth\ufeff\u2060", "zero<U+200B>width<U+FEFF><U+2060>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("line\u2028para\u2029", "line<U+2028>para<U+2029>"),
        ("tag\U000e0041\U000e007f", "tag<U+E0041><U+E007F>"),
        ("variant\U000e0100", "variant<U+E0100>"),
        ("half\ud83d \udcff", "half<U+D83D> <U+DCFF>"),
        ("filler\u3164\u115f\uffa0", "filler<U+3164><U+115F><U+FFA0>"),
        ("note\ufff9\ufffe\uffff", "note<U+FFF9><U+FFFE><U+FFFF>"),
        ("no\u00a0break", "no\u00a0break"),
        ("replaced\ufffd", "replaced\ufffd"),
    ],
)
def test_hidden_characters_are_spelt_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert terminal_safe(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "❤️",  # heart + variation selector
        "#️⃣ 1️⃣",  # keycaps
        "👩‍💻",  # woman, joiner, laptop
        "👩🏽‍🚀",  # with a skin tone
        "🏳️‍🌈",  # flag, selector, joiner, rainbow
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "葛\ufe00",  # a standardised ideograph variant
        "می‌خواهم",  # Persian needs the non-joiner
        "क्‍ष",  # Devanagari needs the joiner
    ],
)
def test_sequences_of_ordinary_writing_stay(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a<U+200D>b"),
        ("👩\u200d", "👩<U+200D>"),
        ("\u200d👩", "<U+200D>👩"),
        ("👩\u200dx", "👩<U+200D>x"),
        ("x\u200d👩", "x<U+200D>👩"),
        ("pass\u200cword", "pass<U+200C>word"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("\ufe0f", "<U+FE0F>"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"),
        ("\ufe0f\u200d👩", "<U+FE0F><U+200D>👩"),
    ],
)
def test_joiners_and_selectors_that_join_nothing_are_spelt_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_newlines_can_be_spelt_out_too() -> None:
    assert visible("a\nb\tc", keep_newlines=False) == "a<U+000A>b\tc"
    assert one_line("a\nb\tc\x1b") == "a<U+000A>b<U+0009>c<U+001B>"
    assert one_line("plain") == "plain"


def test_the_result_can_always_be_encoded() -> None:
    text = "".join(map(chr, range(0xD700, 0xE100)))
    assert terminal_safe(text).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "info", "fenced"),
    [
        ("text", "", "```\ntext\n```"),
        ("text\n", "md", "```md\ntext\n```"),
        ("", "", "```\n```"),
        ("```\ninside\n```", "", "````\n```\ninside\n```\n````"),
        ("`````", "x", "``````x\n`````\n``````"),
        ("`` two", "", "```\n`` two\n```"),
        ("a\x1bb", "", "```\na<U+001B>b\n```"),
        ("a", "c++ {x}`\n#!", "```c++x\na\n```"),
    ],
)
def test_a_fence_is_longer_than_any_inside(text: str, info: str, fenced: str) -> None:
    assert fence(text, info) == fenced
