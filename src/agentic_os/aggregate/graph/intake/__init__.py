"""How a project's graph.json and sources come into the tables.

Listed, read, redacted, taken in, refreshed.
"""
