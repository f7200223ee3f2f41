"""Pull-only orchestrator over many repositories.

The rooms of this package and the direction of its imports are described in
``docs/explanation/architecture.md`` and checked by import-linter.
"""

__version__ = "0.1.0"
