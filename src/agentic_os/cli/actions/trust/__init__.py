"""What the commands about identity do: its ledger and the witness."""
