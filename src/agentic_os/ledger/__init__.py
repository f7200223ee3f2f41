"""The identity ledger: an append-only file that cannot be altered unnoticed.

``line`` is one entry, ``rule`` what may stand at its place and who may write it, ``file`` the one
writer and the reading of it all, ``writing`` the way from a request to a durable line,
``projection`` the cache, ``backup`` the way back, ``gold`` the original's format. Formats: ledger
format, version 1.
"""
