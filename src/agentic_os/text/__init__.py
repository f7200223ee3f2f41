"""Text rules without I/O: decoding, front matter, Markdown, redaction, fencing, tokens."""
