"""What the commands of plugins do."""
