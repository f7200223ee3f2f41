"""The least that a first aggregate can cost: list, read, and insert the texts; nothing else.

A process of its own, so that it is measured like the command it is compared with. The tables and
their two full-text indexes are the store's; what makes an answer of the rows (names, links,
secrets, what changed since) is left out.
"""

import os
import sqlite3
import sys
from pathlib import Path


def main(root: str, store: str, schema: str) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA page_size=8192")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.executescript(Path(schema).read_text(encoding="utf-8"))
    files, folders = [], [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name != "graph.json":  # no text
                    files.append((entry.path, entry.stat(follow_symlinks=False)))
    texts = []
    for path, seen in files:
        fd = os.open(path, os.O_RDONLY)
        texts.append(os.read(fd, seen.st_size + 1).decode("utf-8", "replace"))
        os.close(fd)
    many = connection.executemany
    connection.execute("BEGIN")
    many(
        "INSERT INTO file VALUES(?,1,'fact',?,?,?,?,?,?,0)",
        [
            (pk, path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, "0" * 64)
            for pk, (path, seen) in enumerate(files)
        ],
    )
    many(
        "INSERT INTO document VALUES(?,?,1,'memory','name','label','type',1,2,?,'extra',0,?)",
        [(pk, pk, text, f"{pk:024x}") for pk, text in enumerate(texts)],
    )
    words = "INSERT INTO document_words(rowid, name, label, body, extra)"
    many(f"{words} VALUES(?,'name','label',?,'extra')", enumerate(texts))
    many("INSERT INTO document_grams(rowid, body) VALUES(?,?)", enumerate(texts))
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
