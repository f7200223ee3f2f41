"""Double-entry bookkeeping."""
