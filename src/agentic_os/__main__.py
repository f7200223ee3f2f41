"""``python -m agentic_os`` is the console script."""

from agentic_os.cli.entry import main

raise SystemExit(main())
