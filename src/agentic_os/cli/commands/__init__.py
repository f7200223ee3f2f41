"""The commands, grouped as the help groups them; one file per command group."""
