"""The ledger's rules, pure: the chain, the gate, genesis, receipts."""
