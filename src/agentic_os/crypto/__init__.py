"""Canonical JSON, SHA-256 names, keys, signed envelopes, Merkle trees, signed notes.

``canonical`` is the one text of a value; ``keys`` signs, verifies and keeps private keys;
``envelope`` is AIII-SIGNATURE-V1 and the platform root's two algorithms; ``tlog`` holds trees,
checkpoints and signed notes. Nothing here knows a ledger or a witness.
"""
