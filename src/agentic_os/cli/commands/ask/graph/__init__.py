"""``agentic-os graph``: questions to the union of the code graphs."""
