"""What ``agentic-os ledger`` does: one module for each kind of verb.

``birth`` makes an identity, ``verbs`` lets a booted one act, ``reading`` shows and verifies,
``keeping`` repairs, backs up and restores. ``opening`` and ``printing`` serve all of them.
"""
