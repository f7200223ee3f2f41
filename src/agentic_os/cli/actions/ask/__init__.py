"""What the questions to the fleet do: search, memory, vault, capabilities."""
