"""Transparency-log primitives.

Merkle trees, proofs, signed notes, checkpoints (RFC 9162, C2SP).
"""
