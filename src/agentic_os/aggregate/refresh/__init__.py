"""What changed since the last reading.

Fingerprints compared, changed files taken in, the corpus kept current.
"""
