"""A guest in a process of its own: limits, compiling, messages, and the process itself."""
