"""Bytes of unknown origin to text: never an error, and said when something was lost."""

import msgspec

_UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
REPLACEMENT = "\ufffd"


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """Text with LF line ends; ``replaced`` says that some bytes became U+FFFD."""

    text: str
    replaced: bool


def decode(data: bytes) -> Decoded:
    """Decode UTF-8, or UTF-16 with a byte order mark.

    The mark is dropped, CRLF and CR become LF, NUL characters and undecodable bytes
    become U+FFFD (producer contract, section 9, items 4 and 5). The result holds no
    surrogates.
    """
    replaced = False
    encoding = "utf-8"
    if data[:2] in UTF16_BOMS:
        encoding = "utf-16"
    elif data[:3] == _UTF8_BOM:
        data = data[3:]
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        replaced = True
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
        replaced = True
    return Decoded(text=text, replaced=replaced)
