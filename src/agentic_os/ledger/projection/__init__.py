"""The projection.

A cache of the ledger in SQLite or PostgreSQL, rebuilt or restored from a snapshot.
"""
