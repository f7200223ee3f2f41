"""The surfaces of one project as documents: memory, vault, capabilities, sources."""
