"""The unions of the fleet: what all projects remember, note and can do, and the store of it."""
