"""Questions to the fleet: search, memory, vault, capabilities, graph."""
