"""The witness: a service that detects rollback, truncation and forks from hashes alone.

``protocol`` is what both sides speak; ``rule`` decides, purely; ``service`` reads requests, asks
the rule inside its store, signs and answers over HTTP; ``client`` submits, asks several witnesses
side by side, judges their answers and keeps the receipts. Nothing here knows an entry.
"""
