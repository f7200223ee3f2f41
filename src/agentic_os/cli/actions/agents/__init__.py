"""What the commands for harnesses do: serve, set up, answer a hook."""
