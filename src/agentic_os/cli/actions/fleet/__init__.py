"""What the commands about the fleet itself do: its roots, its stores, its health."""
