"""A process that appends to a ledger and says what was acknowledged, until it is killed.

Usage: ``python appender.py FOLDER BATCH SEED``. After every acknowledged batch it writes
the seq of its last line to stdout and flushes.
"""

import os
import sys
from pathlib import Path

from agentic_os.identity.boot import boot
from agentic_os.ledger.writing import request


def main() -> None:
    folder, batch = Path(sys.argv[1]), int(sys.argv[2])
    identity = boot(folder)
    assert identity.report.mode == "ready", identity.report.reason
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    number = 0
    while True:
        entries = []
        for _ in range(batch):
            number += 1
            name = f"exp_{os.getpid()}_{sys.argv[3]}_{number}"
            entries.append(request("experience.create", {"id": name, "content": "x" * 200}))
        data = identity.append("agent", entries)
        sys.stdout.write(f"{data.lines}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
