"""Lengths and cuts in the units that clients count: characters and UTF-16 code units."""

_BMP_LAST = 0xFFFF
_DOTS = "..."


def utf16_length(text: str) -> int:
    """Return the length of ``text`` in UTF-16 code units, as JavaScript counts it."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_utf16(text: str, units: int) -> str:
    """Return the longest start of ``text`` of at most ``units`` UTF-16 code units.

    A character outside the basic plane is kept whole or left out.
    """
    if units <= 0:
        return ""
    if len(text) <= units and (text.isascii() or utf16_length(text) <= units):
        return text
    head = text[:units]
    if head.isascii():
        return head
    used = 0
    for at, char in enumerate(head):
        used += 2 if ord(char) > _BMP_LAST else 1
        if used > units:
            return head[:at]
    return head


def shortened_utf16(text: str, units: int) -> str:
    """Return ``text`` of at most ``units`` UTF-16 code units, ending in dots where it was cut.

    >>> shortened_utf16("one word more", 8)
    'one w...'
    """
    if utf16_length(text) <= units:
        return text
    return cut_utf16(text, units - len(_DOTS)) + _DOTS


def cut_chars(text: str, chars: int, *, mark: str = "…") -> str:
    """Return ``text`` of at most ``chars`` characters, ending in ``mark`` where it was cut.

    The mark counts; it is left out where it would not fit.
    """
    if len(text) <= chars:
        return text
    if chars <= len(mark):
        return text[: max(chars, 0)]
    return text[: chars - len(mark)].rstrip() + mark
