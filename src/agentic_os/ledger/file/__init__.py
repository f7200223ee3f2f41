"""The ledger's file: the one writer, opening, verification, repair, proofs."""
