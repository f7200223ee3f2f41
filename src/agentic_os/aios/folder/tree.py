"""Where things lie in the folder, relative to its root (DotAIOS convention, the tree)."""

from typing import Final

MEMORY: Final = "memory"
EVENTS: Final = "memory/events.jsonl"
SIGNALS: Final = "memory/signals"
DAILY: Final = "memory/daily"
SESSIONS: Final = "memory/sessions"
SESSION_INDEX: Final = "memory/sessions/index.jsonl"
DECISIONS_LOG: Final = "decisions/log.md"
PROJECTS: Final = "projects"
README: Final = "README.md"
SKILLS: Final = "skills"
MIGRATIONS: Final = ".dotaios/migrations"
CONTEXT: Final = "context"
PRIORITIES: Final = "context/priorities.md"
SESSION_STORE: Final = ".dotaios/session-store"
TRANSACTIONS: Final = ".dotaios/migrations/transactions"
