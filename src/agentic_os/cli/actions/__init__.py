"""What the commands do: each module here is loaded by the one command that runs it."""
