"""The command line: one file per command group, renderers, and the entry point."""
