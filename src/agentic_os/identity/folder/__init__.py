"""The identity's own folder.

Keyring, pinned keys, high-water mark, the tail of witness receipts.
"""
