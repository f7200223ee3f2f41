"""One line of the ledger: frame, entry, payloads, vocabulary."""
