"""The identity: birth, boot, safe mode, witnessing, and what lies apart from the ledger.

``boot`` is the only way to an ``Identity``; ``birth`` makes a new one; ``session`` holds its verbs;
``safe_mode`` says what happens when something does not verify; ``witnessing`` talks to the
witnesses; ``restoring`` brings the projection to the head; ``health`` looks without booting;
``services`` answers one question a function; ``codes`` is the table of its errors.
"""
