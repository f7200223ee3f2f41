"""The identity's ledger and the witness."""
