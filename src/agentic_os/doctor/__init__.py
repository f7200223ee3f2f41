"""Health checks of the fleet and of the identity: each with an id, a status and what to do."""
